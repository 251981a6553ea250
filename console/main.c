/*
 * rainctl: the command line for operators, scripts and tests.
 *
 *   main.c            global options and configuration
 *   commands.c        the table of commands and their options
 *   command.c         a command line taken apart by it
 *   *_commands.c      what they do
 *   ctl.c             connections and calls that wait
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "console/command.h"

#define KAFKA_FALLBACK "kafka.bootstrap.servers=127.0.0.1:9092"

enum { DONE = -1, WRONG = -2 }; /* beside the words taken */

static void usage(void)
{
	printf("usage: rainctl [--config FILE] [--set KEY=VALUE]... COMMAND\n"
	       "       rainctl --version | --example-config\n"
	       "       rainctl [--config FILE] [--set KEY=VALUE]... "
	       "--check-config\n\n");
	command_usage(stdout);
	printf("With --json amounts are decimal text (\"12.50\") and times "
	       "ISO 8601 in UTC, or null.\n"
	       "\nexit: 0 done, 1 the answer is no, 2 wrong usage or "
	       "configuration, 3 no answer yet\n"
	       "(grab, result: 0 a packet, 1 none, 3 ask again later)\n\n"
	       "keys:\n");
	config_usage(ctl_keys, "kafka", stdout);
}

/* Those that print something and end. */
static bool print_option(const char *arg)
{
	if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
		usage();
	} else if (strcmp(arg, "--version") == 0) {
		printf("rainctl " RAIN_VERSION "\n");
	} else if (strcmp(arg, "--example-config") == 0) {
		config_example(ctl_keys, "kafka", stdout);
	} else {
		return false;
	}
	return true;
}

/* Global options in front of the command; returns how many words they take, or
 * DONE, or WRONG after saying what is wrong. *only_check: --check-config. */
static int global_options(struct ctl *ctl, int argc, char **argv,
			  bool *only_check)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		const char *arg = argv[i];
		bool file = strcmp(arg, "--config") == 0;
		int rv;

		if (print_option(arg)) {
			return DONE;
		}
		if (strcmp(arg, "--json") == 0) {
			ctl->json = true;
			continue;
		}
		if (strcmp(arg, "--check-config") == 0) {
			*only_check = true;
			continue;
		}
		if (!file && strcmp(arg, "--set") != 0) {
			fprintf(stderr,
				"rainctl: unknown option %s; see "
				"rainctl --help\n",
				arg);
			return WRONG;
		}
		if (++i == argc) {
			fprintf(stderr,
				"rainctl: a value is missing after %s\n", arg);
			return WRONG;
		}
		/* What is wrong is told with everything else. */
		rv = file ? config_read_file(&ctl->config, argv[i])
			  : config_set(&ctl->config, argv[i]);
		(void)rv;
	}
	return i;
}

/* Whether the configuration is complete; says what is wrong with it. */
static bool configured(struct ctl *ctl)
{
	int env = config_read_env(&ctl->config, environ);
	int rest = config_finish(&ctl->config);

	if (ctl_kafka(ctl, "bootstrap.servers")[0] == '\0') {
		/* As the services. */
		rest |= config_set(&ctl->config, KAFKA_FALLBACK);
	}
	fprintf(stderr, "%.*s", BYTES_FMT(buf_live(&ctl->config.errors)));
	return env == 0 && rest == 0 && buf_len(&ctl->config.errors) == 0;
}

static int run(struct ctl *ctl, int argc, char **argv)
{
	bool only_check = false;
	int used = global_options(ctl, argc, argv, &only_check);
	int rc;

	if (used < 0) {
		return used == DONE ? CTL_OK : CTL_USAGE;
	}
	if (!configured(ctl)) {
		return CTL_USAGE;
	}
	if (only_check) {
		printf("rainctl: the configuration is fine\n");
		return CTL_OK;
	}
	if (used == argc) {
		command_usage(stderr);
		fprintf(stderr, "rainctl: a command is missing; see "
				"rainctl --help\n");
		return CTL_USAGE;
	}
	ctl_init(ctl);
	rc = command_dispatch(ctl, argc - used, argv + used);
	ctl_close(ctl);
	return rc;
}

/* A full disk must not look like success. Who reads no further, as head does,
 * needs no sentence. */
static int flushed(int rc)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (fflush(stdout) == 0 && !ferror(stdout)) {
		return rc;
	}
	if (poll(&out, 1, 0) <= 0 || (out.revents & POLLERR) == 0) {
		fprintf(stderr, "rainctl: the output could not be written\n");
	}
	return rc == CTL_OK ? CTL_UNKNOWN : rc;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { 0 };
	int rc;

	/* A command speaks through its output; only trouble is logged. */
	log_setup(LOG_ERROR, LOG_LOGFMT, "rainctl");
	config_init(&ctl.config, ctl_keys, &ctl.options, "kafka");
	rc = flushed(run(&ctl, argc, argv));
	config_close(&ctl.config);
	return rc;
}
