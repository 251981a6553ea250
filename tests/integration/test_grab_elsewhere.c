/* What is answered when Redis does not have the activity. */
#include <criterion/criterion.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;
static struct rig_got got;

static void start(void)
{
	rig_open(&rig);
	rig_service(&rig, 0, false, NULL);
	/* As if the set had just been looked through. */
	uv_update_time(&rig.loop);
	rig.services[0].env.scanned_ms = uv_now(&rig.loop);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(grab_elsewhere, .init = start, .fini = stop, .timeout = 60);

static int grab(const char *user)
{
	rig_grab(&rig, 0, "a", user, &got);
	return got.status;
}

static int result(const char *user)
{
	rig_result(&rig, 0, "a", user, &got);
	return got.status;
}

Test(grab_elsewhere, nobody_knows_it)
{
	cr_assert_eq(grab("u"), RAIN__STATUS__NO_SUCH_ACTIVITY);
	cr_assert_eq(result("u"), RAIN__STATUS__NO_SUCH_ACTIVITY);
	/* A storm on a wrong id does not become a storm on the ledger. */
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(grab("v"), RAIN__STATUS__NO_SUCH_ACTIVITY);
	}
	cr_assert_leq(rig.ledger.totals_asked, 2);
}

Test(grab_elsewhere, ledger_knows_it_so_redis_lost_it)
{
	rig.ledger.known = true;
	cr_assert_eq(grab("u"), RAIN__STATUS__BUSY);
	cr_assert_eq(result("u"), RAIN__STATUS__PENDING);
}

Test(grab_elsewhere, ledger_can_not_be_asked)
{
	rig.ledger.away = true;
	cr_assert_eq(grab("u"), RAIN__STATUS__BUSY);
	cr_assert_eq(result("u"), RAIN__STATUS__PENDING);
}

Test(grab_elsewhere, set_was_not_looked_through)
{
	rig.services[0].env.scanned_ms = 0;
	cr_assert_eq(grab("u"), RAIN__STATUS__BUSY);
	cr_assert_eq(rig.ledger.totals_asked, 0);
}

Test(grab_elsewhere, listed_one_is_there_soon)
{
	struct activity *a =
		directory_get(rig.services[0].env.directory, BYTES("a"));

	a->listed = true;
	cr_assert_eq(grab("u"), RAIN__STATUS__BUSY);
	cr_assert_eq(rig.ledger.totals_asked, 0);
	a->listed = false;
}

static void unlink_a(void)
{
	lua_open(&rig.redis, "a", 3);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "counted", "", "300", "3");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "settled", "", "r");
	redis_server_ask(&rig.redis, "HSET rain:{a}:relay claims 0 events 6");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "unlink", "");
	rig.ledger.known = true;
	rig.ledger.record_user = "w";
}

Test(grab_elsewhere, unlinked_winner_is_told_by_the_ledger)
{
	unlink_a();
	cr_assert_eq(grab("w"), RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_str_eq(got.packet, "77");
	cr_assert_eq(got.amount_cents, 1221);
	cr_assert_eq(result("w"), RAIN__STATUS__ALREADY_GRABBED);
}

Test(grab_elsewhere, unlinked_no_is_final_only_after_the_refund)
{
	unlink_a();
	cr_assert_eq(grab("u"), RAIN__STATUS__PENDING);
	rig.ledger.refund_done = true;
	cr_assert_eq(grab("u"), RAIN__STATUS__ENDED);
	cr_assert_eq(result("u"), RAIN__STATUS__ENDED);
	rig.ledger.away = true;
	cr_assert_eq(grab("u"), RAIN__STATUS__PENDING);
	cr_assert_eq(grab("w"), RAIN__STATUS__PENDING);
}
