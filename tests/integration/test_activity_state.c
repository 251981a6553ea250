/* ActivityService: the simple changes, and what can be read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/activity_rig.h"
#include "lib/lua_run.h"
#include "lib/turns.h"
#include "proto/proto_util.h"

#define LATER "99999999999999"

static struct activity_rig g;

static void start(void)
{
	activity_rig_open(&g, NULL);
}

static void stop(void)
{
	activity_rig_close(&g);
}

TestSuite(activity_state, .init = start, .fini = stop);

static void did(const char *method, Rain__Outcome outcome, Rain__State state)
{
	activity_ask(&g, method, "quiz");
	cr_assert_eq(g.outcome, outcome, "%s: %s", method, g.message);
	cr_assert_not_null(g.activity);
	cr_assert_eq(g.activity->state, state, "%s: %d", method,
		     g.activity->state);
}

static void create(const char *id, uint64_t packets)
{
	Rain__Plan m = activity_plan(id, packets);

	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

static void open_with(uint64_t packets)
{
	create("quiz", packets);
	did("preload", RAIN__OUTCOME__DONE, RAIN__STATE__LOADED);
	did("open", RAIN__OUTCOME__DONE, RAIN__STATE__OPEN);
}

static Rain__CountersReply *counters(struct activity_call *c)
{
	Rain__ActivityRequest m = RAIN__ACTIVITY_REQUEST__INIT;

	m.activity_id = to_pb_str("quiz");
	activity_send(&g, c, "counters", "Lrain/ActivityRequest;", &m.base,
		      &rain__counters_reply__descriptor);
	activity_wait(&g, c);
	cr_assert_not_null(c->reply);
	return (Rain__CountersReply *)(void *)c->reply;
}

Test(activity_state, paused_resumed_closed)
{
	open_with(3);
	g.changed = 0;
	did("pause", RAIN__OUTCOME__DONE, RAIN__STATE__STATE_PAUSED);
	cr_assert_eq(g.changed, 1);
	cr_assert_eq(g.activity->seed.len, 0);
	cr_assert_str_eq(activity_text(g.activity->reason),
			 "an operator paused it");
	did("pause", RAIN__OUTCOME__ALREADY, RAIN__STATE__STATE_PAUSED);
	cr_assert_eq(g.changed, 1);
	did("resume", RAIN__OUTCOME__DONE, RAIN__STATE__OPEN);
	did("cancel", RAIN__OUTCOME__CONFLICT, RAIN__STATE__OPEN);
	cr_assert_str_eq(g.message,
			 "cancel is not possible in state OPEN: close it");
	EXPECT("OK", &g.server, &lua_grab, "quiz", "", "u", LATER);
	did("close", RAIN__OUTCOME__DONE, RAIN__STATE__CLOSED);
	cr_assert_eq(g.activity->final_claims, 1);
	cr_assert_eq(g.activity->final_left, 2);
	cr_assert_eq(g.activity->seed.len, 64, "from now on it is public");
	did("close", RAIN__OUTCOME__ALREADY, RAIN__STATE__CLOSED);
	did("resume", RAIN__OUTCOME__CONFLICT, RAIN__STATE__CLOSED);
}

Test(activity_state, cancelled)
{
	create("quiz", 3);
	did("cancel", RAIN__OUTCOME__DONE, RAIN__STATE__CANCELLED);
	cr_assert_eq(g.activity->seed.len, 64);
	did("preload", RAIN__OUTCOME__CONFLICT, RAIN__STATE__CANCELLED);
	cr_assert_str_eq(g.message, "preload is not possible in state "
				    "CANCELLED: it is over");
}

Test(activity_state, what_is_not_possible_says_what_is)
{
	create("quiz", 3);
	did("open", RAIN__OUTCOME__CONFLICT, RAIN__STATE__CREATED);
	cr_assert_str_eq(g.message, "open is not possible in state CREATED: "
				    "preload it first");
	did("pause", RAIN__OUTCOME__CONFLICT, RAIN__STATE__CREATED);
	cr_assert_str_eq(g.message, "pause is not possible in state CREATED: "
				    "preload it, then open it; or cancel it");
	did("preload", RAIN__OUTCOME__DONE, RAIN__STATE__LOADED);
	did("open", RAIN__OUTCOME__DONE, RAIN__STATE__OPEN);
	EXPECT("OK", &g.server, &lua_activity, "quiz", "halt", "", "evidence",
	       "seen");
	did("open", RAIN__OUTCOME__CONFLICT, RAIN__STATE__HALTED);
	cr_assert(strstr(g.message, "which leads to PAUSED") != NULL, "%s",
		  g.message);
	did("resume", RAIN__OUTCOME__DONE, RAIN__STATE__STATE_PAUSED);
	redis_server_ask(&g.server, "RPOP rain:{quiz}:packets");
	did("resume", RAIN__OUTCOME__CONFLICT, RAIN__STATE__STATE_PAUSED);
	cr_assert_str_eq(g.message, "packets 2, claims 0, users 0 do not fit "
				    "the 3 packets of the activity");
}

Test(activity_state, nobody_knows_it)
{
	static const char *const methods[] = { "pause", "resume", "close",
					       "cancel", "get" };

	for (size_t i = 0; i < 5; i++) {
		activity_ask(&g, methods[i], "quiz");
		cr_assert_eq(g.outcome, RAIN__OUTCOME__NOT_FOUND, "%s",
			     methods[i]);
		cr_assert_null(g.activity);
		activity_ask(&g, methods[i], "not an id");
		cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID);
	}
}

Test(activity_state, after_a_restart_of_redis_nothing_is_decided)
{
	activity_rig_close(&g);
	activity_rig_open(&g, (const char *const[]){ "--appendonly", "yes",
						     "--appendfsync", "always",
						     NULL });
	open_with(3);
	redis_server_restart(&g.server);
	RUN_UNTIL(&g.loop, redis_ready(g.redis));
	did("pause", RAIN__OUTCOME__UNAVAILABLE_NOW, RAIN__STATE__OPEN);
	cr_assert(strstr(g.message, "restarted") != NULL, "%s", g.message);
	did("get", RAIN__OUTCOME__DONE, RAIN__STATE__OPEN);
}

Test(activity_state, meta_that_a_stranger_changed)
{
	create("quiz", 3);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta total_cents 301");
	activity_ask(&g, "get", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW);
	cr_assert(strstr(g.message, "plan") != NULL, "%s", g.message);
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta schema 2");
	activity_ask(&g, "get", "quiz");
	cr_assert(strstr(g.message, "schema") != NULL, "%s", g.message);
}

Test(activity_state, counters_tell_lengths_and_cursors)
{
	struct activity_call c;
	Rain__CountersReply *r;

	r = counters(&c);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__NOT_FOUND);
	activity_call_close(&c);
	open_with(5);
	EXPECT("OK", &g.server, &lua_grab, "quiz", "", "u", LATER, "v", LATER);
	EXPECT("OK", &g.server, &lua_relay, "quiz", "acquire", "me", "0",
	       "9000");
	EXPECT("OK", &g.server, &lua_relay, "quiz", "advance", "me", "1", "1",
	       "2");
	r = counters(&c);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__DONE);
	cr_assert_eq(r->state, RAIN__STATE__OPEN);
	cr_assert_eq(r->revision, 4);
	cr_assert_eq(r->packets_left, 3);
	cr_assert_eq(r->claims, 2);
	cr_assert_eq(r->users, 2);
	cr_assert_eq(r->events, 3);
	cr_assert_eq(r->claims_published, 1);
	cr_assert_eq(r->events_published, 2);
	cr_assert_eq(r->relay_generation, 1);
	cr_assert_str_eq(activity_text(r->relay_owner), "me");
	cr_assert(r->time_ms > 1000000000000);
	activity_call_close(&c);
	/* Also when they do not fit together: that is what one looks for. */
	redis_server_ask(&g.server, "RPOP rain:{quiz}:packets");
	r = counters(&c);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__DONE);
	cr_assert_eq(r->packets_left, 2);
	cr_assert(strstr(activity_text(r->message), "add up") != NULL);
	activity_call_close(&c);
}

