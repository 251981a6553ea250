/* Somebody else writes into an activity's keys: nobody is ever told a wrong
 * packet or a wrong no, no packet is given twice; it is halted with the reason
 * where money could be wrong, and goes on by itself where it could not. F15,
 * F49. Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "lib/stranger_changes.h"
#include "rain/gateway.pb-c.h"

enum {
	PACKETS = 12,
	WINNERS = CHANGE_WINNERS,
	ROUNDS = 3,
	SOON_MS = 15000,
	TOGETHER = 10, /* changes with one service */
};

static struct grab_rig rig;

/* One activity and everybody who grabbed there. */
struct rain {
	const struct change *change;
	enum state state;
	bool live;
	struct change_words words;
	char packet[WINNERS][64];
	char owner[PACKETS][16]; /* of the packet at i, "" nobody */
	int users;               /* new ones so far */
};

static void impatient(struct grab_options *o)
{
	o->patience_ms = 100;
}

static void start(void)
{
	rig_open(&rig);
	rig.ledger.passed = true;
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(stranger, .init = start, .fini = stop, .timeout = 280);

static const char *where(const struct rain *r)
{
	static char text[160];

	(void)snprintf(text, sizeof text, "%s, in %s", r->change->name,
		       state_names[r->state]);
	return text;
}

/* ---- Commands ---- */

/* The last word is the rest, so that a text may have spaces in it: it has
 * none. */
static void run(const struct rain *r, const char *const *commands, size_t max)
{
	for (size_t i = 0; i < max && commands[i] != NULL; i++) {
		char filled[512];
		char *save = NULL;
		const char *argv[12];
		int argc = 0;

		change_fill(&r->words, commands[i], filled, sizeof filled);
		for (char *word = strtok_r(filled, " ", &save); word != NULL;
		     word = strtok_r(NULL, " ", &save)) {
			cr_assert_lt(argc, 12);
			argv[argc++] = word;
		}
		cr_assert(strncmp(redis_server_askv(&rig.redis, argc, argv),
				  "(error)", 7) != 0,
			  "%s: %s", where(r), rig.redis.text);
	}
}

/* ---- People ---- */

static bool has_packet(int status)
{
	return status == RAIN__STATUS__WON ||
	       status == RAIN__STATUS__ALREADY_GRABBED;
}

static bool is_wait(int status)
{
	return status == RAIN__STATUS__BUSY ||
	       status == RAIN__STATUS__PENDING ||
	       status == RAIN__STATUS__PAUSED ||
	       status == RAIN__STATUS__NOT_STARTED;
}

/* Whoever is told a packet has it alone, and it is worth 1.00. */
static void judge(struct rain *r, const char *user, const struct rig_got *got)
{
	long long i = strtoll(got->packet, NULL, 10) - r->words.first_packet;

	if (!has_packet(got->status)) {
		return;
	}
	cr_assert(i >= 0 && i < PACKETS, "%s: packet %s", where(r),
		  got->packet);
	cr_assert_eq(got->amount_cents, 100, "%s: %s is told %d cents",
		     where(r), user, (int)got->amount_cents);
	cr_assert(r->owner[i][0] == '\0' || strcmp(r->owner[i], user) == 0,
		  "%s: packet %s of %s is told to %s", where(r), got->packet,
		  r->owner[i], user);
	(void)snprintf(r->owner[i], sizeof r->owner[i], "%s", user);
}

static void old_winner(struct rain *r, int i, struct rig_got *got,
		       bool question)
{
	char user[16];

	(void)snprintf(user, sizeof user, "w%d", i);
	if (question) {
		rig_result(&rig, 0, r->words.id, user, got);
	} else {
		rig_grab(&rig, 0, r->words.id, user, got);
	}
	judge(r, user, got);
	if (has_packet(got->status)) {
		cr_assert_str_eq(got->packet, r->packet[i], "%s: %s", where(r),
				 user);
	} else {
		cr_assert(is_wait(got->status), "%s: %s is told %d (%s)",
			  where(r), user, got->status, got->message);
	}
}

static void new_user(struct rain *r, struct rig_got *got)
{
	char user[16];

	(void)snprintf(user, sizeof user, "n%d", r->users++);
	rig_grab(&rig, 0, r->words.id, user, got);
	judge(r, user, got);
	cr_assert(has_packet(got->status) || is_wait(got->status) ||
			  (got->status == RAIN__STATUS__ENDED &&
			   r->state == CLOSED) ||
			  (got->status == RAIN__STATUS__SOLD_OUT &&
			   r->users > PACKETS - WINNERS),
		  "%s: %s is told %d (%s)", where(r), user, got->status,
		  got->message);
}

static bool is_halted(const struct rain *r)
{
	return strcmp(lua_meta(&rig.redis, r->words.id, "state"), "HALTED") ==
	       0;
}

/* ---- The course of one ---- */

static void set_up(struct rain *r)
{
	char four[8];

	r->words.state = state_names[r->state];
	r->words.first_packet =
		r->live ? strtoll(LUA_LIVE_BASE, NULL, 10) : 1000;
	if (r->live) {
		lua_open_live(&rig.redis, r->words.id, PACKETS, PACKETS * 100,
			      100, 100);
	} else {
		lua_open(&rig.redis, r->words.id, PACKETS);
	}
	redis_server_ask(&rig.redis, "SADD rain:activities %s", r->words.id);
	for (int i = 0; i < WINNERS; i++) {
		struct rig_got got;
		char user[16];

		(void)snprintf(user, sizeof user, "w%d", i);
		rig_grab(&rig, 0, r->words.id, user, &got);
		cr_assert_eq(got.status, RAIN__STATUS__WON, "%s", where(r));
		judge(r, user, &got);
		(void)snprintf(r->packet[i], sizeof r->packet[i], "%s",
			       got.packet);
		(void)snprintf(
			r->words.claims[i], sizeof r->words.claims[i], "%s",
			redis_server_ask(&rig.redis, "HGET rain:{%s}:users %s",
					 r->words.id, user));
	}
	(void)snprintf(four, sizeof four, "%d", WINNERS);
	rig_until_relay(&rig, r->words.id, "claims", four);
	if (r->state == PAUSED) {
		EXPECT("OK", &rig.redis, &lua_activity, r->words.id, "pause",
		       "", "");
		rig_until_relay(&rig, r->words.id, "events", "4");
	} else if (r->state == CLOSED) {
		EXPECT("OK", &rig.redis, &lua_activity, r->words.id, "close",
		       "", "");
		rig_until_meta(&rig, r->words.id, "leftover_cents", "800");
		rig_until_relay(&rig, r->words.id, "events", "5");
	}
	(void)snprintf(r->words.revision, sizeof r->words.revision, "%s",
		       lua_meta(&rig.redis, r->words.id, "revision"));
}

/* Half of those in flight are there before the change, half behind it. */
static void change(struct rain *r)
{
	static struct rig_got flying[2];
	static const char *const users[2] = { "f0", "f1" };

	rig_put(&rig, 0, LANE_GRAB, r->words.id, users[0], &flying[0]);
	rig_pump(&rig, 0, LANE_GRAB, r->words.id);
	uv_run(&rig.loop, UV_RUN_NOWAIT);
	rig_put(&rig, 0, LANE_GRAB, r->words.id, users[1], &flying[1]);
	rig_pump(&rig, 0, LANE_GRAB, r->words.id);
	run(r, r->change->commands, 4);
	for (int i = 0; i < 2; i++) {
		RUN_UNTIL(&rig.loop, flying[i].done);
		judge(r, users[i], &flying[i]);
	}
}

/* New users come as long as there are packets for them. */
static void ask_everybody(struct rain *r)
{
	struct rig_got got;

	uv_run(&rig.loop, UV_RUN_ONCE);
	for (int i = 0; i < WINNERS; i++) {
		old_winner(r, i, &got, false);
		old_winner(r, i, &got, true);
	}
	if (r->users < PACKETS - WINNERS - 2) {
		new_user(r, &got);
	}
}

static void expect_halted(struct rain *r)
{
	struct turns *turns = turns_start(&rig.loop, SOON_MS);
	const char *reason;
	char expected[200] = "";
	struct rig_got got;

	if (r->change->reason != NULL) {
		change_fill(&r->words, r->change->reason, expected,
			    sizeof expected);
	}
	while (!is_halted(r) && !turns->late) {
		if (r->change->again) {
			run(r, r->change->commands, 4);
		}
		ask_everybody(r);
	}
	cr_assert(!turns->late, "%s: not halted, %s", where(r),
		  lua_meta(&rig.redis, r->words.id, "state"));
	turns_stop(turns);
	reason = lua_meta(&rig.redis, r->words.id, "reason");
	cr_assert(strlen(reason) > 10 && strstr(reason, expected) != NULL,
		  "%s: halted because %s", where(r), reason);
	new_user(r, &got);
	cr_assert(!has_packet(got.status), "%s: halted, and %s", where(r),
		  got.packet);
	ask_everybody(r);
}

/* It is as if nothing had been. */
static void expect_going_on(struct rain *r)
{
	struct turns *turns = turns_start(&rig.loop, SOON_MS);
	struct rig_got got;
	bool all;

	do {
		all = true;
		for (int i = 0; i < WINNERS; i++) {
			old_winner(r, i, &got, i % 2 != 0);
			all = all && has_packet(got.status);
		}
		r->users = r->users < PACKETS - WINNERS - 2 ? r->users : 0;
		new_user(r, &got);
		all = all && (r->state != OPEN || has_packet(got.status));
	} while (!all && !turns->late);
	cr_assert(all, "%s: does not go on, %d, %s", where(r), got.status,
		  redis_server_ask(&rig.redis, "HGETALL rain:{%s}:meta",
				   r->words.id));
	turns_stop(turns);
	cr_assert_str_eq(lua_meta(&rig.redis, r->words.id, "state"),
			 state_names[r->state], "%s: %s", where(r),
			 lua_meta(&rig.redis, r->words.id, "reason"));
}

/* What was won is published, whatever was written. */
static void expect_published(struct rain *r)
{
	char n[24];

	(void)snprintf(n, sizeof n, "%s",
		       redis_server_ask(&rig.redis, "LLEN rain:{%s}:claims",
					r->words.id));
	rig_until_relay(&rig, r->words.id, "claims", n);
}

static void play(const struct change *c, enum state state, bool live)
{
	static int number;
	struct rain r = { .change = c, .state = state, .live = live };

	(void)snprintf(r.words.id, sizeof r.words.id, "a%d", number++);
	set_up(&r);
	change(&r);
	switch (c->fate[state]) {
	case HALTS:
		expect_halted(&r);
		return;
	case MENDED:
		for (int i = 0; i < ROUNDS; i++) {
			ask_everybody(&r);
		}
		cr_assert(!is_halted(&r), "%s: %s", where(&r),
			  lua_meta(&rig.redis, r.words.id, "reason"));
		break;
	default:
		break;
	}
	if (c->undo[0] == NULL || c->fate[state] == MENDED) {
		run(&r, c->undo, 3);
		expect_going_on(&r);
		expect_published(&r);
		return;
	}
	expect_going_on(&r);
	run(&r, c->undo, 3);
	expect_published(&r);
}

/* Another service now and then: it need not remember them all. */
static void play_all(const struct change *first, size_t n, bool live)
{
	for (size_t i = 0; i < n; i++) {
		if (i % TOGETHER == 0) {
			rig_service(&rig, 0, true, impatient);
		}
		for (int state = OPEN; state < STATES; state++) {
			if (first[i].fate[state] != SKIP) {
				play(&first[i], (enum state)state, live);
			}
		}
		if (i % TOGETHER == TOGETHER - 1) {
			rig_kill(&rig, 0);
			redis_server_ask(&rig.redis, "FLUSHALL");
		}
	}
}

Test(stranger, writes_into_the_keys)
{
	play_all(changes, change_count, false);
}

Test(stranger, writes_into_the_keys_of_a_live_activity)
{
	play_all(changes + LIST_CHANGES, change_count - LIST_CHANGES, true);
}

Test(stranger, writes_into_what_only_a_live_activity_has)
{
	play_all(live_changes, live_change_count, true);
}
