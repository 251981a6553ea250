#include "client/kafka_topics.h"

#include <criterion/criterion.h>

static struct kafka_topic_spec spec(int replication, int min_insync)
{
	return (struct kafka_topic_spec){ .name = "t",
					  .partitions = 12,
					  .retention_ms = 1,
					  .min_insync_replicas = min_insync,
					  .replication = replication };
}

/* A cluster of one can neither replicate nor wait for a second replica. */
Test(kafka_topics, one_broker)
{
	struct kafka_topic_spec want = spec(3, 2);
	struct kafka_topic_spec fit = kafka_topic_fit(&want, 1);

	cr_assert_eq(fit.replication, 1);
	cr_assert_eq(fit.min_insync_replicas, 1);
	cr_assert_eq(fit.partitions, 12);
	cr_assert_eq(fit.retention_ms, 1);
}

Test(kafka_topics, enough_brokers)
{
	struct kafka_topic_spec want = spec(3, 2);
	struct kafka_topic_spec fit = kafka_topic_fit(&want, 5);

	cr_assert_eq(fit.replication, 3);
	cr_assert_eq(fit.min_insync_replicas, 2);
}

/* More replicas in sync than there are would refuse every message. */
Test(kafka_topics, min_insync_within_replication)
{
	struct kafka_topic_spec want = spec(2, 3);

	cr_assert_eq(kafka_topic_fit(&want, 5).min_insync_replicas, 2);
}

Test(kafka_topics, never_below_one)
{
	struct kafka_topic_spec want = spec(0, 0);
	struct kafka_topic_spec fit = kafka_topic_fit(&want, 0);

	cr_assert_eq(fit.replication, 1);
	cr_assert_eq(fit.min_insync_replicas, 1);
}

Test(kafka_topics, usable_needs_every_leader)
{
	static char led[] = "led";
	static char headless[] = "headless";
	static char refused[] = "refused";
	struct rd_kafka_metadata_partition one[] = { { .id = 0, .leader = 1 } };
	struct rd_kafka_metadata_partition two[] = {
		{ .id = 0, .leader = 1 }, { .id = 1, .leader = -1 }
	};
	struct rd_kafka_metadata_topic topics[] = {
		{ .topic = led, .partition_cnt = 1, .partitions = one },
		{ .topic = headless, .partition_cnt = 2, .partitions = two },
		{ .topic = refused,
		  .partition_cnt = 1,
		  .partitions = one,
		  .err = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED },
	};
	struct rd_kafka_metadata metadata = { .topic_cnt = 3,
					      .topics = topics };

	cr_assert(kafka_topic_usable(&metadata, "led"));
	cr_assert(!kafka_topic_usable(&metadata, "headless"));
	cr_assert(!kafka_topic_usable(&metadata, "refused"));
	cr_assert(!kafka_topic_usable(&metadata, "absent"));
	cr_assert_eq(kafka_topic_find(&metadata, "headless"), &topics[1]);
}
