/* When a gateway may tell a user what the service said, without asking. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "gateway/edge.h"
#include "gateway/edge_rule.h"
#include "proto/proto_util.h"

static const struct edge_view known = {
	.now_ms = 1040,
	.fresh_ms = 50,
	.word = 7,
	.asked_ms = 1000,
	.until_ms = EDGE_ALWAYS,
	.told = 7,
	.told_until_ms = EDGE_ALWAYS,
};

Test(edge_rule, only_the_word_that_the_user_was_told)
{
	struct edge_view v = known;

	cr_assert(edge_may_answer(&v));
	v.told = 6;
	cr_assert(!edge_may_answer(&v), "it has moved since");
	v.told = 0;
	cr_assert(!edge_may_answer(&v), "never told");
	v.word = 0;
	cr_assert(!edge_may_answer(&v), "nothing to tell");
}

Test(edge_rule, fresh_then_one_asks_then_all_do)
{
	struct edge_view v = known;

	v.now_ms = 1049;
	cr_assert(edge_may_answer(&v));
	v.now_ms = 1050;
	cr_assert(!edge_may_answer(&v), "this one asks");
	v.asking = true;
	cr_assert(edge_may_answer(&v), "the others do not wait for it");
	v.now_ms = 1099;
	cr_assert(edge_may_answer(&v));
	v.now_ms = 1100;
	cr_assert(!edge_may_answer(&v), "no answer came");
	v = known;
	v.fresh_ms = 0;
	v.now_ms = v.asked_ms;
	cr_assert(!edge_may_answer(&v), "turned off");
	v = known;
	v.now_ms = 999;
	cr_assert(!edge_may_answer(&v), "a clock that goes back");
}

/* NOT_YET until a packet is released: who was told before the release may have
 * won at it, who was told after it not before the next one. */
Test(edge_rule, no_longer_than_either_stands)
{
	struct edge_view v = known;

	v.until_ms = 1040;
	cr_assert(!edge_may_answer(&v));
	v.until_ms = 1041;
	cr_assert(edge_may_answer(&v));
	v.told_until_ms = 1040;
	cr_assert(!edge_may_answer(&v));
}

/* ---- The table ---- */

static struct gateway_options options = {
	.loops = 1,
	.edge_fresh_ms = 50,
	.edge_users_max = 64,
	.edge_activities_max = 2,
};

struct said {
	const char *user;
	Rain__Status status;
	uint64_t revision;
	uint64_t packets;
	uint32_t stands_ms;
	uint64_t asked_ms;
};

static void learn(struct edge *e, const char *activity, const struct said *s,
		  uint64_t *moves)
{
	Rain__GrabResponse response = RAIN__GRAB_RESPONSE__INIT;
	Rain__GrabReply reply = RAIN__GRAB_REPLY__INIT;
	Rain__RedPacket packet = RAIN__RED_PACKET__INIT;
	struct edge_news news = {
		.activity = bytes_str(activity),
		.user = bytes_str(s->user),
		.response = &response,
		.told = &reply,
		.asked_ms = s->asked_ms,
		.now_ms = s->asked_ms + 3,
		.moves = moves,
	};

	reply.status = s->status;
	reply.message = to_pb_str("so it is");
	if (s->status == RAIN__STATUS__WON) {
		reply.red_packet = &packet;
	}
	response.reply = &reply;
	response.revision = s->revision;
	response.packets = s->packets;
	response.stands_ms = s->stands_ms;
	edge_learn(e, &news);
}

/* What the service says to a call that left just now. */
static void says(struct edge *e, const char *activity, struct said s)
{
	uint64_t moves = edge_moves();

	learn(e, activity, &s, &moves);
}

static int tap_at(struct edge *e, const char *activity, const char *user,
		  uint64_t now_ms)
{
	Rain__GrabReply reply;

	if (!edge_answer(e, bytes_str(activity), bytes_str(user), now_ms,
			 &reply)) {
		return 0;
	}
	cr_assert(bytes_eq(from_pb(reply.message), BYTES("so it is")));
	cr_assert(reply.red_packet == NULL);
	return (int)reply.status;
}

static int tap(struct edge *e, const char *user, uint64_t now_ms)
{
	return tap_at(e, "quiz", user, now_ms);
}

#define SOLD_OUT RAIN__STATUS__SOLD_OUT
#define SAID(who, what, rev, n, at)                  \
	says(e, "quiz",                              \
	     (struct said){ .user = (who),           \
			    .status = (what),        \
			    .revision = (rev),       \
			    .packets = (n),          \
			    .stands_ms = UINT32_MAX, \
			    .asked_ms = (at) })

