/* From Kafka's records to a transaction. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "settle_metrics.h"
#include "worker_internal.h"

void worker_batch_init(struct worker *w)
{
	size_t max = (size_t)w->options->batch_max;

	w->batch.records = xcalloc(max, sizeof *w->batch.records);
	w->batch.events = xcalloc(max, sizeof *w->batch.events);
}

void worker_batch_close(struct worker *w)
{
	free(w->batch.records);
	free(w->batch.events);
	free(w->batch.moves);
}

bool worker_batch_take(struct worker *w)
{
	struct worker_batch *b = &w->batch;

	check(b->handle == NULL);
	b->count =
		kafka_consumer_take(w->consumer, (size_t)w->options->batch_max,
				    b->records, &b->handle);
	return b->count > 0;
}

void worker_batch_release(struct worker *w)
{
	struct worker_batch *b = &w->batch;

	if (b->handle != NULL) {
		kafka_consumer_release(w->consumer, b->handle);
		b->handle = NULL;
	}
	b->count = 0;
}

static struct ledger_move *move_of(struct worker *w,
				   const struct kafka_record *r)
{
	for (size_t i = 0; i < w->position_count; i++) {
		const struct ledger_position *p = &w->positions[i];

		if (p->partition == r->partition &&
		    strcmp(p->topic, r->topic) == 0) {
			return &w->batch.moves[i];
		}
	}
	return NULL;
}

static void read_record(struct worker *w, const struct kafka_record *r)
{
	struct event *e = &w->batch.events[w->batch.event_count++];
	struct event_place place = { .topic = bytes_str(r->topic),
				     .partition = r->partition,
				     .offset = r->offset,
				     .key = r->key,
				     .value = r->value };
	bool claims = strcmp(r->topic, w->options->topic_claims) == 0;

	event_read(e, claims ? EVENT_TOPIC_CLAIMS : EVENT_TOPIC_ACTIVITIES,
		   &place);
}

/* Kafka sends from our place on, or from its beginning if it has no such place:
 * then the topic was lost and made anew, and what comes is not what was there.
 * A message that was applied before changes nothing. */
static void note_place(struct ledger_move *m, const struct kafka_record *r)
{
	if (r->offset < m->to) {
		log_warn("the log of a partition begins again",
			 log_str("topic", r->topic),
			 log_int("partition", r->partition),
			 log_int("offset", r->offset),
			 log_int("expected", m->to));
	}
	m->to = r->offset + 1;
}

/* Messages of partitions that are not ours (left over from before a rebalance)
 * are none of our business. */
static void read_records(struct worker *w)
{
	struct worker_batch *b = &w->batch;
	struct ledger_move *m = NULL;
	const struct kafka_record *last = NULL;

	b->move_count = w->position_count;
	for (size_t i = 0; i < w->position_count; i++) {
		const struct ledger_position *p = &w->positions[i];

		b->moves[i] =
			(struct ledger_move){ bytes_str(p->topic), p->partition,
					      p->next_offset, p->next_offset };
	}
	b->event_count = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct kafka_record *r = &b->records[i];

		if (last == NULL || last->topic != r->topic ||
		    last->partition != r->partition) {
			m = move_of(w, r);
			last = r;
		}
		if (m != NULL) {
			note_place(m, r);
			read_record(w, r);
		}
	}
}

/* Partitions without messages need no write, but their order does not matter
 * either: close the gaps. */
static void drop_still(struct worker_batch *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->move_count; i++) {
		if (b->moves[i].to != b->moves[i].from) {
			b->moves[kept++] = b->moves[i];
		}
	}
	b->move_count = kept;
}

int worker_batch_apply(struct worker *w)
{
	struct worker_batch *b = &w->batch;
	uint64_t start = clock_mono_us();
	struct ledger_batch batch;
	int rv;

	read_records(w);
	drop_still(b);
	batch = (struct ledger_batch){
		.cluster_id = bytes_str(w->cluster_id),
		.moves = b->moves,
		.move_count = b->move_count,
		.events = b->events,
		.event_count = b->event_count,
		.now_ms = clock_wall_ms(),
	};
	rv = ledger_apply(w->ledger, &batch, &b->result);
	for (size_t i = 0; i < b->event_count; i++) {
		event_close(&b->events[i]);
	}
	b->took_us = clock_mono_us() - start;
	return rv;
}

static void move_positions(struct worker *w)
{
	for (size_t i = 0; i < w->batch.move_count; i++) {
		const struct ledger_move *m = &w->batch.moves[i];

		for (size_t p = 0; p < w->position_count; p++) {
			if (w->positions[p].partition == m->partition &&
			    bytes_eq(bytes_str(w->positions[p].topic),
				     m->topic)) {
				w->positions[p].next_offset = m->to;
			}
		}
	}
}

void worker_batch_applied(struct worker *w)
{
	struct worker_batch *b = &w->batch;
	int64_t lag = clock_wall_ms() - b->records[b->count - 1].timestamp_ms;

	if (b->result.moved) {
		metric_add(&settle_moved, 1);
		log_warn("another worker was here, joining the group again");
		w->restart = true;
		worker_batch_release(w);
		return;
	}
	move_positions(w);
	settle_metrics_add(&b->result);
	metric_observe(&settle_batch, b->event_count);
	metric_observe(&settle_transaction, b->took_us);
	metric_set(&settle_lag_ms, lag > 0 ? lag : 0);
	w->commit_due = true;
	if (b->result.dead_letters > 0) {
		log_error("messages cannot be settled",
			  log_int("new", b->result.dead_letters));
		w->dlq.wanted = true;
	}
	log_debug("applied", log_int("messages", (int64_t)b->event_count),
		  log_int("credits", b->result.credits),
		  log_int("replays", b->result.replays),
		  log_int("us", (int64_t)b->took_us));
	worker_batch_release(w);
}
