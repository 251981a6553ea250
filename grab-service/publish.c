#include <stdlib.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/metrics.h"
#include "proto/claim_event.h"
#include "proto/proto_util.h"

#include "claim.h"
#include "event_text.h"
#include "halt.h"
#include "track.h"

enum { CLAIM_EVENT_MAX = 512 }; /* two ids and a packet id */

#define CONTENT_CLAIM "application/x-protobuf; message=rain.ClaimEvent"
#define CONTENT_EVENT "application/x-protobuf; message=rain.ActivityEvent"

/*
 * What a delivery report carries back, packed into a pointer, so that nothing
 * is allocated per message and a report for a track that started again, or is
 * gone, is known as such:
 *
 *   63        48 47        33  32   31                    0
 *   |   slot   |   epoch    | kind |  low half of position |
 */
enum { EPOCH_MASK = 0x7fff };

static void *tag(const struct track *t, enum track_kind kind, uint64_t position)
{
	uint64_t v = (uint64_t)t->slot << 48 |
		     (uint64_t)(t->epoch & EPOCH_MASK) << 33 |
		     (uint64_t)kind << 32 | (position & UINT32_MAX);

	return (void *)(uintptr_t)v;
}

bool track_progress(const struct track *t)
{
	return t->claims.done > t->claims_cursor ||
	       t->events.done > t->events_cursor;
}

void track_sent(struct track *t)
{
	if (t->claims_length < t->claims.sent) {
		t->claims_length = t->claims.sent;
		track_count(t);
	}
}

static void pause_sending(struct track *t)
{
	t->pause_ms = uv_now(t->relay->env->loop) + TRACK_BACKOFF_MS;
}

static bool send_message(struct track *t, const struct kafka_message *m,
			 enum track_kind kind, uint64_t position)
{
	int rv = kafka_produce(t->relay->producer, m, tag(t, kind, position));

	if (rv == ERR_NOT_READY) {
		relay_topics_gone(t->relay, kind);
	}
	if (rv != 0) {
		/* Full: it is read again when there is room. */
		pause_sending(t);
		return false;
	}
	if (t->outstanding++ == 0 && !track_progress(t)) {
		t->advance_ms = uv_now(t->relay->env->loop) + TRACK_ADVANCE_MS;
	}
	return true;
}

static bool send_claim(struct track *t, const struct claim *c)
{
	uint8_t room[CLAIM_EVENT_MAX];
	uint8_t *end = room + sizeof room;
	uint8_t *packed;
	Rain__ClaimEvent m = RAIN__CLAIM_EVENT__INIT;
	struct kafka_message message = {
		.topic = t->relay->env->options->topic_claims,
		.key = c->user_id,
		.content_type = CONTENT_CLAIM,
	};
	uint64_t position;

	m.activity_id = to_pb(activity_id(t->activity));
	m.red_packet_id = to_pb(c->packet.red_packet_id);
	m.user_id = to_pb(c->user_id);
	m.amount_cents = c->packet.amount_cents;
	m.seq = c->seq;
	m.at_ms = c->at_ms;
	m.tranche = c->tranche;
	check(claim_event_room(&m) <= sizeof room);
	packed = put_claim_event(end, &m);
	message.value = bytes_make(packed, (size_t)(end - packed));
	position = window_send(&t->claims);
	check(position == c->seq);
	if (!send_message(t, &message, KIND_CLAIM, position)) {
		window_unsend(&t->claims);
		return false;
	}
	activity_saw_claim(t->activity, c->seq, c->user_id);
	return true;
}

static void block(struct track *t, uint64_t position, struct bytes text,
		  const char *why)
{
	t->blocked = position;
	if (t->told != position) {
		t->told = position;
		log_error("not an element of ours",
			  log_str("activity", t->activity->id),
			  log_int("position", (int64_t)position),
			  log_str("why", why), log_bytes("text", text));
	}
}

