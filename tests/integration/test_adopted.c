/* A list that another program has made: every claim is what lay there when it was
 * opened, or nobody is told it and nobody is paid. Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "grab-service/roll.h"
#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

enum { FEW = 12, MANY = 2500 };

/* sha256sum of the packets, a line each. */
#define DIGEST_FEW \
	"079bf45f048633c024db36d8e70483cf808f709276e0febaf103287e41d3f37c"
#define DIGEST_MANY \
	"02ee99dd1f39bbdc3be73d463a57b724a73fd0ab04d0ba4834cec409cfe77320"

static struct grab_rig rig;

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(adopted, .init = start, .fini = stop, .timeout = 120);

#define redis(...) redis_server_ask(&rig.redis, __VA_ARGS__)

/* Packet n has n.00: 1 is taken first. */
static void open_a(int count, const char *digest)
{
	char number[16], text[80];
	long long cents = 0;

	for (int i = 1; i <= count; i++) {
		(void)snprintf(
			text, sizeof text,
			"{\"redPacketId\":\"p:%d\",\"amount\":\"%d.00\"}", i,
			i);
		redis("LPUSH rain:{a}:packets %s", text);
		cents += i * 100;
	}
	lua_adopt(&rig.redis, "a", count, cents);
	(void)snprintf(number, sizeof number, "%d", count);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "open", "", number,
	       digest);
	redis("SADD rain:activities a");
}

static struct activity *known(int i)
{
	return directory_find(rig.services[i].env.directory, BYTES("a"));
}

static bool has_roll(int i)
{
	return known(i) != NULL && known(i)->roll != NULL;
}

/* User un grabs, and gets packet n. */
static void grab(int i, int n)
{
	struct rig_got got;
	char user[16], packet[16];

	(void)snprintf(user, sizeof user, "u%d", n);
	(void)snprintf(packet, sizeof packet, "p:%d", n);
	rig_grab(&rig, i, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON, "%s: %d", user, got.status);
	cr_assert_str_eq(got.packet, packet);
	cr_assert_eq(got.amount_cents, n * 100);
}

static void halted(const char *why)
{
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"), why) != NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
}

Test(adopted, every_claim_is_what_lay_there)
{
	open_a(FEW, DIGEST_FEW);
	rig_service(&rig, 0, true, NULL);
	RUN_UNTIL(&rig.loop, has_roll(0));
	for (int n = 1; n <= FEW; n++) {
		grab(0, n);
	}
	rig_until_relay(&rig, "a", "claims", "12");
}

Test(adopted, a_packet_that_is_edited_later_is_told_to_nobody)
{
	struct rig_got got;

	open_a(FEW, DIGEST_FEW);
	rig_service(&rig, 0, true, NULL);
	RUN_UNTIL(&rig.loop, has_roll(0));
	grab(0, 1);
	rig_until_relay(&rig, "a", "claims", "1");
	redis("LSET rain:{a}:packets -1 %s",
	      "{\"redPacketId\":\"p:2\",\"amount\":\"2.01\"}");
	rig_grab(&rig, 0, "a", "u2", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	halted("claim 2 of user u2: it is packet p:2 with 2.01, and another "
	       "lay there");
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "1");
}

Test(adopted, what_a_user_is_told_is_edited)
{
	struct rig_got got;

	open_a(FEW, DIGEST_FEW);
	rig_service(&rig, 0, true, NULL);
	RUN_UNTIL(&rig.loop, has_roll(0));
	grab(0, 1);
	redis("HSET rain:{a}:users u1 %s",
	      "{\"redPacketId\":\"p:12\",\"amount\":\"12.00\",\"userId\":"
	      "\"u1\",\"seq\":1,\"atMs\":1,\"tranche\":1}");
	rig_result(&rig, 0, "a", "u1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	halted("claim 1 of user u1");
}

/* Three claims that nobody has published, one of them edited: the lengths and
 * all that the steps compare are as they were. */
static void edit_a_claim(char right[200])
{
	open_a(FEW, DIGEST_FEW);
	rig_service(&rig, 0, false, NULL);
	for (int n = 1; n <= 3; n++) {
		grab(0, n);
	}
	(void)snprintf(right, 200, "%s", redis("LINDEX rain:{a}:claims -2"));
	redis("LSET rain:{a}:claims -2 %s",
	      "{\"redPacketId\":\"p:2\",\"amount\":\"9.99\",\"userId\":\"u2\","
	      "\"seq\":2,\"atMs\":1,\"tranche\":1}");
	rig_service(&rig, 1, true, NULL);
	halted("its packets are not those that were opened");
}

Test(adopted, a_claim_that_was_edited_before_a_start_is_not_paid)
{
	char right[200];
	struct rig_got got;

	edit_a_claim(right);
	RUN_UNTIL(&rig.loop, known(1)->roll_awaited);
	rig_result(&rig, 1, "a", "u1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	cr_assert_eq(strtol(rig_relay(&rig, "a", "claims"), NULL, 10), 0);
	redis("LSET rain:{a}:claims -2 %s", right);
	rig_until_relay(&rig, "a", "claims", "3");
	rig_result(&rig, 1, "a", "u1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_str_eq(got.packet, "p:1");
}

Test(adopted, who_closes_it_accepts_what_there_is)
{
	char right[200];

	edit_a_claim(right);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "so be it");
	rig_until_relay(&rig, "a", "claims", "3");
}

/* Counts and sums are intact. */
Test(adopted, two_packets_that_changed_places_are_noticed_after_a_start)
{
	open_a(FEW, DIGEST_FEW);
	redis("LSET rain:{a}:packets 0 %s",
	      "{\"redPacketId\":\"p:11\",\"amount\":\"11.00\"}");
	redis("LSET rain:{a}:packets 1 %s",
	      "{\"redPacketId\":\"p:12\",\"amount\":\"12.00\"}");
	rig_service(&rig, 0, true, NULL);
	halted("its packets are not those that were opened");
}

static void take(int from, int n)
{
	static char users[1000][16];
	const char *args[2002] = { "" };

	for (int i = 0; i < n; i++) {
		(void)snprintf(users[i], sizeof users[i], "u%d", from + i);
		args[1 + 2 * i] = users[i];
		args[2 + 2 * i] = "99999999999999";
	}
	args[1 + 2 * n] = NULL;
	lua_run(&rig.redis, &lua_grab, "a", args);
	cr_assert_str_eq(reply.at[1], "OK");
}

/* Whoever starts in the middle reads what is left and what is claimed, while
 * more is claimed. */
Test(adopted, a_start_in_the_middle_of_the_rain)
{
	int taken = 1300;

	open_a(MANY, DIGEST_MANY);
	take(1, 1000);
	take(1001, 300);
	rig_service(&rig, 0, true, NULL);
	while (!has_roll(0)) {
		if (taken < 2400) {
			take(++taken, 1);
		}
		uv_run(&rig.loop, UV_RUN_NOWAIT);
	}
	cr_assert_eq(roll_packets(known(0)->roll), MANY);
	grab(0, taken + 1);
	while (taken + 1 < MANY - 1) {
		taken++;
		take(taken + 1, 1);
	}
	grab(0, MANY);
	rig_until_relay(&rig, "a", "claims", "2500");
	cr_assert_str_neq(lua_meta(&rig.redis, "a", "state"), "HALTED");
}
