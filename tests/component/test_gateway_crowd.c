/* Who may connect, when there are many: Hellos, addresses, keys. */
#include <sys/socket.h>

#include "base/clock.h"
#include "gateway/gateway_metrics.h"
#include "lib/gateway_rig.h"

static struct rig rig;
static struct app app;
static struct app other;
static struct app third;

TestSuite(crowd, .timeout = 60);

static void start(const char *const *settings)
{
	rig_start(&rig, false, settings);
	rig_ready(&rig);
}

static int code_of(struct app *a, uint64_t seq)
{
	RUN_UNTIL(&rig.loop, app_has(a, seq));
	return app_answer(a, seq)->code;
}

static uint64_t say_hello(struct app *a, const char *user)
{
	struct buf token =
		rig_token(&rig, user, false, clock_wall_ms() + 600000);
	uint64_t seq = app_client_hello(&a->client, buf_live(&token));

	buf_close(&token);
	return seq;
}

Test(crowd, hellos_in_all)
{
	static const char *const settings[] = { "limit.hello_rate=1",
						"limit.hello_burst=2",
						"limit.reconnect_spread=4s",
						NULL };
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	rig_connect(&rig, &third);
	(void)say_hello(&third, "carol");
	rig_expect_end(&rig, &third, RAIN__ERROR_CODE__TOO_FAST, "Hello");
	cr_assert_geq(app_last(&third)->retry_after_ms, 1);
	cr_assert_leq(app_last(&third)->retry_after_ms, 1500 + 4001);
	cr_assert_eq(rig_refused(REFUSAL_HELLO_RATE), 1);
	/* A token is not renewed just now, and not lost either. */
	seq = say_hello(&app, "alice");
	cr_assert_eq(code_of(&app, seq), RAIN__ERROR_CODE__TOO_FAST);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")), RAIN__STATUS__WON);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

/* One user who renews a token without end takes no Hellos from the others. */
Test(crowd, hellos_of_one_user_are_not_those_of_all)
{
	static const char *const settings[] = { "limit.user_rate=1",
						"limit.user_burst=3",
						"limit.hello_rate=1",
						"limit.hello_burst=20", NULL };
	unsigned renewed = 0;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	for (unsigned i = 0; i < 30; i++) {
		uint64_t seq = say_hello(&app, "alice");

		RUN_UNTIL(&rig.loop, app_has(&app, seq));
		renewed += app_answer(&app, seq)->kind == ANSWER_HELLO;
	}
	cr_assert_geq(renewed, 3);
	cr_assert_leq(renewed, 15);
	cr_assert_geq(rig_refused(REFUSAL_USER_RATE), 15);
	rig_hello(&rig, &other, "bob", false);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

Test(crowd, hellos_of_an_address)
{
	static const char *const settings[] = { "limit.address_hello_rate=1",
						"limit.address_hello_burst=1",
						NULL };

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_connect(&rig, &other);
	(void)say_hello(&other, "bob");
	rig_expect_end(&rig, &other, RAIN__ERROR_CODE__TOO_FAST, "address");
	cr_assert_eq(rig_refused(REFUSAL_ADDRESS_HELLO_RATE), 1);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

Test(crowd, connections_of_an_address)
{
	static const char *const settings[] = {
		"limit.address_connections_max=2", NULL
	};

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	rig_connect(&rig, &third);
	rig_expect_end(&rig, &third, RAIN__ERROR_CODE__UNAVAILABLE, "address");
	cr_assert_geq(app_last(&third)->retry_after_ms, 1);
	cr_assert_eq(rig_refused(REFUSAL_ADDRESS_CONNECTIONS), 1);
	/* A place that was left is free again. */
	rig_close(&rig, &app);
	RUN_UNTIL(&rig.loop,
		  atomic_load(&gateway_metrics.connections.value) == 1);
	rig_hello(&rig, &third, "carol", false);
	rig_close(&rig, &third);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

/* Strangers who connect and say nothing go, whoever says Hello stays. */
Test(crowd, connections_without_a_hello)
{
	static const char *const settings[] = { "limit.greeting_max=2", NULL };
	static struct app fourth;

	start(settings);
	rig_connect(&rig, &app);
	rig_connect(&rig, &other);
	RUN_UNTIL(&rig.loop, atomic_load(&gateway_metrics.greeting.value) == 2);
	rig_hello(&rig, &third, "carol", false);
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__UNAVAILABLE, "Hello");
	cr_assert_geq(app_last(&app)->retry_after_ms, 1);
	cr_assert(!other.closed);
	rig_hello(&rig, &fourth, "dora", false);
	cr_assert(!other.closed);
	(void)say_hello(&other, "bob");
	RUN_UNTIL(&rig.loop, other.count == 1);
	cr_assert_eq(app_last(&other)->kind, ANSWER_HELLO);
	cr_assert_eq(rig_refused(REFUSAL_GREETING), 1);
	RUN_UNTIL(&rig.loop, atomic_load(&gateway_metrics.greeting.value) == 0);
	rig_close(&rig, &other);
	rig_close(&rig, &third);
	rig_close(&rig, &fourth);
	rig_stop(&rig);
}

/* F67: those whom a gateway sends away come to the others over some time. */
Test(crowd, a_gateway_that_stops_spreads_its_apps)
{
	enum { APPS = 40 };
	static const char *const settings[] = { "limit.reconnect_spread=10s",
						NULL };
	static struct app apps[APPS];
	uint32_t least = UINT32_MAX;
	uint32_t most = 0;

	start(settings);
	for (size_t i = 0; i < APPS; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "u%zu", i);
		rig_hello(&rig, &apps[i], user, false);
	}
	rig_drain(&rig);
	for (size_t i = 0; i < APPS; i++) {
		uint32_t ms;

		rig_expect_end(&rig, &apps[i], RAIN__ERROR_CODE__UNAVAILABLE,
			       "stopping");
		ms = app_last(&apps[i])->retry_after_ms;
		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	cr_assert_geq(least, 1);
	cr_assert_leq(most, 10001);
	/* All of 40 within half of the range: once in 10^10. */
	cr_assert_gt(most - least, 5000);
	rig_stop(&rig);
}

/* SIGHUP with other limits: nobody is closed, all loops go by them. */
Test(crowd, limits_are_read_again)
{
	static const char *const settings[] = { "gateway.loops=2",
						"gateway.remembered_max=0",
						"limit.user_rate=0", NULL };

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	for (unsigned i = 0; i < 20; i++) {
		cr_assert_eq(code_of(&app, app_grab(&app, "quiz")),
			     RAIN__STATUS__WON);
	}
	rig.options.user_rate = 1;
	rig.options.user_burst = 1;
	gateway_reload(rig.gateway);
	while (code_of(&app, app_grab(&app, "quiz")) == RAIN__STATUS__WON) {
		app.count = 0;
	}
	while (code_of(&other, app_grab(&other, "quiz")) == RAIN__STATUS__WON) {
		other.count = 0;
	}
	/* And back: what was owed under the old ones is forgotten. */
	rig.options.user_rate = 0;
	gateway_reload(rig.gateway);
	while (code_of(&app, app_grab(&app, "quiz")) != RAIN__STATUS__WON) {
		app.count = 0;
	}
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

#define NEW_KEY \
	"new HS256 user eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg=\n"
#define OLD_KEY "app HS256 user MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"

/* A rotation without a closed connection, and a key that was lost. */
Test(crowd, a_key_is_rotated)
{
	static const char *const settings[] = { "gateway.loops=2",
						"gateway.remembered_max=0",
						NULL };
	uint64_t seq;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	rig_write_keys(&rig, NEW_KEY OLD_KEY);
	gateway_reload(rig.gateway);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")), RAIN__STATUS__WON);
	/* Alice has a token of the new key, Bob does not. */
	seq = say_hello(&app, "alice");
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->kind, ANSWER_HELLO);
	rig.grabs[0].mode = FAKE_HOLD;
	seq = app_grab(&other, "quiz");
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	rig_write_keys(&rig, NEW_KEY);
	gateway_reload(rig.gateway);
	while (code_of(&other,
		       app_client_query_balance(&other.client, BYTES(""))) !=
	       RAIN__STATUS__DENIED) {
	}
	/* What was in flight is answered. */
	fake_release(&rig.grabs[0]);
	cr_assert_eq(code_of(&other, seq), RAIN__STATUS__WON);
	seq = app_grab(&other, "quiz");
	cr_assert_eq(code_of(&other, seq), RAIN__STATUS__DENIED);
	cr_assert(strstr(app_answer(&other, seq)->text, "key") != NULL);
	cr_assert_geq(rig_refused(REFUSAL_KEY_REMOVED), 2);
	/* The same connection, a new token. */
	seq = say_hello(&other, "bob");
	RUN_UNTIL(&rig.loop, app_has(&other, seq));
	cr_assert_eq(app_answer(&other, seq)->kind, ANSWER_HELLO);
	cr_assert_eq(code_of(&other, app_grab(&other, "quiz")),
		     RAIN__STATUS__WON);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")), RAIN__STATUS__WON);
	cr_assert(!app.closed && !other.closed);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

static struct buf token_of(const char *user, const char *activity)
{
	struct token_claims claims = { .user_len = strlen(user),
				       .activity_len = strlen(activity),
				       .expires_ms = clock_wall_ms() + 600000 };
	struct buf token;
	struct buf why;

	memcpy(claims.user, user, claims.user_len);
	memcpy(claims.activity, activity, claims.activity_len);
	buf_init(&token);
	buf_init(&why);
	cr_assert_eq(token_sign_claims(rig.keys, NULL, &claims, &token, &why),
		     0);
	buf_close(&why);
	return token;
}

/* F21: the credential of alice for one room opens no other, and nobody else
 * can use it on a connection of their own. */
Test(crowd, a_token_for_one_activity)
{
	struct buf token;
	uint64_t seq;

	start(NULL);
	token = token_of("alice", "quiz");
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&token));
	RUN_UNTIL(&rig.loop, app.count == 1);
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")), RAIN__STATUS__WON);
	seq = app_grab(&app, "other");
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__DENIED);
	cr_assert(strstr(app_answer(&app, seq)->text, "activity") != NULL);
	seq = app_client_query_result(&app.client, BYTES("other"), BYTES(""),
				      0);
	cr_assert_eq(code_of(&app, seq), RAIN__STATUS__DENIED);
	cr_assert_eq(rig.grabs[0].grabs, 1);
	cr_assert_eq(rig.grabs[0].results, 0);
	cr_assert_eq(rig_refused(REFUSAL_OTHER_ACTIVITY), 2);
	/* She may name herself as whom she likes: only a front is heard. */
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES("carol"), 0, 0);
	cr_assert_eq(code_of(&app, seq), RAIN__ERROR_CODE__BAD_MESSAGE);
	/* Carol shows it: she would be alice, and that she is not. */
	rig_hello(&rig, &other, "carol", false);
	(void)app_client_hello(&other.client, buf_live(&token));
	rig_expect_end(&rig, &other, RAIN__ERROR_CODE__BAD_TOKEN,
		       "another user");
	/* A renewal says anew what the connection is good for. */
	buf_close(&token);
	token = token_of("alice", "other");
	seq = app_client_hello(&app.client, buf_live(&token));
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(code_of(&app, app_grab(&app, "quiz")),
		     RAIN__STATUS__DENIED);
	cr_assert_eq(code_of(&app, app_grab(&app, "other")), RAIN__STATUS__WON);
	buf_close(&token);
	rig_close(&rig, &app);
	rig_stop(&rig);
}
