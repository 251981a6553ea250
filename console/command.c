#include "console/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"

const char *argument_option(const struct command *c, const struct arguments *a,
			    const char *name)
{
	for (size_t i = 0; i < COMMAND_OPTIONS_MAX; i++) {
		if (c->options[i].name == NULL) {
			break;
		}
		if (strcmp(c->options[i].name, name) == 0) {
			return a->options[i];
		}
	}
	check(!"an option that the command's table does not have");
	return NULL;
}

bool argument_number(const struct command *c, const struct arguments *a,
		     const char *name, uint64_t min, uint64_t max,
		     uint64_t *out, struct buf *why)
{
	const char *text = argument_option(c, a, name);
	uint64_t n;

	if (text == NULL) {
		return true;
	}
	if (!bytes_to_u64(bytes_str(text), max, &n) || n < min) {
		buf_printf(why, "--%s %s: allowed: %" PRIu64 " to %" PRIu64,
			   name, text, min, max);
		return false;
	}
	*out = n;
	return true;
}

/* Whether group is the first of two words of c. */
static bool is_of_group(const struct command *c, const char *group)
{
	size_t n = strlen(group);

	return strncmp(c->words, group, n) == 0 && c->words[n] == ' ';
}

static bool is_group(const char *word)
{
	for (const struct command *c = commands; c->words != NULL; c++) {
		if (is_of_group(c, word)) {
			return true;
		}
	}
	return false;
}

/* The commands of a group, or all for NULL. */
static void print_commands(const char *group, FILE *out)
{
	fprintf(out, "commands:\n");
	for (const struct command *c = commands; c->words != NULL; c++) {
		char left[64];

		if (group != NULL && !is_of_group(c, group)) {
			continue;
		}
		snprintf(left, sizeof left, "%s %s", c->words, c->operands);
		fprintf(out, "  %-26s%s\n", left, c->summary);
	}
	fprintf(out, "`rainctl COMMAND --help` says more; every command takes "
		     "--json.\n");
}

void command_usage(FILE *out)
{
	print_commands(NULL, out);
}

static void command_help(const struct command *c)
{
	printf("usage: rainctl [--config FILE] [--set KEY=VALUE] %s%s%s",
	       c->words, c->operands[0] != '\0' ? " " : "", c->operands);
	printf(" [OPTION]...\n\n%s\n\noptions:\n", c->summary);
	for (size_t i = 0; i < COMMAND_OPTIONS_MAX; i++) {
		const struct command_option *o = &c->options[i];
		char left[40];

		if (o->name == NULL) {
			break;
		}
		snprintf(left, sizeof left, "%s%s %s",
			 strlen(o->name) == 1 ? "-" : "--", o->name,
			 o->value != NULL ? o->value : "");
		printf("  %-22s%s\n", left, o->help);
	}
	printf("  %-22s%s\n  %-22s%s\n\nexample:\n  %s\n", "--json",
	       "print JSON", "--help", "print this", c->example);
}

/* Whether argv begins with the words of the command; *used of them. */
static bool words_match(const char *words, int argc, char **argv, int *used)
{
	const char *p = words;

	for (int i = 0; i < argc; i++) {
		size_t n = strcspn(p, " ");

		if (strlen(argv[i]) != n || strncmp(argv[i], p, n) != 0) {
			return false;
		}
		p += n;
		if (*p == '\0') {
			*used = i + 1;
			return true;
		}
		p++;
	}
	return false;
}

static int bad(const struct command *c, const char *what, const char *which)
{
	fprintf(stderr, "example: %s\nrainctl %s: %s%s\n", c->example, c->words,
		what, which);
	return CTL_USAGE;
}