static Rain__ClaimsReply *claims(struct activity_call *c, const char *id,
				 uint64_t after, uint32_t limit)
{
	Rain__PageRequest m = RAIN__PAGE_REQUEST__INIT;

	m.activity_id = to_pb_str(id);
	m.after = after;
	m.limit = limit;
	activity_send(&g, c, "claims", "Lrain/PageRequest;", &m.base,
		      &rain__claims_reply__descriptor);
	activity_wait(&g, c);
	cr_assert_not_null(c->reply);
	return (Rain__ClaimsReply *)(void *)c->reply;
}

static Rain__PacketsReply *packets(struct activity_call *c, uint64_t after,
				   uint32_t limit)
{
	Rain__PageRequest m = RAIN__PAGE_REQUEST__INIT;

	m.activity_id = to_pb_str("quiz");
	m.after = after;
	m.limit = limit;
	activity_send(&g, c, "packets", "Lrain/PageRequest;", &m.base,
		      &rain__packets_reply__descriptor);
	activity_wait(&g, c);
	cr_assert_not_null(c->reply);
	return (Rain__PacketsReply *)(void *)c->reply;
}

Test(activity_state, pages_of_claims_and_packets)
{
	struct activity_call c;
	Rain__ClaimsReply *r;
	Rain__PacketsReply *p;
	char first[64];

	open_with(5);
	p = packets(&c, 0, 1000);
	cr_assert_eq(p->n_packets, 5);
	cr_assert_eq(p->total, 5);
	(void)snprintf(first, sizeof(first), "%s",
		       activity_text(p->packets[0]->red_packet_id));
	activity_call_close(&c);
	EXPECT("OK", &g.server, &lua_grab, "quiz", "", "u", LATER, "v", LATER,
	       "w", LATER);
	r = claims(&c, "quiz", 0, 2);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__DONE);
	cr_assert_eq(r->total, 3);
	cr_assert_eq(r->n_claims, 2);
	cr_assert_eq(r->claims[0]->seq, 1);
	cr_assert_eq(r->claims[1]->seq, 2);
	cr_assert_str_eq(activity_text(r->claims[0]->user_id), "u");
	cr_assert_str_eq(activity_text(r->claims[0]->red_packet_id), first);
	cr_assert_eq(r->claims[0]->tranche, 1);
	activity_call_close(&c);
	r = claims(&c, "quiz", 2, 1000);
	cr_assert_eq(r->n_claims, 1);
	cr_assert_eq(r->claims[0]->seq, 3);
	activity_call_close(&c);
	r = claims(&c, "quiz", 3, 1000);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__DONE);
	cr_assert_eq(r->n_claims, 0);
	activity_call_close(&c);
	p = packets(&c, 1, 1000);
	cr_assert_eq(p->total, 2);
	cr_assert_eq(p->n_packets, 1);
	activity_call_close(&c);
}

