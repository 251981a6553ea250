/* F69: a claim and the end in the same millisecond. After CLOSED no claim
 * succeeds, and what is refunded is what the list holds. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

enum { ROUNDS = 25, USERS = 120, PACKETS = 100 };

static struct grab_rig rig;
static struct rig_got got[USERS];

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(grab_end, .init = start, .fini = stop, .timeout = 120);

static void small_batches(struct grab_options *o)
{
	o->batch_max = 8;
}

static void put_all(const char *id)
{
	for (int i = 0; i < USERS; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		rig_put(&rig, i % 2, LANE_GRAB, id, user, &got[i]);
	}
	for (int i = 0; i < 2; i++) {
		rig_pump(&rig, i, LANE_GRAB, id);
	}
}

static int answered(void)
{
	int n = 0;

	for (int i = 0; i < USERS; i++) {
		n += got[i].done ? 1 : 0;
	}
	return n;
}

static int won(void)
{
	int n = 0;

	for (int i = 0; i < USERS; i++) {
		n += got[i].status == RAIN__STATUS__WON ? 1 : 0;
	}
	return n;
}

static long number(const char *format, const char *id)
{
	return strtol(redis_server_ask(&rig.redis, format, id), NULL, 10);
}

/* What users were told, what is claimed and what is left are one sum. */
static void expect_one_sum(const char *id, bool closed)
{
	int winners = won();

	cr_assert_eq(number("LLEN rain:{%s}:claims", id), winners);
	cr_assert_eq(number("HLEN rain:{%s}:users", id), winners);
	cr_assert_eq(number("LLEN rain:{%s}:packets", id), PACKETS - winners);
	if (closed) {
		cr_assert_eq(number("HGET rain:{%s}:meta final_claims", id),
			     winners);
		cr_assert_eq(number("HGET rain:{%s}:meta final_left", id),
			     PACKETS - winners);
	}
	for (int i = 0; i < USERS; i++) {
		cr_assert(got[i].status == RAIN__STATUS__WON ||
				  got[i].status == RAIN__STATUS__ENDED ||
				  got[i].status == RAIN__STATUS__SOLD_OUT,
			  "%d", got[i].status);
	}
}

/* Closed after so many answers: each round elsewhere. */
Test(grab_end, closed_in_mid_rain)
{
	int cut = 0;

	rig_service(&rig, 0, false, small_batches);
	rig_service(&rig, 1, false, small_batches);
	for (int round = 0; round < ROUNDS; round++) {
		char id[16];

		(void)snprintf(id, sizeof id, "a%d", round);
		lua_open(&rig.redis, id, PACKETS);
		put_all(id);
		RUN_UNTIL(&rig.loop, answered() >= round * 4);
		EXPECT("OK", &rig.redis, &lua_activity, id, "close", "", "");
		RUN_UNTIL(&rig.loop, answered() == USERS);
		expect_one_sum(id, true);
		cut += won() < PACKETS ? 1 : 0;
		for (int i = 0; i < USERS; i += 7) {
			struct rig_got again;
			char user[16];

			(void)snprintf(user, sizeof user, "u%d", i);
			rig_grab(&rig, 0, id, user, &again);
			cr_assert_eq(again.status,
				     got[i].status == RAIN__STATUS__WON
					     ? RAIN__STATUS__ALREADY_GRABBED
					     : RAIN__STATUS__ENDED);
		}
	}
	cr_assert_gt(cut, ROUNDS / 2, "closed too late %d times", ROUNDS - cut);
}

/* The claims tell when they were made: none at end_ms or behind it. */
static void expect_in_time(const char *id, long long end_ms)
{
	const char *claims = redis_server_ask(
		&rig.redis, "LRANGE rain:{%s}:claims 0 -1", id);

	while ((claims = strstr(claims, "\"atMs\":")) != NULL) {
		claims += strlen("\"atMs\":");
		cr_assert_lt(strtoll(claims, NULL, 10), end_ms);
	}
}

/* No step closes it yet: the clock does. */
Test(grab_end, end_in_mid_rain)
{
	rig_service(&rig, 0, false, small_batches);
	rig_service(&rig, 1, false, small_batches);
	for (int round = 0; round < ROUNDS; round++) {
		long long end_ms = lua_now(&rig.redis) + 12 + round % 8;
		char id[16];

		(void)snprintf(id, sizeof id, "b%d", round);
		lua_open_until(&rig.redis, id, PACKETS, end_ms);
		while (lua_now(&rig.redis) < end_ms - 2) {
		}
		put_all(id);
		RUN_UNTIL(&rig.loop, answered() == USERS);
		expect_one_sum(id, false);
		expect_in_time(id, end_ms);
		while (lua_now(&rig.redis) < end_ms) {
		}
		EXPECT("OK", &rig.redis, &lua_activity, id, "close", "", "");
		expect_one_sum(id, true);
	}
}
