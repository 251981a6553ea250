/* How fast an app may go: buckets of connections, users, addresses and
 * activities. */
#include "base/clock.h"
#include "gateway/gateway_metrics.h"
#include "lib/gateway_rig.h"
#include "proto/proto_util.h"

static struct rig rig;
static struct app app;
static struct app other;

TestSuite(limits, .timeout = 60);

static void start(const char *const *settings)
{
	rig_start(&rig, false, settings);
	rig_ready(&rig);
}

static uint64_t grab_for(struct app *a, const char *user)
{
	return app_client_grab(&a->client, BYTES("quiz"), bytes_str(user), 0,
			       0);
}

static int code_of(struct app *a, uint64_t seq)
{
	RUN_UNTIL(&rig.loop, app_has(a, seq));
	return app_answer(a, seq)->code;
}

/* Grabs until one is limited, which comes after `burst` others. */
static uint64_t exhaust(struct app *a, unsigned burst)
{
	for (unsigned i = 0; i < burst; i++) {
		cr_assert_eq(code_of(a, app_grab(a, "quiz")),
			     RAIN__STATUS__WON);
	}
	return app_grab(a, "quiz");
}

/* No edge answers here: each grab would reach the service. */
#define NOTHING_REMEMBERED "gateway.remembered_max=0"

Test(limits, of_a_user)
{
	static const char *const settings[] = { NOTHING_REMEMBERED,
						"limit.user_rate=1",
						"limit.user_burst=3", NULL };
	const struct answer *answer;
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	seq = exhaust(&app, 3);
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	answer = app_answer(&app, seq);
	/* The time until there is a token, and up to half of it. */
	cr_assert_geq(answer->retry_after_ms, 1);
	cr_assert_leq(answer->retry_after_ms, 1500);
	cr_assert(answer->text[0] != '\0');
	cr_assert_eq(rig.grabs[0].grabs, 3); /* it never got there */
	cr_assert_eq(rig_refused(REFUSAL_USER_RATE), 1);
	/* Of a query that is not answered nothing is known. */
	seq = app_client_query_result(&app.client, BYTES("quiz"), BYTES(""), 0);
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__PENDING);
	cr_assert_geq(app_answer(&app, seq)->retry_after_ms, 1);
	seq = app_client_query_balance(&app.client, BYTES(""));
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	cr_assert_eq(rig.grabs[0].results + rig.ledger.balances, 0);
	/* A Ping is no request, and others have buckets of their own. */
	seq = app_client_ping(&app.client);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->kind, ANSWER_PONG);
	rig_hello(&rig, &other, "bob", false);
	cr_assert_eq(code_of(&other, app_grab(&other, "quiz")),
		     RAIN__STATUS__WON);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

