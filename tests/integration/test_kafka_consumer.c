/* What a consumer reads, from a real broker. */
#include "lib/kafka_broker.h"
#include "lib/kafka_member.h"
#include "lib/turns.h"

/* F45: what was produced before the group existed is not skipped. */
Test(kafka_consumer, begins_at_the_earliest)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	member_topic(topic, sizeof(topic), 2);
	member_fill(topic, 0, 3);
	member_fill(topic, 1, 2);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.taken == 5);
	cr_assert_eq(m.lowest, 0);
	cr_assert_eq(m.failures, 0);
	member_leave(&m, &loop);
	turns_end(&loop);
}

/* An edge-triggered wake-up tells once of a thousand messages. */
Test(kafka_consumer, budget_smaller_than_the_backlog)
{
	struct member m = { .first_offset = -1, .budget = 7 };
	uv_loop_t loop;
	char topic[64];

	member_topic(topic, sizeof(topic), 3);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_fill_many(&loop, topic, 1000);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.taken == 1000);
	member_fill_many(&loop, topic, 8);
	RUN_UNTIL(&loop, m.taken == 1008);
	member_leave(&m, &loop);
	turns_end(&loop);
}

/* The owner looks its offsets up somewhere slow, and answers later. */
Test(kafka_consumer, begins_where_the_owner_says)
{
	struct member m = { .first_offset = 4, .answer_late = true };
	uv_loop_t loop;
	char topic[64];

	member_topic(topic, sizeof(topic), 1);
	member_fill(topic, 0, 6);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.unanswered != NULL);
	cr_assert_eq(m.taken, 0);
	member_answer(&m, m.unanswered);
	RUN_UNTIL(&loop, m.taken == 2);
	cr_assert_eq(m.lowest, 4);
	member_leave(&m, &loop);
	turns_end(&loop);
}

/* While one pauses another group reads all there is; after the resume nothing
 * is missing and nothing comes twice (look_at() compares offsets). */
Test(kafka_consumer, pauses_and_resumes)
{
	struct member m = { .first_offset = -1, .budget = 10 };
	struct member witness = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];
	size_t taken;

	member_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_fill_many(&loop, topic, 50);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.taken > 0);
	kafka_consumer_pause(m.c);
	taken = m.taken;
	member_fill_many(&loop, topic, 50);
	member_watch(&witness, &loop, topic);
	RUN_UNTIL(&loop, witness.taken == 100);
	cr_assert_eq(m.taken, taken);
	/* They lie with the broker, not in our memory. */
	cr_assert_leq(m.c->waiting.count, 1);
	kafka_consumer_resume(m.c);
	RUN_UNTIL(&loop, m.taken == 100);
	member_leave(&m, &loop);
	member_leave(&witness, &loop);
	turns_end(&loop);
}

/* Partitions that come during a pause are paused too. */
Test(kafka_consumer, a_pause_covers_new_partitions)
{
	struct member m = { .first_offset = -1 };
	struct member witness = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	member_topic(topic, sizeof(topic), 1);
	member_fill(topic, 0, 3);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	kafka_consumer_pause(m.c);
	RUN_UNTIL(&loop, m.partitions == 1);
	member_watch(&witness, &loop, topic);
	RUN_UNTIL(&loop, witness.taken == 3);
	/* Rounds that give the paused one time to do wrong. */
	for (size_t i = 1; i <= 5; i++) {
		member_fill(topic, 0, 1);
		RUN_UNTIL(&loop, witness.taken == 3 + i);
	}
	cr_assert_eq(m.taken, 0);
	cr_assert_eq(m.c->waiting.count, 0);
	kafka_consumer_resume(m.c);
	RUN_UNTIL(&loop, m.taken == 8);
	member_leave(&m, &loop);
	member_leave(&witness, &loop);
	turns_end(&loop);
}
