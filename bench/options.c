/* The command line of rainbench, one option after the other. */
#include "bench/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/options_internal.h"

enum kind {
	FLAG,
	NUMBER,
	TIME, /* in ms */
	TEXT,
	TARGETS,
	ACTIVITY,
	WHEN,
	WATCH,
};

/* An option, and where its value goes: beside the start of struct options, or
 * of struct given. */
struct option {
	const char *name;
	enum kind kind;
	size_t at;
	bool in_given;
	uint64_t min;
	uint64_t max;
	size_t noted; /* in struct given: a bool that says that it was there */
};

#define OF(field)    offsetof(struct options, field), false
#define GIVEN(field) offsetof(struct given, field), true
#define NOTED(field) offsetof(struct given, field)
enum {
	UNNOTED = 0,
	DAY_MS = 24 * 3600 * 1000,
	PID_LIMIT = 4 * 1024 * 1024, /* of Linux */
};

static const struct option table[] = {
	{ "--target", TARGETS, OF(targets), 0, 0, UNNOTED },
	{ "--keys", TEXT, OF(keys), 0, 0, UNNOTED },
	{ "--activity", ACTIVITY, GIVEN(activities), 0, 0, UNNOTED },
	{ "--activities", NUMBER, GIVEN(pattern), 1, ACTIVITIES_MAX, UNNOTED },
	{ "--echo", FLAG, GIVEN(echo), 0, 0, UNNOTED },
	{ "--rate", NUMBER, OF(rate), 1, RATE_MAX, UNNOTED },
	{ "--in-flight", NUMBER, OF(in_flight), 1, IN_FLIGHT_MAX,
	  NOTED(in_flight) },
	{ "--conns", NUMBER, OF(conns), 1, CONNS_MAX, UNNOTED },
	{ "--front", FLAG, GIVEN(front), 0, 0, UNNOTED },
	{ "--users", NUMBER, OF(users), 1, USERS_MAX, UNNOTED },
	{ "--first-user", NUMBER, OF(first_user), 0, USERS_MAX *UINT64_C(1000),
	  UNNOTED },
	{ "--taps", NUMBER, OF(taps), 1, TAPS_EACH_MAX, UNNOTED },
	{ "--retry", WHEN, OF(retry), 0, 0, UNNOTED },
	{ "--not-after", TIME, OF(not_after_ms), 1, 10000, UNNOTED },
	{ "--uncached", FLAG, OF(uncached), 0, 0, UNNOTED },
	{ "--in-step", FLAG, OF(in_step), 0, 0, UNNOTED },
	{ "--idle", FLAG, OF(idle), 0, 0, UNNOTED },
	{ "--duration", TIME, OF(duration_ms), 0, DAY_MS, NOTED(duration) },
	{ "--warmup", TIME, OF(warmup_ms), 0, DAY_MS, UNNOTED },
	{ "--ramp", TIME, OF(ramp_ms), 0, DAY_MS, UNNOTED },
	{ "--threads", NUMBER, OF(threads), 1, THREADS_MAX, UNNOTED },
	{ "--watch", WATCH, OF(watched), 0, 0, UNNOTED },
	{ "--json", FLAG, OF(json), 0, 0, UNNOTED },
	{ "--hgrm", TEXT, OF(hgrm), 0, 0, UNNOTED },
	{ "--quiet", FLAG, OF(quiet), 0, 0, UNNOTED },
};

/* The value of an option, of an argument that is "--name=value" too. */
struct taken {
	const struct option *option;
	const char *value; /* NULL: none was given */
};

static bool take_time(const char *text, uint64_t *ms)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "", 1000 }
	};
	size_t digits = strspn(text, "0123456789");

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strcmp(text + digits, units[i].unit) == 0 &&
		    bytes_to_u64(bytes_make(text, digits), DAY_MS, ms)) {
			*ms *= units[i].ms;
			return true;
		}
	}
	return false;
}

static bool take_target(struct options *o, struct bytes one, struct buf *why)
{
	struct address address;
	char *text;

	if (one.n < 6 || memcmp(one.p, "tcp://", 6) != 0) {
		buf_printf(
			why,
			"--target: '%.*s' is not tcp://HOST:PORT; tls:// and "
			"others are not spoken",
			BYTES_FMT(one));
		return false;
	}
	if (o->target_count == TARGETS_MAX) {
		buf_printf(why, "--target: more than %d addresses",
			   TARGETS_MAX);
		return false;
	}
	text = o->targets[o->target_count];
	(void)snprintf(text, ADDRESS_TEXT_MAX, "%.*s", (int)one.n - 6,
		       (const char *)one.p + 6);
	if (one.n - 6 >= ADDRESS_TEXT_MAX ||
	    address_parse(text, &address) != 0 ||
	    address.kind == ADDRESS_UNIX || strcmp(address.port, "0") == 0) {
		buf_printf(why,
			   "--target: '%.*s' is not tcp://HOST:PORT, as in "
			   "tcp://127.0.0.1:7000 or tcp://[::1]:7000",
			   BYTES_FMT(one));
		return false;
	}
	o->target_count++;
	return true;
}

static bool take_targets(struct options *o, const char *list, struct buf *why)
{
	do {
		size_t len = strcspn(list, ",");

		if (!take_target(o, bytes_make(list, len), why)) {
			return false;
		}
		list += len + (list[len] == ',');
	} while (*list != '\0');
	return true;
}