/* F20: a limit of a user is one, whatever loops its connections are on. */
Test(limits, of_a_user_over_all_loops)
{
	static const char *const settings[] = { "gateway.loops=3",
						NOTHING_REMEMBERED,
						"limit.user_rate=1",
						"limit.user_burst=10", NULL };
	static struct app apps[6];
	unsigned won = 0;
	unsigned limited = 0;
	uint64_t begin;
	uint64_t took_s;

	start(settings);
	begin = clock_mono_ms();
	for (size_t i = 0; i < 6; i++) {
		rig_hello(&rig, &apps[i], "alice", false);
	}
	for (unsigned n = 0; n < 10; n++) {
		for (size_t i = 0; i < 6; i++) {
			(void)app_grab(&apps[i], "quiz");
		}
	}
	for (size_t i = 0; i < 6; i++) {
		RUN_UNTIL(&rig.loop, apps[i].count == 11);
		for (size_t n = 1; n < 11; n++) {
			int code = apps[i].answers[n].code;

			won += code == RAIN__STATUS__WON;
			limited += code == RAIN__STATUS__RATE_LIMITED;
		}
	}
	took_s = (clock_mono_ms() - begin) / 1000 + 1;
	cr_assert_eq(won + limited, 60);
	cr_assert_geq(won, 10);
	cr_assert_leq(won, 10 + took_s);
	cr_assert_eq(rig.grabs[0].grabs, won);
	for (size_t i = 0; i < 6; i++) {
		rig_close(&rig, &apps[i]);
	}
	/* To leave and come again is no way out of it. */
	rig_hello(&rig, &app, "alice", false);
	won = 0;
	for (unsigned n = 0; n < 15; n++) {
		won += code_of(&app, app_grab(&app, "quiz")) ==
		       RAIN__STATUS__WON;
	}
	took_s = (clock_mono_ms() - begin) / 1000 + 1;
	cr_assert_leq(won, took_s);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

/* Many users on one connection: each has a bucket, the address has none. */
Test(limits, of_the_users_of_a_front)
{
	static const char *const settings[] = {
		"limit.user_rate=1",       "limit.user_burst=2",
		"limit.connection_rate=1", "limit.connection_burst=1",
		"limit.address_rate=1",    "limit.address_burst=1",
		"limit.users_max=50",      NULL
	};
	uint64_t seq = 0;

	start(settings);
	rig_hello(&rig, &app, "edge", true);
	for (unsigned i = 0; i < 40; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "u%u", i);
		seq = grab_for(&app, user);
		(void)grab_for(&app, user);
		cr_assert_eq(code_of(&app, seq), RAIN__STATUS__WON);
	}
	seq = grab_for(&app, "u3");
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	cr_assert_eq(rig.grabs[0].grabs, 80);
	cr_assert_eq(rig_refused(REFUSAL_CONNECTION_RATE) +
			     rig_refused(REFUSAL_ADDRESS_RATE),
		     0);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

/* When the table is full of users who owe something, the newest is refused;
 * users who owe nothing make room. */
Test(limits, table_of_users)
{
	static const char *const settings[] = {
		"limit.user_rate=2", "limit.user_burst=1", "limit.users_max=3",
		"gateway.connections_max=2", NULL
	};
	const char *const first[] = { "a", "b", "c", "d", "e" };
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "edge", true);
	for (size_t i = 0; i < 5; i++) {
		(void)grab_for(&app, first[i]);
	}
	seq = grab_for(&app, "f");
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	cr_assert_geq(app_answer(&app, seq)->retry_after_ms, 1);
	cr_assert_eq(rig_refused(REFUSAL_LIMIT_TABLE), 1);
	cr_assert_eq(
		atomic_load(&gateway_metrics.limit_entries[LIMIT_USER].value),
		5);
	RUN_UNTIL(&rig.loop, rig.grabs[0].grabs == 5);
	do {
		app.count = 0;
		seq = grab_for(&app, "f");
	} while (code_of(&app, seq) != RAIN__STATUS__WON);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

Test(limits, of_an_activity)
{
	static const char *const settings[] = {
		NOTHING_REMEMBERED,       "limit.activity_rate=1",
		"limit.activity_burst=4", "gateway.retry_after=200ms",
		"limit.user_rate=0",      NULL
	};
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(code_of(&app, app_grab(&app, "quiz")),
			     RAIN__STATUS__WON);
		cr_assert_eq(code_of(&other, app_grab(&other, "quiz")),
			     RAIN__STATUS__WON);
	}
	seq = app_grab(&app, "quiz");
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	/* The next token may well be another's. */
	cr_assert_geq(app_answer(&app, seq)->retry_after_ms, 200);
	seq = app_grab(&other, "quiz");
	cr_assert_eq(code_of(&other, seq), RAIN__STATUS__RATE_LIMITED);
	cr_assert_eq(rig_refused(REFUSAL_ACTIVITY_RATE), 2);
	/* The next room is another one. */
	cr_assert_eq(code_of(&app, app_grab(&app, "other")), RAIN__STATUS__WON);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")),
		     RAIN__STATUS__RATE_LIMITED);
	cr_assert_eq(rig.grabs[0].grabs, 5);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

/* What the connection knows costs the services nothing, nor the activity. */
Test(limits, of_an_activity_spare_what_is_known)
{
	static const char *const settings[] = { "limit.activity_rate=1",
						"limit.activity_burst=1",
						NULL };

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")), RAIN__STATUS__WON);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")),
		     RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(rig.grabs[0].grabs, 1);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

