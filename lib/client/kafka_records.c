#include "client/kafka_consumer.h"

#include <stdlib.h>

#include "client/kafka_metrics.h"

enum {
	BATCH_MIN = 64,
};

static void push(struct kafka_batch *b, struct kafka_item item)
{
	if (b->count == b->size) {
		b->size = b->size == 0 ? BATCH_MIN : b->size * 2;
		b->items = xrealloc(b->items, b->size * sizeof(*b->items));
	}
	b->items[b->count++] = item;
}

static void clear(struct kafka_batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		rd_kafka_event_destroy(b->items[i].event);
	}
	free(b->items);
	*b = (struct kafka_batch){ 0 };
}

bool kafka_consumer_keep(struct kafka_consumer *c, rd_kafka_event_t *event)
{
	const rd_kafka_message_t *m;

	if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_FETCH) {
		return false;
	}
	/* This moves librdkafka's position, from which a resume goes on. */
	m = rd_kafka_event_message_next(event);
	if (m == NULL || m->err != 0) {
		return false;
	}
	push(&c->waiting, (struct kafka_item){ event, m });
	return true;
}

rd_kafka_event_t *kafka_consumer_next(struct kafka_consumer *c)
{
	rd_kafka_event_t *event = c->deferred;

	if (event != NULL) {
		c->deferred = NULL;
		return event;
	}
	return rd_kafka_queue_poll(c->queue, 0);
}

void kafka_consumer_forget(struct kafka_consumer *c)
{
	clear(&c->waiting);
}

/* Read messages up to max or up to something else. Stopping before the queue
 * is empty, we must come again: no edge will tell. */
static void fill(struct kafka_consumer *c, size_t max)
{
	while (c->waiting.count < max && c->deferred == NULL) {
		rd_kafka_event_t *event = kafka_consumer_next(c);

		if (event == NULL) {
			return;
		}
		if (!kafka_consumer_keep(c, event)) {
			c->deferred = event;
		}
	}
	kafka_wake_arm(&c->wake);
}

/* The first n of the messages that wait, as a batch of their own. */
static struct kafka_batch *cut(struct kafka_batch *waiting, size_t n)
{
	struct kafka_batch *b = xcalloc(1, sizeof(*b));

	if (n == waiting->count) {
		*b = *waiting;
		*waiting = (struct kafka_batch){ 0 };
		return b;
	}
	for (size_t i = 0; i < n; i++) {
		push(b, waiting->items[i]);
	}
	waiting->count -= n;
	memmove(waiting->items, waiting->items + n,
		waiting->count * sizeof(*waiting->items));
	return b;
}

static struct kafka_record record_of(const rd_kafka_message_t *m)
{
	return (struct kafka_record){
		.topic = rd_kafka_topic_name(m->rkt),
		.partition = m->partition,
		.offset = m->offset,
		.timestamp_ms = rd_kafka_message_timestamp(m, NULL),
		.key = bytes_make(m->key, m->key_len),
		.value = bytes_make(m->payload, m->len),
	};
}

size_t kafka_consumer_take(struct kafka_consumer *c, size_t max,
			   struct kafka_record *records, void **batch)
{
	struct kafka_batch *b;
	size_t n;

	check(max > 0);
	*batch = NULL;
	if (c->paused || c->freeing) {
		return 0;
	}
	c->told = false;
	fill(c, max);
	n = c->waiting.count < max ? c->waiting.count : max;
	if (n == 0) {
		return 0;
	}
	b = cut(&c->waiting, n);
	for (size_t i = 0; i < n; i++) {
		records[i] = record_of(b->items[i].message);
	}
	c->batches++;
	metric_add(&kafka_consumed, (int64_t)n);
	*batch = b;
	return n;
}

void kafka_consumer_release(struct kafka_consumer *c, void *batch)
{
	struct kafka_batch *b = batch;

	if (b == NULL) {
		return;
	}
	check(c->batches > 0);
	c->batches--;
	clear(b);
	free(b);
}
