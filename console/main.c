/*
 * rainctl: the command line for operators, scripts and tests.
 *
 *   main.c            global options and configuration
 *   commands.c        the table of commands and their options
 *   *_commands.c      what they do
 *   ctl.c             connections and calls that wait
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "console/command.h"

static void usage(void)
{
	printf("usage: rainctl [--config FILE] [--set KEY=VALUE]... COMMAND\n"
	       "       rainctl --version | --example-config\n\n");
	command_usage(stdout);
	printf("\nexit: 0 done, 1 the answer is no, 2 wrong usage or "
	       "configuration, 3 no answer\n\nkeys:\n");
	config_usage(ctl_keys, stdout);
}

/* Global options in front of the command; returns how many words they take,
 * or -1 after saying what is wrong, or -2 when there is nothing left to do. */
static int global_options(struct ctl *ctl, int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			usage();
			return -2;
		}
		if (strcmp(argv[i], "--version") == 0) {
			printf("rainctl " RAIN_VERSION "\n");
			return -2;
		}
		if (strcmp(argv[i], "--example-config") == 0) {
			config_example(ctl_keys, stdout);
			return -2;
		}
		if (strcmp(argv[i], "--json") == 0) {
			ctl->json = true;
			continue;
		}
		if (i + 1 >= argc) {
			fprintf(stderr,
				"rainctl: a value is missing after "
				"%s, or it is no option\n",
				argv[i]);
			return -1;
		}
		if (strcmp(argv[i], "--config") == 0) {
			if (config_read_file(&ctl->config, argv[++i]) != 0) {
				break;
			}
		} else if (strcmp(argv[i], "--set") == 0) {
			if (config_set(&ctl->config, argv[++i]) != 0) {
				break;
			}
		} else {
			fprintf(stderr,
				"rainctl: unknown option %s; see "
				"rainctl --help\n",
				argv[i]);
			return -1;
		}
	}
	return i;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { 0 };
	int rc = CTL_USAGE;
	int used;

	/* A command speaks through its output; only trouble is logged. */
	log_setup(LOG_ERROR, LOG_LOGFMT, "rainctl");
	config_init(&ctl.config, ctl_keys, &ctl.options, "kafka");
	used = global_options(&ctl, argc, argv);
	if (used == -2) {
		rc = CTL_OK;
	} else if (used < 0) {
		rc = CTL_USAGE;
	} else if (buf_len(&ctl.config.errors) > 0 ||
		   config_read_env(&ctl.config, environ) != 0 ||
		   config_finish(&ctl.config) != 0) {
		fprintf(stderr, "%.*s",
			BYTES_FMT(buf_live(&ctl.config.errors)));
	} else if (used == argc) {
		usage();
	} else {
		ctl_init(&ctl);
		rc = command_dispatch(&ctl, argc - used, argv + used);
		ctl_close(&ctl);
	}
	config_close(&ctl.config);
	return rc;
}
