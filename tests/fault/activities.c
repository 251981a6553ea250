#include "fault/activities.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "fault/world_internal.h"

enum {
	TRY_MS = 30000, /* one run of rainctl */
	WAIT_MS = 300,  /* between two */
	BOOKS_MS = 150000,
};

void activities_plan(struct activities *a, size_t round, uint64_t rate,
		     uint64_t length_ms)
{
	static const char *const kinds[] = { "sold", "left", "late", "never" };
	/* Three activities share the taps, of random users: with 2/3 as many
	 * users as taps, and faults in between, a quarter of them has a packet
	 * before the middle. */
	uint64_t taps = rate * length_ms / 1000 / 3;

	for (int i = 0; i < ROUND_ACTIVITIES; i++) {
		snprintf(a->names[i], sizeof a->names[i], "r%03zu-%s", round,
			 kinds[i]);
	}
	a->round = round;
	a->users = taps * 2 / 3 + 10;
	a->packets[ACTIVITY_SOLD] = a->users / 4;
	a->packets[ACTIVITY_LEFT] = a->users * 2;
	a->packets[ACTIVITY_LATE] = a->users / 3 + 1;
	a->packets[ACTIVITY_NEVER] = 100;
	a->end_s = length_ms * 85 / 100 / 1000;
}

/* Turn the loop for a while. */
static void wait_ms(struct world *w, uint64_t ms)
{
	uint64_t end = uv_now(&w->loop) + ms;

	while (uv_now(&w->loop) < end) {
		world_turn(w);
	}
}

/* Tried until it succeeds or ms are over, or something else is wrong. */
static bool insist(struct world *w, const char *const *words, uint64_t try_ms,
		   uint64_t ms)
{
	uint64_t end = uv_now(&w->loop) + ms;
	struct child c = { 0 };
	int code;

	for (;;) {
		code = world_ctl(w, &c, try_ms, words);
		if (code == 0 || w->violations > 0 || uv_now(&w->loop) >= end) {
			break;
		}
		wait_ms(w, WAIT_MS);
	}
	if (code != 0) {
		world_violation(w, "rainctl %s %s %s: exit %d: %s", words[0],
				words[1], words[2] != NULL ? words[2] : "",
				code, child_text(&c));
	}
	child_free(&c);
	return code == 0;
}

/* How the money is split: every way, one round after the other. */
static void write_split(FILE *f, const struct activities *a,
			enum round_activity which)
{
	static const char *const algorithms[] = { "double_mean", "line_cut",
						  "equal",       "tiers",
						  "uniform",     "normal" };
	const char *algorithm = algorithms[(a->round + (size_t)which) % 6];
	uint64_t packets = a->packets[which];
	/* Two cents less than three a packet: sums that do not divide. */
	uint64_t cents = packets * 300 - 2;

	fprintf(f, "algorithm = %s\n", algorithm);
	if (strcmp(algorithm, "tiers") == 0) {
		fprintf(f, "tiers = 20.01 x %" PRIu64 ", 1.99 x %" PRIu64 "\n",
			packets / 10 + 1, packets - packets / 10 - 1);
	} else {
		fprintf(f,
			"total = %" PRIu64 ".%02" PRIu64 "\npackets = %" PRIu64
			"\n",
			cents / 100, cents % 100, packets);
	}
}

static bool write_plan(const struct world *w, const struct activities *a,
		       enum round_activity which, const char *path)
{
	FILE *f = fopen(path, "we");

	(void)w;
	if (f == NULL) {
		return false;
	}
	fprintf(f, "[activity]\nsponsor = sponsor:torture\ntitle = %s\n",
		a->names[which]);
	write_split(f, a, which);
	if (which == ACTIVITY_LATE) {
		fprintf(f, "end = +%" PRIu64 "\n", a->end_s);
	}
	if (which == ACTIVITY_LATE && a->round % 2 == 0) {
		fprintf(f, "release = %" PRIu64 "s\n", a->end_s / 2);
	}
	return fclose(f) == 0;
}