void publish_claims(struct track *t, const redisReply *list)
{
	/* What went on its way since they were asked for. */
	size_t gone = (size_t)(t->claims.sent - t->read_after);

	for (size_t i = gone; i < list->elements; i++) {
		const redisReply *e = list->element[i];
		struct bytes text = bytes_make(e->str, e->len);
		uint64_t position = t->claims.sent + 1;
		struct claim claim;
		const char *why = "not text";

		if (window_room(&t->claims) == 0) {
			return;
		}
		if (e->type != REDIS_REPLY_STRING ||
		    !claim_parse(text, &claim, &why) || claim.seq != position) {
			why = why != NULL ? why : "its seq is not its position";
			block(t, position, text, why);
			halt_element(t->relay->env, t->activity, position);
			return;
		}
		if (!roll_judge_claim(t->relay->env, t->activity, &claim,
				      t->revision)) {
			t->blocked = position;
			return;
		}
		if (!send_claim(t, &claim)) {
			return;
		}
	}
}

bool relay_publish(struct activity *a, const struct claim *c, uint64_t revision)
{
	struct track *t = a->track;

	/* A read that found something in the way must look again first, and a
	 * reply of another revision may know what t does not. */
	if (t == NULL || t->revision != revision || t->blocked != 0 ||
	    c->seq != t->claims.sent + 1 || track_room(t) == 0) {
		return false;
	}
	if (!send_claim(t, c)) {
		return false;
	}
	track_sent(t);
	return true;
}

static bool send_event(struct track *t, struct bytes packed)
{
	struct kafka_message message = {
		.topic = t->relay->env->options->topic_activities,
		.key = activity_id(t->activity),
		.value = packed,
		.content_type = CONTENT_EVENT,
	};
	uint64_t position = window_send(&t->events);

	if (!send_message(t, &message, KIND_EVENT, position)) {
		window_unsend(&t->events);
		return false;
	}
	return true;
}

void publish_events(struct track *t, const redisReply *list)
{
	struct buf packed;

	buf_init(&packed);
	for (size_t i = 0; i < list->elements; i++) {
		const redisReply *e = list->element[i];
		const char *why = "not text";

		if (window_room(&t->events) == 0) {
			break;
		}
		if (e->type != REDIS_REPLY_STRING ||
		    !event_text_pack(activity_id(t->activity),
				     bytes_make(e->str, e->len), &packed,
				     &why)) {
			block(t, t->events.sent + 1, bytes_make(e->str, e->len),
			      why);
			halt_evidence(t->relay->env, t->activity,
				      "an element of events is not an event");
			break;
		}
		if (!send_event(t, buf_live(&packed))) {
			break;
		}
		buf_take(&packed, buf_len(&packed));
	}
	buf_close(&packed);
}

/* The position with these low 32 bits that is in flight. */
static uint64_t widen(const struct window *w, uint64_t low)
{
	uint64_t high = w->sent & ~(uint64_t)UINT32_MAX;

	return (high | low) > w->sent ? (high | low) - (UINT64_C(1) << 32)
				      : high | low;
}

static bool is_gone(rd_kafka_resp_err_t error)
{
	return error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
	       error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
	       error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

void publish_delivered(void *ctx, void *opaque, rd_kafka_resp_err_t error)
{
	struct relay *relay = ctx;
	uint64_t v = (uint64_t)(uintptr_t)opaque;
	struct track *t = relay->slots[v >> 48];
	enum track_kind kind = (v >> 32 & 1) != 0 ? KIND_EVENT : KIND_CLAIM;
	struct window *w;

	check(t != NULL); /* outstanding keeps it */
	check(t->outstanding > 0);
	t->outstanding--;
	if ((v >> 33 & EPOCH_MASK) != (t->epoch & EPOCH_MASK)) {
		relay_kick(relay);
		return;
	}
	if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
		log_warn("not delivered", log_str("activity", t->activity->id),
			 log_str("why", rd_kafka_err2str(error)));
		track_drop(t, "Kafka did not take it");
		pause_sending(t);
		if (is_gone(error)) {
			relay_topics_gone(relay, kind);
		}
		return;
	}
	relay->lost[kind] = relay->lost[kind] && relay->topics_gone;
	w = kind == KIND_CLAIM ? &t->claims : &t->events;
	if (kind == KIND_CLAIM) {
		metric_add(&relay_published, 1);
	}
	if (window_ack(w, widen(w, v & UINT32_MAX))) {
		relay_kick(relay);
	}
}
