/**
 * The commands of rainctl: one row of the table in commands.c each.
 */
#ifndef CONSOLE_COMMAND_H
#define CONSOLE_COMMAND_H

#include "console/ctl.h"

enum { COMMAND_OPTIONS_MAX = 10 };

struct command_option {
	const char *name;  /* "wait", without the dashes; NULL ends the list */
	const char *value; /* what it takes, "SECONDS"; NULL for a switch */
	const char *help;
};

/* The command line behind the words, taken apart. */
struct arguments {
	size_t count;                             /* of values */
	const char **values;                      /* what is no option */
	const char *options[COMMAND_OPTIONS_MAX]; /* by row of the command's
						     table; NULL: not given */
};

struct command {
	const char *words;    /* "activity create" */
	const char *operands; /* "ID", "" for none; "[X]" may be left out */
	const char *summary;  /* one line */
	const char *example;  /* a command line that works */
	size_t operands_min;
	size_t operands_max;
	struct command_option options[COMMAND_OPTIONS_MAX];
	/** Returns one of the CTL_ values. */
	int (*run)(struct ctl *ctl, const struct command *command,
		   const struct arguments *a);
};

/** All commands; the last one has words NULL. */
extern const struct command commands[];

/** The value of an option, NULL if it was not given ("" for a switch that
 * was). The name must be one of the command's. */
const char *argument_option(const struct command *c, const struct arguments *a,
			    const char *name);

/** The number of an option; *out stays if it was not given. False with a
 * sentence appended to why if it is not one of min to max. */
must_check bool argument_number(const struct command *c,
				const struct arguments *a, const char *name,
				uint64_t min, uint64_t max, uint64_t *out,
				struct buf *why);

/** Find, check and run the command in argv (behind the global options). */
int command_dispatch(struct ctl *ctl, int argc, char **argv);

/** The list of commands, for --help. */
void command_usage(FILE *out);

/* activity_commands.c */
int run_activity_create(struct ctl *, const struct command *,
			const struct arguments *);
int run_activity_long(struct ctl *, const struct command *,
		      const struct arguments *);
int run_activity_step(struct ctl *, const struct command *,
		      const struct arguments *);
int run_activity_show(struct ctl *, const struct command *,
		      const struct arguments *);
int run_activity_list(struct ctl *, const struct command *,
		      const struct arguments *);
int run_activity_entropy(struct ctl *, const struct command *,
			 const struct arguments *);
int run_activity_topup(struct ctl *, const struct command *,
		       const struct arguments *);
int run_relay_rewind(struct ctl *, const struct command *,
		     const struct arguments *);
/* tap_commands.c */
int run_grab(struct ctl *, const struct command *, const struct arguments *);
int run_result(struct ctl *, const struct command *, const struct arguments *);
int run_balance(struct ctl *, const struct command *, const struct arguments *);
/* books_command.c */
int run_books(struct ctl *, const struct command *, const struct arguments *);
/* verify_command.c */
int run_verify(struct ctl *, const struct command *, const struct arguments *);
/* luckiest_command.c */
int run_luckiest(struct ctl *, const struct command *,
		 const struct arguments *);
/* doctor.c */
int run_doctor(struct ctl *, const struct command *, const struct arguments *);
/* plan_command.c */
int run_plan(struct ctl *, const struct command *, const struct arguments *);
/* quiz.c */
int run_quiz(struct ctl *, const struct command *, const struct arguments *);
/* token_commands.c */
int run_token(struct ctl *, const struct command *, const struct arguments *);
int run_messages(struct ctl *, const struct command *,
		 const struct arguments *);
/* tool_commands.c */
int run_ports(struct ctl *, const struct command *, const struct arguments *);

#endif
