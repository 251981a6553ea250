#include "fault/rounds.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fault/activities.h"
#include "fault/summary.h"
#include "fault/world_internal.h"

enum {
	CONNECTIONS = 60,
	PATIENCE_S = 60,    /* of the tappers, for open outcomes */
	SETTLE_MS = 120000, /* of us, for the tappers */
	CHECK_MS = 120000,
	PREPARE_MS = 60000, /* of one step of an operator */
	NAMES = ROUND_ACTIVITIES,
};

/* How long the last events may take to the ledger. */
#define CHECK_WAIT_S "10"

/* What the operator does while it rains, at percent of the round. */
static const struct {
	unsigned percent;
	const char *verb;
	enum round_activity activity;
} steps[] = {
	{ 5, "preload", ACTIVITY_LATE },  { 10, "open", ACTIVITY_LATE },
	{ 35, "pause", ACTIVITY_SOLD },   { 38, "topup 1", ACTIVITY_SOLD },
	{ 42, "resume", ACTIVITY_SOLD },  { 50, "cancel", ACTIVITY_NEVER },
	{ 55, "topup 2", ACTIVITY_SOLD }, { 60, "rewind", ACTIVITY_LEFT },
	{ 75, "close", ACTIVITY_LEFT },
};
enum { STEPS = sizeof steps / sizeof steps[0] };

void rounds_init(struct rounds *r, struct world *w, uint64_t seed,
		 uint64_t rate)
{
	*r = (struct rounds){ .world = w, .seed = seed, .rate = rate };
	faults_init(&r->faults, w);
	r->tapped = json_object();
	r->checked = json_object();
}

/* Before the rain: activities that are open, and two that are not yet. */
static bool prepare(struct rounds *r, const struct activities *a)
{
	struct world *w = r->world;
	static const char *const open[] = { "preload", "open", NULL };
	static const char *const never[] = { "preload", NULL };

	for (int i = 0; i < NAMES; i++) {
		if (!activities_create(w, a, (enum round_activity)i,
				       PREPARE_MS)) {
			return false;
		}
	}
	return activities_steps(w, a, ACTIVITY_SOLD, open, PREPARE_MS) &&
	       activities_steps(w, a, ACTIVITY_LEFT, open, PREPARE_MS) &&
	       activities_steps(w, a, ACTIVITY_NEVER, never, PREPARE_MS);
}

static bool start_tappers(struct rounds *r, const struct activities *a)
{
	struct world *w = r->world;
	char program[PATH_BYTES], keys[PATH_BYTES], log[PATH_BYTES];
	char errors[PATH_BYTES], gateways[64], name[32];
	char list[ROUND_ACTIVITIES * ACTIVITY_NAME_BYTES];
	char users[24], connections[24], rate[24], seed[24], patience[24];
	const char *args[] = { program, "--gateways",    gateways,    "--keys",
			       keys,    "--activities",  list,        "--users",
			       users,   "--connections", connections, "--rate",
			       rate,    "--seed",        seed,        "--log",
			       log,     "--patience",    patience,    NULL };
	int rv;

	snprintf(program, sizeof program, "%s/fault_tappers", w->bin);
	snprintf(gateways, sizeof gateways, "127.0.0.1:%d,127.0.0.1:%d",
		 w->links[LINK_APPS_GATEWAY_1].proxy.port,
		 w->links[LINK_APPS_GATEWAY_2].proxy.port);
	world_path(w, "keys", keys);
	snprintf(list, sizeof list, "%s,%s,%s", a->names[ACTIVITY_SOLD],
		 a->names[ACTIVITY_LEFT], a->names[ACTIVITY_LATE]);
	snprintf(users, sizeof users, "%" PRIu64, a->users);
	snprintf(connections, sizeof connections, "%d", CONNECTIONS);
	snprintf(rate, sizeof rate, "%" PRIu64, r->rate);
	snprintf(seed, sizeof seed, "%" PRIu64,
		 (r->seed + r->played) % 1000000007);
	snprintf(name, sizeof name, "taps-%03zu.log", r->played);
	world_path(w, name, log);
	world_path(w, "tappers.log", errors);
	snprintf(patience, sizeof patience, "%d", PATIENCE_S);
	rv = child_start(&r->tappers, &w->loop, args, errors, true, NULL);
	if (rv != 0) {
		world_violation(w, "%s: %s", program, uv_strerror(rv));
	}
	return rv == 0;
}

/* Whether the rain may go on. */
static bool well(struct rounds *r)
{
	if (!r->tappers.running && r->world->violations == 0) {
		world_violation(r->world,
				"the tappers ended with %d, see tappers.log",
				r->tappers.code);
	}
	return r->world->violations == 0;
}

/* Until the round is over; what the operator did not get done is left, as
 * the return value: the index of the first such step. */
static size_t rain(struct rounds *r, const struct round *round,
		   const struct activities *a)
{
	struct world *w = r->world;
	uint64_t began = uv_now(&w->loop);
	uint64_t retry = 0;
	size_t next = 0;

	faults_start(&r->faults, round);
	while (well(r) && uv_now(&w->loop) < began + round->length_ms) {
		uint64_t now = uv_now(&w->loop);

		if (next < STEPS && now >= retry &&
		    now >= began + round->length_ms * steps[next].percent /
					    100) {
			if (!activities_has(a, steps[next].verb) ||
			    activities_step(w, a, steps[next].activity,
					    steps[next].verb)) {
				next++;
			} else {
				retry = uv_now(&w->loop) + 500;
			}
		}
		world_turn(w);
	}
	return next;
}

