/* Who may speak on a connection, and for how long. */
#include "base/clock.h"
#include "lib/gateway_rig.h"
#include "proto/proto_util.h"

static struct rig rig;
static struct app app;

static void setup(void)
{
	rig_start(&rig, false, NULL);
	rig_ready(&rig);
}

static void teardown(void)
{
	rig_stop(&rig);
}

TestSuite(hello, .init = setup, .fini = teardown, .timeout = 60);

Test(hello, hello_comes_first)
{
	uint64_t seq;

	rig_connect(&rig, &app);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	rig_expect_error(&rig, &app, 0, seq, RAIN__ERROR_CODE__HELLO_FIRST);
	seq = app_client_ping(&app.client);
	rig_expect_error(&rig, &app, 1, seq, RAIN__ERROR_CODE__HELLO_FIRST);
	rig_close(&rig, &app);
}

Test(hello, tokens_that_are_refused)
{
	struct buf token;

	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, BYTES(""));
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_TOKEN, "no token");
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, BYTES("alice"));
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_TOKEN, "not a JWT");
	rig_connect(&rig, &app);
	token = rig_token(&rig, "alice", false, clock_wall_ms() - 1000);
	(void)app_client_hello(&app.client, buf_live(&token));
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_TOKEN, "expired");
	buf_close(&token);
}

Test(hello, another_protocol)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;

	hello.protocol = 2;
	m.seq = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	rig_connect(&rig, &app);
	app_client_send(&app.client, &m);
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_PROTOCOL,
		       "protocol 1");
}

Test(hello, a_token_expires_and_is_renewed)
{
	int64_t end = (clock_wall_ms() / 1000 + 2) * 1000;
	struct buf token = rig_token(&rig, "alice", false, end);
	uint64_t seq;

	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&token));
	RUN_UNTIL(&rig.loop, app.count == 1);
	buf_close(&token);
	RUN_UNTIL(&rig.loop, clock_wall_ms() > end);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__DENIED);
	seq = app_client_query_balance(&app.client, BYTES(""));
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__DENIED);
	cr_assert_eq(rig.grabs[0].calls + rig.ledger.balances, 0);

	token = rig_token(&rig, "alice", false, clock_wall_ms() + 60000);
	seq = app_client_hello(&app.client, buf_live(&token));
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->kind, ANSWER_HELLO);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	buf_close(&token);
	rig_close(&rig, &app);
}

Test(hello, a_connection_stays_with_its_user)
{
	struct buf token =
		rig_token(&rig, "bob", false, clock_wall_ms() + 60000);

	rig_hello(&rig, &app, "alice", false);
	(void)app_client_hello(&app.client, buf_live(&token));
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_TOKEN, "another user");
	buf_close(&token);
}

Test(hello, keys_are_read_again)
{
	struct buf old =
		rig_token(&rig, "alice", false, clock_wall_ms() + 60000);
	struct buf new;

	rig_write_keys(&rig, "other HS256 user eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh"
			     "4eHh4eHh4eHh4eHh4eHg=\n");
	new = rig_token(&rig, "carol", false, clock_wall_ms() + 60000);
	gateway_reload(rig.gateway);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&new));
	RUN_UNTIL(&rig.loop, app.count == 1);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	rig_close(&rig, &app);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&old));
	rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_TOKEN, "kid");
	buf_close(&old);

	/* A bad file changes nothing. */
	rig_write_keys(&rig, "nonsense\n");
	gateway_reload(rig.gateway);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&new));
	RUN_UNTIL(&rig.loop, app.count == 1);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	rig_close(&rig, &app);
	buf_close(&new);
}

/* What cannot work is refused at the start, and leaves nothing behind. */
static void expect_no_start(const char *key, const char *value)
{
	struct gateway_options options = rig.options;
	struct gateway *g = NULL;

	if (strcmp(key, "keys") == 0) {
		options.keys = value;
	} else if (strcmp(key, "grab") == 0) {
		options.grab_addresses = value;
	} else {
		options.listen = value;
	}
	cr_assert_neq(gateway_new(&rig.loop, &options, &g), 0, "%s", key);
	cr_assert(g == NULL);
}

Test(hello, a_gateway_that_cannot_work_does_not_start)
{
	expect_no_start("keys", "");
	expect_no_start("keys", "/nonexistent/keys");
	expect_no_start("grab", "no port");
	expect_no_start("listen", gateway_address(rig.gateway));
}