Test(edge, each_user_is_told_by_the_service_first)
{
	struct edge *e = edge_new(&options);

	cr_assert_eq(tap(e, "a", 1000), 0);
	SAID("a", SOLD_OUT, 5, 10, 1000);
	cr_assert_eq(tap(e, "a", 1010), SOLD_OUT);
	cr_assert_eq(tap(e, "b", 1010), 0, "b may have won elsewhere");
	cr_assert_eq(tap_at(e, "other", "a", 1010), 0);
	/* b has: so b is never told anything from here. */
	SAID("b", RAIN__STATUS__WON, 5, 10, 1012);
	cr_assert_eq(tap(e, "b", 1020), 0);
	cr_assert_eq(tap(e, "a", 1020), SOLD_OUT);
	edge_free(e);
}

Test(edge, what_moves_makes_another_word)
{
	struct edge *e = edge_new(&options);

	SAID("a", SOLD_OUT, 5, 10, 1000);
	SAID("b", SOLD_OUT, 5, 10, 1000);
	/* Announced, and not loaded yet: sold out still. */
	SAID("b", SOLD_OUT, 6, 10, 1010);
	cr_assert_eq(tap(e, "b", 1011), SOLD_OUT);
	cr_assert_eq(tap(e, "a", 1011), 0);
	SAID("a", SOLD_OUT, 6, 10, 1012);
	cr_assert_eq(tap(e, "a", 1013), SOLD_OUT);
	/* A chunk was loaded and is gone, the revision has not moved. */
	SAID("b", SOLD_OUT, 6, 20, 1020);
	cr_assert_eq(tap(e, "b", 1021), SOLD_OUT);
	cr_assert_eq(tap(e, "a", 1021), 0, "a may have won one of those");
	/* An answer from before, late. */
	learn(e, "quiz",
	      &(struct said){ "a", SOLD_OUT, 6, 10, UINT32_MAX, 1015 },
	      &(uint64_t){ edge_moves() });
	cr_assert_eq(tap(e, "a", 1022), 0);
	cr_assert_eq(tap(e, "b", 1022), SOLD_OUT);
	/* A win tells that too. */
	SAID("c", RAIN__STATUS__WON, 6, 30, 1030);
	cr_assert_eq(tap(e, "b", 1034), 0);
	edge_free(e);
}

Test(edge, one_status_is_not_another)
{
	struct edge *e = edge_new(&options);

	says(e, "quiz",
	     (struct said){ "a", RAIN__STATUS__NOT_YET, 5, 10, 30, 1000 });
	cr_assert_eq(tap(e, "a", 1029), RAIN__STATUS__NOT_YET);
	cr_assert_eq(tap(e, "a", 1030), 0, "one was released");
	/* All are gone now; a may have the last one. */
	SAID("b", SOLD_OUT, 5, 10, 1035);
	cr_assert_eq(tap(e, "a", 1040), 0);
	/* What was said before, coming late, is no news. */
	learn(e, "quiz",
	      &(struct said){ "a", RAIN__STATUS__NOT_YET, 5, 10, 500, 1001 },
	      &(uint64_t){ edge_moves() });
	cr_assert_eq(tap(e, "a", 1041), 0);
	cr_assert_eq(tap(e, "b", 1041), SOLD_OUT);
	/* Neither is what promises nothing, or has no revision. */
	says(e, "quiz", (struct said){ "c", SOLD_OUT, 5, 10, 0, 1042 });
	cr_assert_eq(tap(e, "c", 1046), 0);
	says(e, "quiz", (struct said){ "c", SOLD_OUT, 0, 0, 9999, 1042 });
	cr_assert_eq(tap(e, "c", 1046), 0);
	edge_free(e);
}

/* The second period of waiting is not the first: one was released between. */
Test(edge, a_wait_is_known_until_its_own_end)
{
	struct edge *e = edge_new(&options);

	says(e, "quiz",
	     (struct said){ "a", RAIN__STATUS__NOT_YET, 5, 10, 30, 1000 });
	says(e, "quiz",
	     (struct said){ "b", RAIN__STATUS__NOT_YET, 5, 10, 40, 1031 });
	cr_assert_eq(tap(e, "b", 1040), RAIN__STATUS__NOT_YET);
	cr_assert_eq(tap(e, "a", 1040), 0);
	edge_free(e);
}