/* No new taps; every outcome becomes known. */
static bool settle(struct rounds *r)
{
	struct world *w = r->world;
	uint64_t end = uv_now(&w->loop) + SETTLE_MS;

	child_signal(&r->tappers, SIGTERM);
	while (!child_ended(&r->tappers)) {
		world_turn(w);
		if (uv_now(&w->loop) >= end) {
			child_signal(&r->tappers, SIGKILL);
		}
	}
	printf("tappers: %s", child_text(&r->tappers));
	summary_add_json(r->tapped, child_text(&r->tappers));
	if (r->tappers.code != 0) {
		world_violation(w,
				"the tappers ended with %d%s, see tappers.log",
				r->tappers.code,
				r->tappers.code == 3 ? ": open outcomes" : "");
	}
	return w->violations == 0;
}

/* Their names, with a comma between two. */
static void live_names(const struct activities *a, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < NAMES; i++) {
		if (a->live[i]) {
			used += (size_t)snprintf(out + used, size - used,
						 "%s%s", used > 0 ? "," : "",
						 a->names[i]);
		}
	}
}

/* The checker's word about the round. The last events may be on their way to
 * the ledger still, nothing else: what is wrong stays wrong. */
static bool compare(struct rounds *r, const struct activities *a)
{
	struct world *w = r->world;
	struct child c = { 0 };
	char program[PATH_BYTES], log[PATH_BYTES], name[32];
	char config[PATH_BYTES], ledger[PATH_BYTES], lists[PATH_BYTES];
	char live[ROUND_ACTIVITIES * ACTIVITY_NAME_BYTES];
	const char *args[] = { program,
			       "--log",
			       log,
			       "--config",
			       config,
			       "--ledger",
			       ledger,
			       "--wait",
			       CHECK_WAIT_S,
			       "--lists",
			       a->adopted < ROUND_ACTIVITIES ? lists
							     : "/dev/null",
			       "--live",
			       live,
			       a->names[ACTIVITY_SOLD],
			       a->names[ACTIVITY_LEFT],
			       a->names[ACTIVITY_LATE],
			       a->names[ACTIVITY_NEVER],
			       NULL };
	int code;

	snprintf(program, sizeof program, "%s/fault_check", w->bin);
	snprintf(name, sizeof name, "taps-%03zu.log", r->played);
	world_path(w, name, log);
	world_path(w, "rainctl.ini", config);
	world_path(w, "ledger.db", ledger);
	world_path(w, "lists", lists);
	live_names(a, live, sizeof live);
	code = world_run(w, &c, args, CHECK_MS);
	printf("%s", child_text(&c));
	summary_add_words(r->checked, child_text(&c));
	if (code != 0) {
		world_violation(w, "the checker ended with %d", code);
	}
	child_free(&c);
	return code == 0;
}

/* Say how long a part of the round took. */
static void took(struct rounds *r, const char *part, uint64_t *since)
{
	uint64_t now = uv_now(&r->world->loop);

	world_clock();
	printf("%s within %.1f s\n", part, (double)(now - *since) / 1000);
	*since = now;
}

/* What the operator did not get done while it rained. */
static bool finish_steps(struct rounds *r, const struct activities *a,
			 size_t next)
{
	for (; next < STEPS; next++) {
		const char *const verbs[] = { steps[next].verb, NULL };

		if (activities_has(a, verbs[0]) &&
		    !activities_steps(r->world, a, steps[next].activity, verbs,
				      PREPARE_MS)) {
			return false;
		}
	}
	return true;
}

/* The checker has seen the log of a round that was well: it may go. */
static void forget_log(struct rounds *r)
{
	char name[32], log[PATH_BYTES];

	snprintf(name, sizeof name, "taps-%03zu.log", r->played);
	world_path(r->world, name, log);
	(void)unlink(log);
}

static void count_made(struct rounds_made *m, const struct activities *a)
{
	for (int i = 0; i < NAMES; i++) {
		m->all++;
		m->live += a->live[i];
		m->drawn += a->live[i] && i != ACTIVITY_NEVER;
	}
	m->adopted += a->adopted < ROUND_ACTIVITIES;
	m->topped_up += a->more[0] > 0 || a->more[1] > 0;
}

bool rounds_play(struct rounds *r, const struct round *round)
{
	uint64_t since = uv_now(&r->world->loop);
	struct activities a;
	size_t next;

	activities_plan(&a, r->seed, r->played, r->rate, round->length_ms);
	count_made(&r->made, &a);
	if (!prepare(r, &a) || !start_tappers(r, &a)) {
		return false;
	}
	took(r, "prepared", &since);
	next = rain(r, round, &a);
	took(r, "it has rained", &since);
	if (!faults_heal(&r->faults)) {
		return false;
	}
	took(r, "all is healed", &since);
	if (!finish_steps(r, &a, next) || !settle(r)) {
		return false;
	}
	took(r, "every outcome is known", &since);
	if (!activities_end(r->world, &a, PREPARE_MS)) {
		return false;
	}
	took(r, "all is closed and booked", &since);
	if (!compare(r, &a)) {
		return false;
	}
	took(r, "all is compared", &since);
	forget_log(r);
	watch_round(&r->watch, r->world);
	r->played++;
	return r->world->violations == 0;
}

void rounds_close(struct rounds *r)
{
	child_signal(&r->tappers, SIGKILL);
	while (!child_ended(&r->tappers)) {
		world_turn(r->world);
	}
	child_free(&r->tappers);
	faults_close(&r->faults);
	json_decref(r->tapped);
	json_decref(r->checked);
}
