#include "fault/activities.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "fault/foreign.h"
#include "fault/schedule.h"
#include "fault/world_internal.h"

enum {
	TRY_MS = 30000, /* one run of rainctl */
	WAIT_MS = 300,  /* between two */
	BOOKS_MS = 150000,
	WORDS_MAX = 8, /* of a command, with its NULL */
};

/* What is adopted or topped up is a list. */
static void choose_live(struct activities *a, uint64_t turn, uint64_t *rng)
{
	bool first = seeded_next(rng) % 2 == 0;

	if (turn % 2 == 1) {
		a->live[first ? ACTIVITY_LEFT : ACTIVITY_LATE] = true;
	} else {
		a->live[ACTIVITY_LEFT] = first && a->adopted != ACTIVITY_LEFT;
		a->live[ACTIVITY_LATE] = first && a->adopted != ACTIVITY_LATE;
	}
	a->live[ACTIVITY_SOLD] = turn % 4 == 3;
	a->live[ACTIVITY_NEVER] = seeded_next(rng) % 2 == 0;
}

/* An adopted list can't be topped up, and the sold one never is adopted. By
 * turns, so that also a run of two rounds has some of each. */
static void choose(struct activities *a, uint64_t seed)
{
	uint64_t turn = seed + a->round;
	uint64_t rng = turn;

	a->foreign_seed = seeded_next(&rng);
	a->adopted = ROUND_ACTIVITIES;
	if (turn % 2 == 0) {
		a->adopted = seeded_next(&rng) % 2 == 0 ? ACTIVITY_LEFT
							: ACTIVITY_LATE;
	}
	if (turn % 4 == 0 || turn % 4 == 2) {
		a->more[0] = a->users / 8 + 1;
	}
	if (turn % 4 == 0 || turn % 4 == 1) {
		a->more[1] = a->users / 8 + 1200; /* several chunks */
	}
	choose_live(a, turn, &rng);
}

