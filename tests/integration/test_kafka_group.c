/* How a consumer lives in its group, with a real broker. */
#include <stdlib.h>

#include "base/clock.h"
#include "lib/kafka_broker.h"
#include "lib/kafka_member.h"
#include "lib/turns.h"

/* One gives half of its partitions to a newcomer, with a batch still in hand,
 * and gets them back when that one leaves. */
Test(kafka_group, shares_with_a_newcomer, .timeout = 60)
{
	struct member a = { .first_offset = -1, .hold = true };
	struct member b = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	member_topic(topic, sizeof(topic), 4);
	member_fill(topic, 0, 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&a, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, a.held != NULL);
	cr_assert_eq(a.partitions, 4);
	a.hold = false;
	member_join(&b, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, a.partitions == 2 && b.partitions == 2);
	cr_assert_null(a.held);
	cr_assert_eq(a.revocations, 1);
	/* Whose are the first two is chance: it goes by random member ids. */
	member_fill(topic, 0, 2);
	member_fill(topic, 3, 2);
	RUN_UNTIL(&loop,
		  a.next[0] + b.next[0] == 3 && a.next[3] + b.next[3] == 2);
	cr_assert((a.next[0] == 3) != (a.next[3] == 2), "one has both");
	member_leave(&b, &loop);
	RUN_UNTIL(&loop, a.partitions == 4);
	member_fill(topic, 3, 1);
	RUN_UNTIL(&loop, a.next[3] == 3);
	cr_assert_eq(a.failures + b.failures, 0);
	member_leave(&a, &loop);
	turns_end(&loop);
}

/* Nothing arrives for longer than max.poll.interval.ms: still a member. */
Test(kafka_group, stays_in_the_group_when_idle, .timeout = 60)
{
	struct config_pair pairs[] = { { "max.poll.interval.ms", "6000" },
				       { "session.timeout.ms", "6000" } };
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];
	uint64_t end;

	member_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, pairs, 2);
	RUN_UNTIL(&loop, m.partitions == 1);
	end = clock_mono_ms() + 7500;
	RUN_UNTIL(&loop, clock_mono_ms() > end);
	member_fill(topic, 0, 1);
	RUN_UNTIL(&loop, m.taken == 1);
	cr_assert_eq(m.revocations, 0);
	cr_assert_eq(m.failures, 0);
	member_leave(&m, &loop);
	turns_end(&loop);
}

/* It may start before the topic exists. */
Test(kafka_group, finds_a_topic_made_later)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	kafka_broker_topic(topic, sizeof(topic), "later");
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.failures > 0); /* it says that there is none */
	kafka_broker_create(topic, 1);
	member_fill(topic, 0, 1);
	RUN_UNTIL(&loop, m.taken == 1);
	member_leave(&m, &loop);
	turns_end(&loop);
}

/* Nobody will answer any more; the end does not wait for it. */
Test(kafka_group, is_freed_with_an_assignment_unanswered)
{
	struct member m = { .first_offset = -1, .answer_late = true };
	uv_loop_t loop;
	char topic[64];
	uint64_t start;

	member_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.unanswered != NULL);
	start = clock_mono_ms();
	member_leave(&m, &loop);
	cr_assert_lt(clock_mono_ms() - start, 5000, "it was abandoned");
	rd_kafka_topic_partition_list_destroy(m.unanswered);
	turns_end(&loop);
}

Test(kafka_group, is_freed_without_a_broker)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	uint64_t start = clock_mono_ms();

	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, "127.0.0.1:1", "nothing", NULL, 0);
	RUN_UNTIL(&loop, m.failures > 0); /* all brokers are down */
	member_leave(&m, &loop);
	cr_assert_lt(clock_mono_ms() - start, 8000);
	turns_end(&loop);
}

Test(kafka_group, knows_the_cluster)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];
	char *id;

	member_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
	id = kafka_consumer_cluster_id(m.c, 10000);
	cr_assert_not_null(id);
	cr_assert_eq(strlen(id), 22);
	free(id);
	member_leave(&m, &loop);
	turns_end(&loop);
}