/* Messages of every kind count, good ones or bad. */
Test(limits, of_a_connection)
{
	static const char *const settings[] = { "limit.connection_rate=1",
						"limit.connection_burst=6",
						NULL };
	Rain__ClientMessage empty = RAIN__CLIENT_MESSAGE__INIT;
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "alice", false); /* one */
	(void)app_client_ping(&app.client);
	(void)app_grab(&app, "quiz");
	(void)app_client_query_balance(&app.client, BYTES(""));
	empty.seq = 50;
	app_client_send(&app.client, &empty);
	(void)app_grab(&app, "not an id");
	RUN_UNTIL(&rig.loop, app.count == 6);
	cr_assert_eq(rig_refused(REFUSAL_CONNECTION_RATE), 0);
	seq = app_client_ping(&app.client);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->kind, ANSWER_ERROR);
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__ERROR_CODE__TOO_FAST);
	cr_assert_geq(app_answer(&app, seq)->retry_after_ms, 1);
	cr_assert_leq(app_answer(&app, seq)->retry_after_ms, 1500);
	seq = app_grab(&app, "quiz");
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	cr_assert_eq(rig.grabs[0].grabs, 1);
	cr_assert_eq(rig_refused(REFUSAL_CONNECTION_RATE), 2);
	/* One who waits is served. */
	seq = app_client_ping(&app.client);
	while (!app_has(&app, seq) ||
	       app_answer(&app, seq)->kind != ANSWER_PONG) {
		uint64_t until = clock_mono_ms() + 400;

		RUN_UNTIL(&rig.loop, clock_mono_ms() > until);
		seq = app_client_ping(&app.client);
		RUN_UNTIL(&rig.loop, app_has(&app, seq));
	}
	/* One who does not is closed, and told when to come back. */
	for (unsigned i = 0; i < 20; i++) {
		(void)app_client_ping(&app.client);
	}
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__TOO_FAST, "too long");
	cr_assert_eq(rig_refused(REFUSAL_CONNECTION_FLOOD), 1);
	cr_assert_geq(app_last(&app)->retry_after_ms, 1);
	rig_stop(&rig);
}

Test(limits, of_an_address)
{
	static const char *const settings[] = { "limit.address_rate=1",
						"limit.address_burst=4", NULL };
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	(void)app_client_ping(&app.client);
	(void)app_client_ping(&other.client);
	RUN_UNTIL(&rig.loop, app.count == 2 && other.count == 2);
	seq = app_grab(&app, "quiz");
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__RATE_LIMITED);
	seq = app_grab(&other, "quiz");
	cr_assert_eq(code_of(&other, seq), RAIN__STATUS__RATE_LIMITED);
	cr_assert_eq(rig_refused(REFUSAL_ADDRESS_RATE), 2);
	cr_assert_eq(rig.grabs[0].grabs, 0);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

/* Not all come back at the same moment. */
Test(limits, the_wait_is_by_chance)
{
	static const char *const settings[] = { "limit.activity_rate=1",
						"limit.activity_burst=1",
						"gateway.retry_after=1000ms",
						"limit.user_rate=0", NULL };
	uint32_t least = UINT32_MAX;
	uint32_t most = 0;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig.grabs[0].status = RAIN__STATUS__SOLD_OUT;
	for (unsigned i = 0; i < 60; i++) {
		uint64_t seq = app_grab(&app, "quiz");

		if (code_of(&app, seq) == RAIN__STATUS__RATE_LIMITED) {
			uint32_t ms = app_answer(&app, seq)->retry_after_ms;

			least = ms < least ? ms : least;
			most = ms > most ? ms : most;
		}
	}
	cr_assert_geq(least, 1000);
	cr_assert_leq(most, 1500);
	/* All within a fifth of the range: once in 10^30. */
	cr_assert_gt(most - least, 100);
	rig_close(&rig, &app);
	rig_stop(&rig);
}