Test(edge, one_asks_for_all_and_all_if_none_answers)
{
	struct edge *e = edge_new(&options);

	SAID("a", SOLD_OUT, 5, 10, 1000);
	SAID("b", SOLD_OUT, 5, 10, 1000);
	cr_assert_eq(tap(e, "a", 1050), 0);
	edge_asks(e, BYTES("quiz"), BYTES("a"), 1050);
	cr_assert_eq(tap(e, "b", 1050), SOLD_OUT);
	cr_assert_eq(tap(e, "a", 1050), 0, "its grab is on its way");
	cr_assert_eq(tap(e, "b", 1099), SOLD_OUT);
	cr_assert_eq(tap(e, "b", 1100), 0, "the service is away");
	SAID("a", SOLD_OUT, 5, 10, 1101);
	cr_assert_eq(tap(e, "b", 1110), SOLD_OUT, "b knows this word still");
	cr_assert_eq(tap(e, "a", 1110), SOLD_OUT);
	edge_free(e);
}

/* Who has a packet from one loop is not told SOLD_OUT by another. */
Test(edge, loops_tell_each_other_what_moves)
{
	struct edge *e = edge_new(&options);
	struct edge *other = edge_new(&options);
	uint64_t before;

	SAID("a", SOLD_OUT, 5, 10, 1000);
	before = edge_moves();
	says(other, "quiz",
	     (struct said){ "a", RAIN__STATUS__WON, 6, 20, 0, 1010 });
	cr_assert_eq(tap(e, "a", 1014), 0);
	/* A call that left before that may have seen what was before. */
	learn(e, "quiz",
	      &(struct said){ "a", SOLD_OUT, 5, 10, UINT32_MAX, 1009 },
	      &before);
	cr_assert_eq(tap(e, "a", 1015), 0);
	/* Not so one that left after: then it was another activity's. */
	SAID("b", SOLD_OUT, 5, 10, 1016);
	cr_assert_eq(tap(e, "b", 1020), SOLD_OUT);
	edge_free(e);
	edge_free(other);
}

/* A loop that learns in one call of many users that it has moved. */
Test(edge, the_rest_of_a_call_counts)
{
	struct edge *e = edge_new(&options);
	uint64_t moves = edge_moves();

	for (unsigned i = 0; i < 3; i++) {
		char user[8];
		struct said s = { user, SOLD_OUT, 6, 10, UINT32_MAX, 1000 };

		(void)snprintf(user, sizeof(user), "u%u", i);
		learn(e, "quiz", &s, &moves);
		cr_assert_eq(tap(e, user, 1004), SOLD_OUT);
	}
	edge_free(e);
}

/* As in an activity whose keys were removed after it was settled. */
Test(edge, what_is_gone_is_not_waited_for)
{
	struct edge *e = edge_new(&options);

	SAID("a", SOLD_OUT, 5, 10, 1000);
	SAID("a", RAIN__STATUS__ENDED, 5, 0, 1001);
	cr_assert_eq(tap(e, "a", 1005), SOLD_OUT, "it left before that came");
	SAID("a", RAIN__STATUS__ENDED, 5, 0, 1006);
	cr_assert_eq(tap(e, "a", 1010), RAIN__STATUS__ENDED);
	edge_free(e);
}

Test(edge, tables_have_bounds)
{
	struct edge *e = edge_new(&options);
	unsigned users = 0;

	for (unsigned i = 0; i < 1000; i++) {
		char user[8];

		(void)snprintf(user, sizeof(user), "u%u", i);
		SAID(user, SOLD_OUT, 5, 10, 1000);
		cr_assert_eq(tap(e, user, 1001), SOLD_OUT, "the newest stays");
	}
	for (unsigned i = 0; i < 1000; i++) {
		char user[8];

		(void)snprintf(user, sizeof(user), "u%u", i);
		users += tap(e, user, 1001) != 0;
	}
	cr_assert_eq(users, 64);
	says(e, "second",
	     (struct said){ "a", SOLD_OUT, 1, 1, UINT32_MAX, 1002 });
	says(e, "third",
	     (struct said){ "a", SOLD_OUT, 1, 1, UINT32_MAX, 1002 });
	cr_assert_eq(tap(e, "u999", 1003), 0, "the oldest of three is gone");
	cr_assert_eq(tap_at(e, "second", "a", 1003), SOLD_OUT);
	cr_assert_eq(tap_at(e, "third", "a", 1003), SOLD_OUT);
	/* It comes back as another one. */
	SAID("b", SOLD_OUT, 5, 10, 1003);
	cr_assert_eq(tap(e, "u999", 1004), 0);
	edge_free(e);
}
