/**
 * An activity's plan in an INI file, section [activity]; the keys are those of
 * examples/quiz-night.ini.
 */
#ifndef CONSOLE_PLAN_FILE_H
#define CONSOLE_PLAN_FILE_H

#include "base/config.h"
#include "plan/tranche.h"

struct plan_values {
	const char *id;
	const char *prefix;
	const char *title;
	const char *sponsor;
	const char *currency;
	const char *total;
	const char *packets;
	const char *algorithm;
	const char *tiers;
	const char *mode;
	const char *min;
	const char *max;
	const char *start;
	const char *end;
	const char *ack;
	int64_t keep_days;
	int64_t release;
};

struct plan_file {
	Rain__Plan plan;           /* its texts point into the fields below */
	struct config config;      /* what the file says */
	struct plan_values values; /* likewise */
	char id[96];
	struct allocate_rule tiers; /* only these, with their sums */
	struct plan_tiers tier_memory;
};

/**
 * Read path. id overrides the file's; without both, one is made of the file's
 * prefix and the time now_ms, to which `+SECONDS` of start and end refer too.
 * 0, or ERR_CONFIG with a line per problem appended to why. Close it always.
 */
must_check int plan_file_read(const char *path, const char *id, int64_t now_ms,
			      struct plan_file *out, struct buf *why);
/**
 * Read what a further tranche is to be: the same file, with nothing but total,
 * packets, algorithm, tiers, min and max. Of the plan only these are filled.
 * Else as plan_file_read().
 */
must_check int topup_file_read(const char *path, struct plan_file *out,
			       struct buf *why);
void plan_file_close(struct plan_file *f);

#endif
