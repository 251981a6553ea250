/* Packets that are released over time: how many may be taken by when, and who
 * is told to wait for the next. A day for ten packets: no test of ours takes
 * as long as a step of it, 2.4 hours. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

/* rain.Status */
#define WON         "1"
#define ALREADY     "2"
#define SOLD_OUT    "3"
#define NOT_STARTED "4"
#define NOT_YET     "5"
#define BUSY        "11"

#define LATER "99999999999999"

enum { DAY_MS = 86400000, STEP_MS = DAY_MS / 10, ROOM_MS = 600000 };

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, NULL);
	lua_open(&s, "a", 10);
	redis_server_ask(&s, "HSET rain:{a}:meta release_ms %d", DAY_MS);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_release, .init = start, .fini = stop);

/* As if it had been opened so long ago. */
static void opened_ago(long long ms)
{
	redis_server_ask(&s, "HSET rain:{a}:meta opened_ms %lld",
			 lua_now(&s) - ms);
}

/* Users u0 to u(n-1) at once; how many have a packet now. */
static int winners(int n)
{
	const char *args[64] = { "" };
	char ids[24][8];
	int with_packet = 0;

	cr_assert(n <= 24);
	for (int i = 0; i < n; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "u%d", i);
		args[1 + 2 * i] = ids[i];
		args[2 + 2 * i] = LATER;
	}
	lua_run(&s, &lua_grab, "a", args);
	cr_assert_str_eq(reply.at[1], "OK", "%s", reply.at[1]);
	for (int i = 0; i < n; i++) {
		const char *status = reply.at[9 + 2 * i];

		with_packet += strcmp(status, WON) == 0 ||
			       strcmp(status, ALREADY) == 0;
	}
	return with_packet;
}

static void waits_about(long long ms)
{
	long long told = strtoll(reply.at[8], NULL, 10);

	cr_assert(told > ms - ROOM_MS && told <= ms, "%lld, not about %lld",
		  told, ms);
}

Test(lua_release, the_first_packet_is_there_at_once)
{
	cr_assert_eq(winners(3), 1);
	cr_assert_str_eq(reply.at[11], NOT_YET);
	cr_assert_str_eq(reply.at[13], NOT_YET);
	waits_about(STEP_MS);
}

Test(lua_release, evenly_over_the_time)
{
	for (int step = 0; step < 10; step++) {
		opened_ago((long long)step * STEP_MS + STEP_MS / 2);
		cr_assert_eq(winners(20), step + 1, "step %d", step);
		cr_assert_str_eq(reply.at[9 + 2 * 19],
				 step < 9 ? NOT_YET : SOLD_OUT);
		if (step < 9) {
			waits_about(STEP_MS / 2);
		}
	}
}

/* Who comes late finds all that was released meanwhile. */
Test(lua_release, what_nobody_took_stays_there)
{
	opened_ago(7 * STEP_MS + STEP_MS / 2);
	cr_assert_eq(winners(20), 8);
}

Test(lua_release, all_of_it_at_the_end)
{
	opened_ago(DAY_MS + 1);
	cr_assert_eq(winners(20), 10);
	cr_assert_str_eq(reply.at[9 + 2 * 19], SOLD_OUT);
	cr_assert_str_eq(reply.at[8], "0");
}

Test(lua_release, counts_from_the_start_if_that_is_later)
{
	opened_ago(20LL * STEP_MS);
	redis_server_ask(&s, "HSET rain:{a}:meta start_ms %lld",
			 lua_now(&s) - 3 * STEP_MS - STEP_MS / 2);
	cr_assert_eq(winners(20), 4);
	redis_server_ask(&s, "HSET rain:{a}:meta start_ms %lld",
			 lua_now(&s) + STEP_MS);
	RUN(&s, &lua_grab, "a", "", "late", LATER);
	cr_assert_str_eq(reply.at[9], NOT_STARTED);
}

Test(lua_release, a_question_is_told_what_a_grab_would_be)
{
	cr_assert_eq(winners(1), 1);
	RUN(&s, &lua_result, "a", "u0", "0", "n", "0");
	cr_assert_str_eq(reply.at[9], ALREADY);
	cr_assert_str_eq(reply.at[11], NOT_YET);
	waits_about(STEP_MS);
	opened_ago(STEP_MS + STEP_MS / 2);
	RUN(&s, &lua_result, "a", "n", "0");
	cr_assert_str_eq(reply.at[9], BUSY);
}

/* A clock that goes back takes nothing away and gives nothing. */
Test(lua_release, before_it_was_opened)
{
	opened_ago(-2LL * STEP_MS);
	cr_assert_eq(winners(3), 1);
	waits_about(3LL * STEP_MS);
}

Test(lua_release, what_cannot_be_read_refuses_all)
{
	redis_server_ask(&s, "HSET rain:{a}:meta release_ms soon");
	RUN(&s, &lua_grab, "a", "", "u", LATER);
	cr_assert_str_eq(reply.at[1], "SCHEMA");
}
