/*
 * fault_check: usage() says how. What does not hold is told, a line each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "fault/check.h"

struct arguments {
	const char *log;
	const char *config;
	const char *ledger;
	const char *lists; /* NULL: none was adopted */
	const char *live;  /* names, a comma between two */
	uint64_t wait_s;
	bool others;
	char **activities;
	int activity_count;
};

static int usage(void)
{
	fprintf(stderr,
		"usage: fault_check --log FILE --config RAINCTL.INI "
		"--ledger LEDGER.DB\n"
		"  [--lists FILE] [--live ACTIVITY,ACTIVITY...] [--wait SECONDS] [--others] ACTIVITY...\n"
		"--lists: what lay in lists that were adopted, a line "
		"\"ACTIVITY PACKET CENTS\" each\n"
		"--live: those have no list, their packets are drawn; all "
		"others have one\n"
		"--wait: read again so long while something does not hold\n"
		"--others: users who are not in the log may have claims\n"
		"exit: 0 all holds, 1 violations, 2 usage, 3 could not read\n");
	return CTL_USAGE;
}

static bool take_arguments(int argc, char **argv, struct arguments *a)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--others") == 0) {
			a->others = true;
			continue;
		}
		if (value == NULL) {
			return false;
		}
		if (strcmp(argv[i], "--log") == 0) {
			a->log = value;
		} else if (strcmp(argv[i], "--config") == 0) {
			a->config = value;
		} else if (strcmp(argv[i], "--ledger") == 0) {
			a->ledger = value;
		} else if (strcmp(argv[i], "--lists") == 0) {
			a->lists = value;
		} else if (strcmp(argv[i], "--live") == 0) {
			a->live = value;
		} else if (strcmp(argv[i], "--wait") != 0 ||
			   !bytes_to_u64(bytes_str(value), 86400, &a->wait_s)) {
			return false;
		}
		i++;
	}
	a->activities = argv + i;
	a->activity_count = argc - i;
	return a->log != NULL && a->config != NULL && a->ledger != NULL &&
	       a->activity_count > 0;
}

/* False: a name in it is none of the activities. */
static bool take_live(struct check *c, const char *names)
{
	while (*names != '\0') {
		size_t n = strcspn(names, ",");
		char id[ID_MAX + 1];
		struct check_activity *a;

		snprintf(id, sizeof id, "%.*s", (int)n, names);
		HASH_FIND_STR(c->activities, id, a);
		if (a == NULL) {
			return false;
		}
		a->planned_live = true;
		names += n + (names[n] == ',' ? 1 : 0);
	}
	return true;
}

/* Down the stream, as the books are read: what is on its way is then missing
 * further down rather than further up. */
static int read_tables(struct ctl *ctl, const struct arguments *args,
		       struct check *c, struct buf *why)
{
	int rc;

	for (int i = 0; i < args->activity_count; i++) {
		check_activity(c, args->activities[i])->wanted = true;
	}
	if (args->live != NULL && !take_live(c, args->live)) {
		buf_printf(why, "--live %s: it names what is not to be checked",
			   args->live);
		return CTL_USAGE;
	}
	rc = args->lists != NULL ? check_read_lists(args->lists, c, why)
				 : CTL_OK;
	rc = rc == CTL_OK ? check_read_ledger(args->ledger, c, why) : rc;
	rc = rc == CTL_OK ? check_read_topics(ctl, c, why) : rc;
	for (int i = 0; i < args->activity_count && rc == CTL_OK; i++) {
		rc = check_read_redis(ctl->options.redis_url,
				      check_activity(c, args->activities[i]), c,
				      why);
	}
	return rc;
}

static int check_once(struct ctl *ctl, const struct arguments *args,
		      struct check *c, struct buf *why)
{
	int rc;

	check_init(c);
	c->others = args->others;
	rc = read_tables(ctl, args, c, why);
	rc = rc == CTL_OK ? check_read_log(args->log, c, why) : rc;
	if (rc == CTL_OK && c->taps == 0) {
		buf_printf(why, "%s: nobody tapped", args->log);
		rc = CTL_UNKNOWN;
	}
	if (rc == CTL_OK) {
		check_judge(c);
		rc = c->violations == 0 ? CTL_OK : CTL_NO;
	}
	return rc;
}

/* Claims that were credited, or only those of live activities. */
static uint64_t credits(const struct check *c, bool only_live)
{
	const struct check_activity *a;
	uint64_t n = 0;

	for (a = c->activities; a != NULL; a = a->hh.next) {
		n += a->live || !only_live ? a->books.sums[BOOK_LEDGER].count
					   : 0;
	}
	return n;
}

static int run(struct ctl *ctl, const struct arguments *args)
{
	uint64_t deadline = clock_mono_ms() + args->wait_s * 1000;
	struct check c;
	struct buf why;
	int rc;

	buf_init(&why);
	for (;;) {
		rc = check_once(ctl, args, &c, &why);
		if (rc == CTL_OK || rc == CTL_USAGE ||
		    clock_mono_ms() >= deadline) {
			break;
		}
		check_close(&c);
		buf_take(&why, buf_len(&why));
		ctl_rest(ctl, 500);
	}
	if (rc == CTL_OK || rc == CTL_NO) {
		printf("%.*s", BYTES_FMT(buf_live(&c.report)));
		printf("checked taps=%llu wins=%llu credits=%llu live=%llu "
		       "unanswered=%llu violations=%llu\n",
		       (unsigned long long)c.taps, (unsigned long long)c.wins,
		       (unsigned long long)credits(&c, false),
		       (unsigned long long)credits(&c, true),
		       (unsigned long long)c.unanswered,
		       (unsigned long long)c.violations);
	} else {
		fprintf(stderr, "fault_check: %.*s\n",
			BYTES_FMT(buf_live(&why)));
	}
	check_close(&c);
	buf_close(&why);
	return rc;
}

int main(int argc, char **argv)
{
	struct arguments args = { 0 };
	struct ctl ctl = { 0 };
	int rc = CTL_USAGE;

	if (!take_arguments(argc, argv, &args)) {
		return usage();
	}
	log_setup(LOG_ERROR, LOG_LOGFMT, "fault_check");
	config_init(&ctl.config, ctl_keys, &ctl.options, "kafka");
	if (config_read_file(&ctl.config, args.config) != 0 ||
	    config_finish(&ctl.config) != 0) {
		fprintf(stderr, "%.*s",
			BYTES_FMT(buf_live(&ctl.config.errors)));
	} else {
		ctl_init(&ctl);
		rc = run(&ctl, &args);
		ctl_close(&ctl);
	}
	config_close(&ctl.config);
	return fflush(stdout) == 0 ? rc : CTL_UNKNOWN;
}