void activities_plan(struct activities *a, uint64_t seed, size_t round,
		     uint64_t rate, uint64_t length_ms)
{
	static const char *const kinds[] = { "sold", "left", "late", "never" };
	/* Three activities share the taps, of random users: with 2/3 as many
	 * users as taps, and faults in between, a quarter of them has a packet
	 * before the middle. */
	uint64_t taps = rate * length_ms / 1000 / 3;

	*a = (struct activities){ .round = round };
	for (int i = 0; i < ROUND_ACTIVITIES; i++) {
		snprintf(a->names[i], sizeof a->names[i], "r%03zu-%s", round,
			 kinds[i]);
	}
	a->users = taps * 2 / 3 + 10;
	a->packets[ACTIVITY_SOLD] = a->users / 4;
	a->packets[ACTIVITY_LEFT] = a->users * 2;
	a->packets[ACTIVITY_LATE] = a->users / 3 + 1;
	a->packets[ACTIVITY_NEVER] = 100;
	a->end_s = length_ms * 85 / 100 / 1000;
	choose(a, seed);
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

static void write_total(FILE *f, uint64_t cents, uint64_t packets)
{
	fprintf(f, "total = %" PRIu64 ".%02" PRIu64 "\npackets = %" PRIu64 "\n",
		cents / 100, cents % 100, packets);
}

/* How the money of a list is split: every way, one round after the other. */
static void write_split(FILE *f, size_t turn, uint64_t packets)
{
	static const char *const algorithms[] = { "double_mean", "line_cut",
						  "equal",       "tiers",
						  "uniform",     "normal" };
	const char *algorithm = algorithms[turn % 6];

	fprintf(f, "algorithm = %s\n", algorithm);
	if (strcmp(algorithm, "tiers") == 0) {
		fprintf(f, "tiers = 20.01 x %" PRIu64 ", 1.99 x %" PRIu64 "\n",
			packets / 10 + 1, packets - packets / 10 - 1);
	} else {
		/* Two cents less than three a packet: sums that do not
		 * divide. */
		write_total(f, packets * 300 - 2, packets);
	}
}

/* Every other one with a max that cuts off what double_mean could give. */
static void write_live(FILE *f, size_t turn, uint64_t packets)
{
	fprintf(f, "mode = live\nalgorithm = double_mean\n");
	write_total(f, packets * 300 - 2, packets);
	if (turn % 2 == 0) {
		fprintf(f, "max = 5.01\n");
	}
}

/* foreign_cents: of the packets that are adopted. */
static bool write_plan(const struct activities *a, enum round_activity which,
		       uint64_t foreign_cents, const char *path)
{
	FILE *f = fopen(path, "we");

	if (f == NULL) {
		return false;
	}
	fprintf(f, "[activity]\nsponsor = sponsor:torture\ntitle = %s\n",
		a->names[which]);
	if (which == a->adopted) {
		write_total(f, foreign_cents, a->packets[which]);
	} else if (a->live[which]) {
		write_live(f, a->round / 2 + (size_t)which, a->packets[which]);
	} else {
		write_split(f, a->round + (size_t)which, a->packets[which]);
	}
	if (which == ACTIVITY_LATE) {
		fprintf(f, "end = +%" PRIu64 "\n", a->end_s);
	}
	if (which == ACTIVITY_LATE && a->round % 2 == 0) {
		fprintf(f, "release = %" PRIu64 "s\n", a->end_s / 2);
	}
	return fclose(f) == 0;
}

static bool add_entropy(struct world *w, const struct activities *a,
			enum round_activity which, uint64_t ms)
{
	const char *const words[] = { "activity", "entropy", a->names[which],
				      "0123456789abcdef0123456789abcdef",
				      NULL };

	return insist(w, words, TRY_MS, ms);
}

bool activities_create(struct world *w, const struct activities *a,
		       enum round_activity which, uint64_t ms)
{
	char path[PATH_BYTES];
	const char *const words[] = { "activity", "create",        "-f",
				      path,       a->names[which], NULL };
	const char *const adopt[] = { "activity", "create", "--adopt",
				      "-f",       path,     a->names[which],
				      NULL };
	bool adopts = which == a->adopted;
	uint64_t cents = 0;

	world_path(w, "plan.ini", path);
	if (adopts && !foreign_list(w, a->names[which], a->packets[which],
				    a->foreign_seed, &cents)) {
		return false;
	}
	if (!write_plan(a, which, cents, path)) {
		world_violation(w, "%s: %s", path, strerror(errno));
		return false;
	}
	if (!insist(w, adopts ? adopt : words, TRY_MS, ms)) {
		return false;
	}
	return which != ACTIVITY_LEFT || adopts || a->round % 2 == 0 ||
	       add_entropy(w, a, which, ms);
}

/* Which top-up the verb is, from 0; ROUND_TOPUPS: it is another verb. */
static size_t topup_of(const char *verb)
{
	return strncmp(verb, "topup ", 6) == 0 ? (size_t)(verb[6] - '1')
					       : ROUND_TOPUPS;
}

bool activities_has(const struct activities *a, const char *verb)
{
	size_t n = topup_of(verb);

	return n == ROUND_TOPUPS || a->more[n] > 0;
}

/* A command of rainctl. */
struct command {
	char path[PATH_BYTES];
	char tranche[8];
	const char *words[WORDS_MAX];
};

/* With the number of its tranche: so it may be asked again. */
static void topup_command(const struct world *w, const struct activities *a,
			  size_t n, const char *name, struct command *out)
{
	const char *const words[] = { "activity",  "topup",   name,
				      "-f",        out->path, "--tranche",
				      out->tranche };
	FILE *f;

	world_path(w, "more.ini", out->path);
	snprintf(out->tranche, sizeof out->tranche, "%d",
		 2 + (n > 0 && a->more[0] > 0));
	memcpy(out->words, words, sizeof words);
	f = fopen(out->path, "we");
	check(f != NULL);
	fprintf(f, "[activity]\n");
	write_split(f, a->round + n + 1, a->more[n]);
	check(fclose(f) == 0);
}

static void command_of(const struct world *w, const struct activities *a,
		       enum round_activity which, const char *verb,
		       struct command *out)
{
	size_t n = topup_of(verb);

	*out = (struct command){ 0 };
	if (n < ROUND_TOPUPS) {
		topup_command(w, a, n, a->names[which], out);
		return;
	}
	out->words[0] = strcmp(verb, "rewind") == 0 ? "relay" : "activity";
	out->words[1] = verb;
	out->words[2] = a->names[which];
}

bool activities_step(struct world *w, const struct activities *a,
		     enum round_activity which, const char *verb)
{
	struct child c = { 0 };
	struct command command;
	int code;

	command_of(w, a, which, verb, &command);
	code = world_ctl(w, &c, TRY_MS, command.words);

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
		struct command command;

		command_of(w, a, which, *verbs, &command);
		if (!insist(w, command.words, TRY_MS, ms)) {
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