static bool take_when(const char *text, enum retry *retry, struct buf *why)
{
	static const char *const names[] = {
		[RETRY_NEVER] = "never",
		[RETRY_HONOUR] = "honour",
		[RETRY_IGNORE] = "ignore",
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(text, names[i]) == 0) {
			*retry = (enum retry)i;
			return true;
		}
	}
	buf_printf(why, "--retry is never, honour or ignore, not '%s'", text);
	return false;
}

/* NAME=PID */
static bool take_watched(struct options *o, const char *text, struct buf *why)
{
	size_t len = strcspn(text, "=");
	uint64_t pid;
	clockid_t clock;

	if (o->watch_count == WATCH_MAX) {
		buf_printf(why, "--watch: more than %d of them", WATCH_MAX);
		return false;
	}
	if (len == 0 || len >= sizeof o->watched[0].name || text[len] == '\0' ||
	    !bytes_to_u64(bytes_str(text + len + 1), PID_LIMIT, &pid) ||
	    clock_getcpuclockid((pid_t)pid, &clock) != 0) {
		buf_printf(why,
			   "--watch is NAME=PID, with a name of up to 31 "
			   "characters and the number of a process that runs, "
			   "not '%s'",
			   text);
		return false;
	}
	(void)snprintf(o->watched[o->watch_count].name,
		       sizeof o->watched[0].name, "%.*s", (int)len, text);
	o->watched[o->watch_count++].pid = (pid_t)pid;
	return true;
}

static bool take_number(const struct taken *t, uint64_t *out, struct buf *why)
{
	const struct option *p = t->option;

	if (!bytes_to_u64(bytes_str(t->value), p->max, out) || *out < p->min) {
		buf_printf(why,
			   "%s is a number from %" PRIu64 " to %" PRIu64
			   ", not '%s'",
			   p->name, p->min, p->max, t->value);
		return false;
	}
	return true;
}

static bool take_duration(const struct taken *t, uint64_t *out, struct buf *why)
{
	const struct option *p = t->option;

	if (!take_time(t->value, out) || *out < p->min || *out > p->max) {
		buf_printf(why,
			   "%s is a time from %" PRIu64 " ms to %" PRIu64
			   " s, as in 10, 10s, 500ms or 2m, not '%s'",
			   p->name, p->min, p->max / 1000, t->value);
		return false;
	}
	return true;
}

static bool take_activity(struct given *g, const char *name, struct buf *why)
{
	if (g->activity_count == ACTIVITIES_MAX) {
		buf_printf(why, "--activity: more than %d of them",
			   ACTIVITIES_MAX);
		return false;
	}
	g->activities[g->activity_count++] = name;
	return true;
}

static bool take_value(struct options *o, struct given *g,
		       const struct taken *t, struct buf *why)
{
	char *base = t->option->in_given ? (char *)g : (char *)o;
	void *at = base + t->option->at;

	if (t->option->noted != UNNOTED) {
		*((bool *)(void *)((char *)g + t->option->noted)) = true;
	}
	switch (t->option->kind) {
	case FLAG:
		*(bool *)at = true;
		return true;
	case NUMBER:
		return take_number(t, at, why);
	case TIME:
		return take_duration(t, at, why);
	case TEXT:
		*(const char **)at = t->value;
		return true;
	case TARGETS:
		return take_targets(o, t->value, why);
	case ACTIVITY:
		return take_activity(g, t->value, why);
	case WATCH:
		return take_watched(o, t->value, why);
	case WHEN:
		return take_when(t->value, at, why);
	}
	return false;
}

/* Which option argv[*i] is, with its value; *i moves past both. */
static bool find(int argc, char **argv, int *i, struct taken *t,
		 struct buf *why)
{
	const char *arg = argv[(*i)++];
	size_t len = strcspn(arg, "=");

	for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
		const struct option *p = &table[k];

		if (strncmp(arg, p->name, len) != 0 || p->name[len] != '\0') {
			continue;
		}
		t->option = p;
		t->value = arg[len] == '=' ? arg + len + 1 : NULL;
		if (p->kind == FLAG) {
			if (t->value != NULL) {
				buf_printf(why, "%s takes no value", p->name);
			}
			return t->value == NULL;
		}
		if (t->value == NULL && *i < argc) {
			t->value = argv[(*i)++];
		}
		if (t->value == NULL || *t->value == '\0') {
			buf_printf(why, "a value is missing after %s", p->name);
			return false;
		}
		return true;
	}
	buf_printf(why, "there is no option '%s'; rainbench --help has all",
		   arg);
	return false;
}

enum options_outcome options_take(struct options *o, int argc, char **argv,
				  struct buf *why)
{
	struct given *g = xcalloc(1, sizeof *g);
	enum options_outcome outcome = OPTIONS_RUN;
	int i = 1;

	*o = (struct options){ .conns = 50, .threads = 1, .in_flight = 1 };
	while (i < argc && outcome == OPTIONS_RUN) {
		struct taken t = { 0 };

		if (strcmp(argv[i], "--help") == 0 ||
		    strcmp(argv[i], "-h") == 0) {
			outcome = OPTIONS_HELP;
		} else if (!find(argc, argv, &i, &t, why) ||
			   !take_value(o, g, &t, why)) {
			outcome = OPTIONS_WRONG;
		}
	}
	if (outcome == OPTIONS_RUN && !options_settle(o, g, why)) {
		outcome = OPTIONS_WRONG;
	}
	free(g);
	return outcome;
}

void options_free(struct options *o)
{
	free(o->activities);
	o->activities = NULL;
}