Test(activity_state, a_page_of_claims_tells_what_a_user_is_told_instead)
{
	static const char other[] = "{\"redPacketId\":\"1\",\"amount\":\"9\"}";
	struct activity_call c;
	Rain__ClaimsReply *r;

	open_with(5);
	EXPECT("OK", &g.server, &lua_grab, "quiz", "", "u", LATER, "v", LATER,
	       "w", LATER);
	r = claims(&c, "quiz", 0, 1000);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_null(r->claims[i]->answer);
	}
	activity_call_close(&c);
	redis_server_ask(&g.server, "HSET rain:{quiz}:users v %s", other);
	redis_server_ask(&g.server, "HDEL rain:{quiz}:users w");
	r = claims(&c, "quiz", 0, 1000);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__DONE);
	cr_assert_eq(r->n_claims, 3);
	cr_assert_null(r->claims[0]->answer);
	cr_assert_not_null(r->claims[1]->answer);
	cr_assert_str_eq(activity_text(r->claims[1]->answer->text), other);
	cr_assert_not_null(r->claims[2]->answer);
	cr_assert_eq(r->claims[2]->answer->text.len, 0);
	activity_call_close(&c);
	redis_server_ask(&g.server, "DEL rain:{quiz}:users");
	redis_server_ask(&g.server, "SET rain:{quiz}:users x");
	r = claims(&c, "quiz", 0, 1000);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__UNAVAILABLE_NOW);
	activity_call_close(&c);
}

