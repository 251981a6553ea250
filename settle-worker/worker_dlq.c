/* Dead letters go to their topic after the transaction that keeps them; the
 * ledger remembers which were sent, so that none is forgotten in a crash. */
#include <stdlib.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/rand.h"
#include "worker_internal.h"

enum { RETRY_MS = 5000 };

bool worker_dlq_due(const struct worker *w)
{
	const struct worker_dlq *d = &w->dlq;

	return d->wanted && d->in_flight == 0 && d->sent_count == 0 &&
	       !w->stopping && uv_now(w->loop) >= d->not_before;
}

int worker_dlq_read(struct worker *w)
{
	return ledger_dead_letters(w->ledger, w->dlq.letters,
				   WORKER_DEAD_LETTERS, &w->dlq.count);
}

static void put_hex(json_t *object, const char *key, struct bytes b)
{
	char *hex = xmalloc(b.n * 2 + 1);

	hex_encode(b.p, b.n, hex);
	(void)json_object_set_new(object, key, json_string(hex));
	free(hex);
}

/* Bytes that nobody could read travel as hex, in a message that all can. */
static char *describe(const struct ledger_dead_letter *l)
{
	json_t *object = json_object();
	char *text;

	(void)json_object_set_new(object, "reason", json_string(l->reason));
	(void)json_object_set_new(object, "topic", json_string(l->topic));
	(void)json_object_set_new(object, "partition",
				  json_integer(l->partition));
	(void)json_object_set_new(object, "offset", json_integer(l->offset));
	put_hex(object, "key", buf_live(&l->key));
	put_hex(object, "value", buf_live(&l->value));
	/* Then the rest is in the table. */
	if ((size_t)l->key_bytes > buf_len(&l->key)) {
		(void)json_object_set_new(object, "key_bytes",
					  json_integer(l->key_bytes));
	}
	if ((size_t)l->value_bytes > buf_len(&l->value)) {
		(void)json_object_set_new(object, "value_bytes",
					  json_integer(l->value_bytes));
	}
	text = json_dumps(object, JSON_COMPACT);
	check(text != NULL); /* all of it is text */
	json_decref(object);
	return text;
}

static void later(struct worker *w)
{
	w->dlq.wanted = true;
	w->dlq.not_before = uv_now(w->loop) + RETRY_MS;
}

static void send_one(struct worker *w, const struct ledger_dead_letter *l)
{
	char *text = describe(l);
	struct kafka_message m = { .topic = w->options->topic_dlq,
				   .key = buf_live(&l->key),
				   .value = bytes_str(text),
				   .content_type = "application/json" };
	int64_t *number = xmalloc(sizeof *number);

	*number = l->number;
	w->dlq.in_flight++;
	if (kafka_produce(w->producer, &m, number) != 0) {
		w->dlq.in_flight--;
		w->dlq.failed = true;
		free(number);
	}
	free(text);
}

static void forget_letters(struct worker *w)
{
	for (size_t i = 0; i < w->dlq.count; i++) {
		buf_close(&w->dlq.letters[i].key);
		buf_close(&w->dlq.letters[i].value);
	}
	w->dlq.count = 0;
}

static void topic_done(void *ctx, int error, const char *why)
{
	struct worker *w = ctx;

	w->dlq.topic_asked = false;
	w->dlq.topic_ready = error == 0;
	if (error != 0) {
		log_warn("the dead letter topic cannot be made",
			 log_str("why", why));
		later(w);
	} else {
		w->dlq.not_before = 0;
	}
	worker_pump(w);
}

static void ask_topic(struct worker *w)
{
	struct kafka_topic_spec spec = {
		.name = w->options->topic_dlq,
		.partitions = 1,
		.retention_ms = w->options->topic_retention_ms,
		.min_insync_replicas = (int)w->options->topic_min_insync,
		.replication = (int)w->options->topic_replication,
	};

	later(w);
	if (!w->dlq.topic_asked) {
		w->dlq.topic_asked = true;
		kafka_create_topics(w->producer, &spec, 1, topic_done, w);
	}
}

void worker_dlq_send(struct worker *w)
{
	struct worker_dlq *d = &w->dlq;

	d->wanted = d->count == WORKER_DEAD_LETTERS;
	if (d->count > 0 && !d->topic_ready) {
		ask_topic(w);
	} else {
		d->failed = false;
		for (size_t i = 0; i < d->count; i++) {
			send_one(w, &d->letters[i]);
		}
		if (d->failed) {
			later(w);
		}
	}
	forget_letters(w);
}

void worker_dlq_delivered(void *ctx, void *opaque, rd_kafka_resp_err_t error)
{
	struct worker *w = ctx;
	struct worker_dlq *d = &w->dlq;
	int64_t *number = opaque;

	check(d->in_flight > 0);
	d->in_flight--;
	if (error == 0) {
		d->sent[d->sent_count++] = *number;
	} else {
		log_warn("dead letter not delivered",
			 log_str("why", rd_kafka_err2str(error)));
		later(w);
	}
	free(number);
	if (d->in_flight == 0) {
		worker_pump(w);
	}
}

int worker_dlq_mark(struct worker *w)
{
	struct worker_dlq *d = &w->dlq;
	int rv = 0;

	while (rv == 0 && d->sent_count > 0) {
		rv = ledger_dead_letter_sent(
			w->ledger, d->sent[d->sent_count - 1], clock_wall_ms());
		if (rv == 0) {
			d->sent_count--;
		}
	}
	return rv;
}
