#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "client/kafka_admin.h"
#include "client/kafka_topics.h"

static void find_end(struct kafka_admin_call *call, const char *topic,
		     int32_t partition)
{
	struct kafka_end *end;
	int64_t low;
	int64_t high;
	rd_kafka_resp_err_t rv;

	rv = rd_kafka_query_watermark_offsets(call->rk, topic, partition, &low,
					      &high, kafka_admin_left(call));
	if (rv != 0) {
		kafka_admin_failed(call, ERR_NOT_READY, "%s: %s", topic,
				   rd_kafka_err2str(rv));
		return;
	}
	call->ends = xrealloc(call->ends,
			      (call->end_count + 1) * sizeof(*call->ends));
	end = &call->ends[call->end_count++];
	*end = (struct kafka_end){ topic, partition, high };
}

static void ends_work(struct kafka_admin_call *call)
{
	const struct rd_kafka_metadata *metadata = kafka_admin_metadata(call);

	if (metadata == NULL) {
		return;
	}
	for (size_t i = 0; i < call->topic_count && call->error == 0; i++) {
		const char *name = call->names[i];
		const struct rd_kafka_metadata_topic *topic =
			kafka_topic_find(metadata, name);

		if (topic == NULL) {
			kafka_admin_failed(call, ERR_NOT_READY, "no topic %s",
					   name);
			break;
		}
		for (int k = 0; k < topic->partition_cnt && call->error == 0;
		     k++) {
			find_end(call, name, topic->partitions[k].id);
		}
	}
	rd_kafka_metadata_destroy(metadata);
}

/* After an error or a call given up there is nothing to show: the thread may
 * still be writing. */
static void ends_done(struct kafka_admin_call *call, int error, const char *why)
{
	if (error != 0) {
		log_warn("no end offsets", log_err(error), log_str("why", why));
		call->user.ended(call->ctx, error, NULL, 0);
		return;
	}
	call->user.ended(call->ctx, 0, call->ends, call->end_count);
}

void kafka_end_offsets(struct kafka_producer *p, const char *const *topics,
		       size_t count, uint64_t timeout_ms,
		       void (*done)(void *ctx, int error,
				    const struct kafka_end *ends, size_t n),
		       void *ctx)
{
	struct kafka_admin_call *call = xcalloc(1, sizeof(*call));

	check(count > 0);
	call->names = xcalloc(count, sizeof(*call->names));
	call->topic_count = count;
	for (size_t i = 0; i < count; i++) {
		call->names[i] = xstrndup(topics[i], strlen(topics[i]));
	}
	call->work = ends_work;
	call->done = ends_done;
	call->user.ended = done;
	call->ctx = ctx;
	kafka_admin_start(p, call, timeout_ms);
}