bool activities_create(struct world *w, const struct activities *a,
		       enum round_activity which, uint64_t ms)
{
	char path[PATH_BYTES];
	const char *const words[] = { "activity", "create",        "-f",
				      path,       a->names[which], NULL };
	const char *const entropy[] = { "activity", "entropy", a->names[which],
					"0123456789abcdef0123456789abcdef",
					NULL };

	world_path(w, "plan.ini", path);
	if (!write_plan(w, a, which, path)) {
		world_violation(w, "%s: %s", path, strerror(errno));
		return false;
	}
	return insist(w, words, TRY_MS, ms) &&
	       (which != ACTIVITY_LEFT || a->round % 2 == 0 ||
		insist(w, entropy, TRY_MS, ms));
}

/* The word before verb. */
static const char *group_of(const char *verb)
{
	return strcmp(verb, "rewind") == 0 ? "relay" : "activity";
}

bool activities_step(struct world *w, const struct activities *a,
		     enum round_activity which, const char *verb)
{
	const char *const words[] = { group_of(verb), verb, a->names[which],
				      NULL };
	struct child c = { 0 };
	int code = world_ctl(w, &c, TRY_MS, words);

	world_clock();
	printf("operator: %s %s: %d%s%.*s\n", verb, a->names[which], code,
	       code == 0 ? "" : ": ",
	       code == 0 ? 0 : (int)strcspn(child_text(&c), "\n"),
	       child_text(&c));
	child_free(&c);
	return code == 0;
}

bool activities_steps(struct world *w, const struct activities *a,
		      enum round_activity which, const char *const *verbs,
		      uint64_t ms)
{
	for (; *verbs != NULL; verbs++) {
		const char *const words[] = { group_of(*verbs), *verbs,
					      a->names[which], NULL };

		if (!insist(w, words, TRY_MS, ms)) {
			return false;
		}
	}
	return true;
}

/* The state of an activity in state, "" if it is not known. False: HALTED. */
static bool look(struct world *w, const char *name, char *state, size_t size)
{
	const char *const words[] = { "--json", "activity", "show", name,
				      NULL };
	struct child c = { 0 };
	const char *found = "";
	const char *reason = "";
	bool halted;
	json_t *m;

	(void)world_ctl(w, &c, TRY_MS, words);
	m = json_loads(child_text(&c), 0, NULL);
	(void)json_unpack(m, "{s:s,s?s}", "state", &found, "reason", &reason);
	snprintf(state, size, "%s", found);
	halted = strcmp(state, "HALTED") == 0;
	if (halted) {
		world_violation(w, "%s is HALTED: %s", name, reason);
	}
	json_decref(m);
	child_free(&c);
	return !halted;
}

/* Closed or cancelled, it must settle by itself. */
static bool await_end(struct world *w, const char *name, uint64_t ms)
{
	uint64_t end = uv_now(&w->loop) + ms;
	char state[32] = "";

	for (;;) {
		if (!look(w, name, state, sizeof state)) {
			return false;
		}
		if (strcmp(state, "SETTLED") == 0) {
			return true;
		}
		if (uv_now(&w->loop) >= end) {
			world_violation(w, "%s is still %s", name, state);
			return false;
		}
		wait_ms(w, WAIT_MS);
	}
}

bool activities_end(struct world *w, const struct activities *a, uint64_t ms)
{
	static const char *const close[] = { "close", NULL };
	char state[32];

	for (int i = 0; i < ROUND_ACTIVITIES; i++) {
		if (!look(w, a->names[i], state, sizeof state)) {
			return false;
		}
	}
	if (!activities_steps(w, a, ACTIVITY_SOLD, close, ms)) {
		return false;
	}
	for (int i = 0; i < ROUND_ACTIVITIES; i++) {
		const char *const words[] = { "books", a->names[i], "--wait",
					      "60", NULL };

		if (!await_end(w, a->names[i], ms) ||
		    !insist(w, words, BOOKS_MS, 1)) {
			return false;
		}
	}
	return true;
}