Test(activity_state, a_page_that_cannot_be)
{
	struct activity_call c;
	Rain__ClaimsReply *r;

	r = claims(&c, "quiz", 0, 10);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__NOT_FOUND);
	activity_call_close(&c);
	r = claims(&c, "not an id", 0, 10);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__INVALID);
	activity_call_close(&c);
	r = claims(&c, "quiz", 0, 1001);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__INVALID);
	activity_call_close(&c);
	open_with(3);
	EXPECT("OK", &g.server, &lua_grab, "quiz", "", "u", LATER);
	redis_server_ask(&g.server, "LPUSH rain:{quiz}:claims junk");
	r = claims(&c, "quiz", 0, 10);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__CONFLICT);
	cr_assert(strstr(activity_text(r->message), "element 2") != NULL);
	cr_assert_eq(r->n_claims, 1);
	activity_call_close(&c);
}

Test(activity_state, list_tells_those_that_exist)
{
	Rain__ListRequest m = RAIN__LIST_REQUEST__INIT;
	struct activity_call c;
	Rain__ListReply *r;

	create("b", 3);
	create("a", 4);
	redis_server_ask(&g.server, "SADD rain:activities no-meta-yet");
	activity_send(&g, &c, "list", "Lrain/ListRequest;", &m.base,
		      &rain__list_reply__descriptor);
	activity_wait(&g, &c);
	r = (Rain__ListReply *)(void *)c.reply;
	cr_assert_not_null(r);
	cr_assert_eq(r->outcome, RAIN__OUTCOME__DONE);
	cr_assert_eq(r->n_activities, 2);
	cr_assert_str_eq(activity_text(r->activities[0]->plan->activity_id),
			 "a");
	cr_assert_eq(r->activities[1]->plan->packets, 3);
	activity_call_close(&c);
}

static void rewind_to(uint64_t seq, Rain__Outcome outcome)
{
	Rain__RewindRequest m = RAIN__REWIND_REQUEST__INIT;
	struct activity_call c;

	m.activity_id = to_pb_str("quiz");
	m.seq = seq;
	activity_send(&g, &c, "rewind", "Lrain/RewindRequest;", &m.base,
		      &rain__activity_reply__descriptor);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, outcome, "%s", g.message);
}

Test(activity_state, rewind_moves_the_cursors_back)
{
	rewind_to(0, RAIN__OUTCOME__NOT_FOUND);
	open_with(5);
	EXPECT("OK", &g.server, &lua_grab, "quiz", "", "u", LATER, "v", LATER);
	EXPECT("OK", &g.server, &lua_relay, "quiz", "acquire", "me", "0",
	       "9000");
	EXPECT("OK", &g.server, &lua_relay, "quiz", "advance", "me", "1", "2",
	       "3");
	rewind_to(3, RAIN__OUTCOME__INVALID);
	rewind_to(1, RAIN__OUTCOME__DONE);
	cr_assert_str_eq(redis_server_ask(&g.server,
					  "HMGET rain:{quiz}:relay claims "
					  "events generation owner"),
			 "1\n0\n2\n");
}