/* Take one option at argv[*i]; CTL_OK or CTL_USAGE. */
static int take_option(struct ctl *ctl, const struct command *c,
		       struct arguments *a, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + (argv[*i][1] == '-' ? 2 : 1);
	size_t len = strcspn(name, "=");

	if (strcmp(name, "json") == 0) {
		ctl->json = true;
		return CTL_OK;
	}
	for (size_t k = 0; k < COMMAND_OPTIONS_MAX; k++) {
		const struct command_option *o = &c->options[k];

		if (o->name == NULL) {
			break;
		}
		if (strlen(o->name) != len ||
		    strncmp(o->name, name, len) != 0) {
			continue;
		}
		if (o->value == NULL) {
			a->options[k] = "";
		} else if (name[len] == '=') {
			a->options[k] = name + len + 1;
		} else if (*i + 1 < argc) {
			a->options[k] = argv[++*i];
		} else {
			return bad(c, "a value is missing after ", argv[*i]);
		}
		return CTL_OK;
	}
	return bad(c, "unknown option ", argv[*i]);
}

/* What the operands and options of type ID and USER must be. */
static int check_ids(const struct command *c, const struct arguments *a)
{
	const char *what = c->operands + (c->operands[0] == '[');

	if (a->count > 0 &&
	    (strncmp(what, "ID", 2) == 0 || strcmp(what, "USER") == 0) &&
	    !id_valid(bytes_str(a->values[0]))) {
		return bad(c, "an id must be " ID_RULE ", which is not ",
			   a->values[0]);
	}
	for (size_t k = 0; k < COMMAND_OPTIONS_MAX; k++) {
		const struct command_option *o = &c->options[k];

		if (o->name == NULL) {
			break;
		}
		if (a->options[k] != NULL && o->value != NULL &&
		    (strcmp(o->value, "ID") == 0 ||
		     strcmp(o->value, "USER") == 0) &&
		    !id_valid(bytes_str(a->options[k]))) {
			return bad(c,
				   "an id must be " ID_RULE ", which is not ",
				   a->options[k]);
		}
	}
	return CTL_OK;
}

static int run_command(struct ctl *ctl, const struct command *c, int argc,
		       char **argv)
{
	struct arguments a = { .values = xcalloc((size_t)argc + 1,
						 sizeof *a.values) };
	int rc = CTL_OK;

	for (int i = 0; i < argc && rc == CTL_OK; i++) {
		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			command_help(c);
			free(a.values);
			return CTL_OK;
		}
		if (argv[i][0] == '-' && argv[i][1] != '\0') {
			rc = take_option(ctl, c, &a, argc, argv, &i);
		} else {
			a.values[a.count++] = argv[i];
		}
	}
	if (rc == CTL_OK && a.count < c->operands_min) {
		rc = bad(c, "too few operands, it takes: ", c->operands);
	} else if (rc == CTL_OK && a.count > c->operands_max) {
		rc = bad(c, "too many operands, it takes: ",
			 c->operands[0] != '\0' ? c->operands : "none");
	}
	if (rc == CTL_OK) {
		rc = check_ids(c, &a);
	}
	if (rc == CTL_OK) {
		rc = c->run(ctl, c, &a);
	}
	free(a.values);
	return rc;
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int command_dispatch(struct ctl *ctl, int argc, char **argv)
{
	const char *group = NULL;
	int used = 0;

	for (const struct command *c = commands; c->words != NULL; c++) {
		if (words_match(c->words, argc, argv, &used)) {
			return run_command(ctl, c, argc - used, argv + used);
		}
	}
	if (is_group(argv[0])) {
		group = argv[0];
	}
	if (group != NULL && argc > 1 && is_help(argv[1])) {
		print_commands(group, stdout);
		return CTL_OK;
	}
	print_commands(group, stderr);
	if (group != NULL && argc == 1) {
		fprintf(stderr, "rainctl: %s: a second word is missing\n",
			group);
	} else {
		fprintf(stderr, "rainctl: unknown command %s%s%s\n", argv[0],
			group != NULL ? " " : "", group != NULL ? argv[1] : "");
	}
	return CTL_USAGE;
}
