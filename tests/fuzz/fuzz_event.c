/* A message of Kafka, as the settle-worker reads it; the first byte chooses
 * the topic. */
#include "base/amount.h"
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"
#include "settle-worker/event.h"

enum { ARENA_MAX = 16 * 1024, DETAIL_MAX = 2048 };

static bool same_id(const struct event_id *a, const struct event_id *b)
{
	return bytes_eq(event_id_view(a), event_id_view(b));
}

static bool counted(int64_t n)
{
	return n >= 0 && n <= AMOUNT_MAX_CENTS;
}

static void check_claim(const struct event *e)
{
	const struct event_claim *c = &e->claim;

	check(id_valid_claimant(event_id_view(&c->user_id)));
	check(c->user_id.s[c->user_id.n] == '\0');
	check(c->red_packet_id.n >= 1);
	check(c->red_packet_id.s[c->red_packet_id.n] == '\0');
	check(c->amount_cents >= 1 && counted(c->amount_cents));
	check(c->seq >= 1 && counted(c->seq));
	check(c->tranche >= 1 && c->tranche <= UINT32_MAX);
}

static void check_change(const struct event *e)
{
	const struct event_change *c = &e->change;
	struct bytes name = bytes_str(event_change_name(c->kind));

	check(event_change_kind(name) == c->kind);
	check(c->revision >= 1 && counted(c->revision));
	check(counted(c->packets) && counted(c->amount_cents));
	check(counted(c->claims));
	check(c->detail.n <= DETAIL_MAX && bytes_utf8(c->detail));
	check(bytes_utf8(c->title) && bytes_utf8(c->commitment));
	check(bytes_utf8(c->ack));
	if (c->kind == EVENT_CREATED) {
		check(id_valid(c->sponsor) && c->currency.n == 3);
		check(c->amount_cents >= 1 && c->packets >= 1);
	}
	if (c->kind == EVENT_LOADED || c->kind == EVENT_TOPPED_UP) {
		check(c->amount_cents >= 1 && c->packets >= 1);
		check(c->tranche >= 1);
	}
}

static void same_change(const struct event_change *a,
			const struct event_change *b)
{
	check(a->kind == b->kind && a->revision == b->revision);
	check(a->at_ms == b->at_ms && a->tranche == b->tranche);
	check(a->packets == b->packets && a->amount_cents == b->amount_cents);
	check(a->claims == b->claims && a->start_ms == b->start_ms);
	check(a->end_ms == b->end_ms && bytes_eq(a->title, b->title));
	check(bytes_eq(a->sponsor, b->sponsor));
	check(bytes_eq(a->currency, b->currency));
	check(bytes_eq(a->commitment, b->commitment));
	check(bytes_eq(a->ack, b->ack) && bytes_eq(a->detail, b->detail));
}

static void same(const struct event *a, const struct event *b)
{
	check(a->kind == b->kind && same_id(&a->activity_id, &b->activity_id));
	switch (a->kind) {
	case EVENT_CLAIM:
		check(same_id(&a->claim.user_id, &b->claim.user_id));
		check(same_id(&a->claim.red_packet_id,
			      &b->claim.red_packet_id));
		check(a->claim.amount_cents == b->claim.amount_cents);
		check(a->claim.seq == b->claim.seq);
		check(a->claim.at_ms == b->claim.at_ms);
		check(a->claim.tranche == b->claim.tranche);
		break;
	case EVENT_CHANGE:
		same_change(&a->change, &b->change);
		break;
	case EVENT_POISON:
		check(strcmp(a->reason, b->reason) == 0);
		break;
	}
}

/* The message as our relay would have packed it means the same. */
static void read_again(const struct event *e, enum event_topic topic)
{
	const ProtobufCMessageDescriptor *d =
		topic == EVENT_TOPIC_CLAIMS ? &rain__claim_event__descriptor
					    : &rain__activity_event__descriptor;
	ProtobufCMessage *m = fuzz_message(d, e->place.value, ARENA_MAX);
	struct event_place place = { .topic = BYTES("t") };
	struct event again;
	uint8_t *packed;
	size_t n;

	if (m == NULL) {
		check(e->kind == EVENT_POISON);
		return;
	}
	n = protobuf_c_message_get_packed_size(m);
	packed = xmalloc(n + 1);
	(void)protobuf_c_message_pack(m, packed);
	place.value = bytes_make(packed, n);
	event_read(&again, topic, &place);
	same(e, &again);
	event_close(&again);
	fuzz_drop(place.value);
	proto_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = bytes_make(data, size);
	enum event_topic topic = fuzz_choice(&input) % 2 == 0
					 ? EVENT_TOPIC_CLAIMS
					 : EVENT_TOPIC_ACTIVITIES;
	struct event_place place = { .topic = BYTES("t"),
				     .value = fuzz_copy(input) };
	struct event e;

	event_read(&e, topic, &place);
	check(e.place.value.n == input.n);
	if (e.kind == EVENT_POISON) {
		check(e.reason != NULL && e.activity_id.n == 0);
	} else {
		check(id_valid(event_id_view(&e.activity_id)));
		check((e.kind == EVENT_CLAIM) == (topic == EVENT_TOPIC_CLAIMS));
	}
	if (e.kind == EVENT_CLAIM) {
		check_claim(&e);
	} else if (e.kind == EVENT_CHANGE) {
		check_change(&e);
	}
	read_again(&e, topic);
	event_close(&e);
	fuzz_drop(place.value);
	return 0;
}
