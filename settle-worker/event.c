#include "event.h"

#include <stdlib.h>

#include "base/amount.h"
#include "base/buf.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"

enum {
	MESSAGE_MAX = 16 * 1024, /* memory for one message, unpacked */
	TITLE_MAX = 1024,
	DETAIL_MAX = 2048,
};

static const char *const change_names[] = { [EVENT_CHANGE_NONE] = "",
#define X(name, text) [EVENT_##name] = (text),
					    EVENT_CHANGE_MAP(X)
#undef X
};

const char *event_change_name(enum event_change_kind kind)
{
	check(kind < EVENT_CHANGE_END);
	return change_names[kind];
}

enum event_change_kind event_change_kind(struct bytes name)
{
	for (int k = EVENT_CHANGE_NONE + 1; k < EVENT_CHANGE_END; k++) {
		if (bytes_eq(name, bytes_str(change_names[k]))) {
			return (enum event_change_kind)k;
		}
	}
	return EVENT_CHANGE_NONE;
}

static void take_id(struct event_id *id, struct bytes b)
{
	check(b.n <= ID_MAX);
	memcpy(id->s, b.p, b.n);
	id->s[b.n] = '\0';
	id->n = (uint8_t)b.n;
}

/* Packet ids are opaque, but they are text on one line. */
static bool packet_id_valid(struct bytes id)
{
	if (id.n == 0 || id.n > ID_MAX) {
		return false;
	}
	for (size_t i = 0; i < id.n; i++) {
		if (id.p[i] <= ' ' || id.p[i] > '~') {
			return false;
		}
	}
	return true;
}

static bool money(int64_t cents)
{
	return cents >= 1 && cents <= AMOUNT_MAX_CENTS;
}

/* Numbers of packets and claims: exact in every reader, like money. */
static bool counted(uint64_t n)
{
	return n <= (uint64_t)AMOUNT_MAX_CENTS;
}

static const char *read_claim(struct event *e, const Rain__ClaimEvent *m)
{
	struct event_claim *c = &e->claim;

	if (!id_valid(from_pb(m->activity_id))) {
		return "the activity id is not valid";
	}
	if (!packet_id_valid(from_pb(m->red_packet_id))) {
		return "the red packet id is not valid";
	}
	if (!id_valid_claimant(from_pb(m->user_id))) {
		return "the user id is not valid";
	}
	if (!money(m->amount_cents)) {
		return "the amount is not between 1 and 2^53 - 1 cents";
	}
	if (m->seq == 0 || !counted(m->seq)) {
		return "the seq is not between 1 and 2^53 - 1";
	}
	if (m->tranche == 0) {
		return "the tranche is 0";
	}
	take_id(&e->activity_id, from_pb(m->activity_id));
	take_id(&c->red_packet_id, from_pb(m->red_packet_id));
	take_id(&c->user_id, from_pb(m->user_id));
	c->amount_cents = m->amount_cents;
	c->seq = (int64_t)m->seq;
	c->at_ms = m->at_ms;
	c->tranche = m->tranche;
	return NULL;
}

static bool currency_valid(struct bytes b)
{
	for (size_t i = 0; i < b.n; i++) {
		if (b.p[i] < 'A' || b.p[i] > 'Z') {
			return false;
		}
	}
	return b.n == 3;
}

static const char *read_created(struct event_change *c,
				const Rain__ActivityCreated *m)
{
	c->title = from_pb(m->title);
	c->sponsor = from_pb(m->sponsor);
	c->currency = from_pb(m->currency);
	c->commitment = from_pb(m->commitment);
	c->ack = from_pb(m->ack);
	c->amount_cents = m->total_cents;
	c->packets = (int64_t)m->packets;
	c->start_ms = m->start_ms;
	c->end_ms = m->end_ms;
	if (!id_valid(c->sponsor)) {
		return "the sponsor is not a valid id";
	}
	if (!currency_valid(c->currency)) {
		return "the currency is not three letters A-Z";
	}
	if (!money(m->total_cents) || m->packets == 0 || !counted(m->packets)) {
		return "the total or the number of packets is out of range";
	}
	if (c->commitment.n > DETAIL_MAX || c->ack.n > ID_MAX) {
		return "a text of created is too long";
	}
	return NULL;
}

static const char *read_tranche(struct event_change *c,
				const Rain__TrancheLoaded *m)
{
	c->tranche = m->tranche;
	c->packets = (int64_t)m->packets;
	c->amount_cents = m->total_cents;
	c->detail = from_pb(m->commitment);
	if (m->tranche == 0) {
		return "the tranche is 0";
	}
	if (!money(m->total_cents) || m->packets == 0 || !counted(m->packets)) {
		return "the total or the number of packets is out of range";
	}
	return NULL;
}

static const char *read_reason(struct event_change *c,
			       const Rain__ActivityChanged *m)
{
	c->detail = from_pb(m->reason);
	return NULL;
}

static void take_text(struct event_change *c, const struct buf *text)
{
	c->text = xmalloc(buf_len(text));
	memcpy(c->text, buf_live(text).p, buf_len(text));
	c->detail = bytes_make(c->text, buf_len(text));
}

static const char *read_entropy(struct event_change *c,
				const Rain__EntropyAdded *m)
{
	struct bytes entropy = from_pb(m->entropy), by = from_pb(m->by);
	struct buf text;

	if (entropy.n > DETAIL_MAX || by.n > ID_MAX) {
		return "a text of entropy is too long";
	}
	buf_init(&text);
	buf_printf(&text, "%.*s by %.*s", BYTES_FMT(entropy), BYTES_FMT(by));
	take_text(c, &text);
	buf_close(&text);
	return NULL;
}

static const char *read_closed(struct event_change *c,
			       const Rain__ActivityClosed *m)
{
	struct bytes more = from_pb(m->topup_seeds);
	struct buf text;

	c->detail = from_pb(m->seed);
	c->claims = (int64_t)m->claims;
	c->packets = (int64_t)m->packets_left;
	if (!counted(m->claims) || !counted(m->packets_left)) {
		return "the number of claims or packets is out of range";
	}
	if (more.n > 0) {
		buf_init(&text);
		buf_printf(&text, "%.*s,%.*s", BYTES_FMT(c->detail),
			   BYTES_FMT(more));
		take_text(c, &text);
		buf_close(&text);
	}
	return NULL;
}

static const char *read_counted(struct event_change *c,
				const Rain__LeftoverCounted *m)
{
	c->amount_cents = m->leftover_cents;
	c->packets = (int64_t)m->packets_left;
	if (m->leftover_cents < 0 || m->leftover_cents > AMOUNT_MAX_CENTS ||
	    !counted(m->packets_left)) {
		return "the leftover is out of range";
	}
	return NULL;
}

static const char *read_body(struct event_change *c,
			     const Rain__ActivityEvent *m)
{
	switch (c->kind) {
	case EVENT_CREATED:
		return read_created(c, m->created);
	case EVENT_LOADED:
	case EVENT_TOPPED_UP:
		/* Members of the oneof share one pointer. */
		return read_tranche(c, m->loaded);
	case EVENT_OPENED:
		c->packets = (int64_t)m->opened->packets;
		return counted(m->opened->packets) ? NULL : "too many packets";
	case EVENT_CLOSED:
		return read_closed(c, m->closed);
	case EVENT_COUNTED:
		return read_counted(c, m->counted);
	case EVENT_PAUSED:
	case EVENT_RESUMED:
	case EVENT_HALTED:
	case EVENT_CANCELLED:
	case EVENT_SETTLED:
		return read_reason(c, m->paused);
	case EVENT_ENTROPY:
		return read_entropy(c, m->entropy);
	case EVENT_CHANGE_NONE:
	case EVENT_CHANGE_END:
		break;
	}
	return "the kind of change is not known";
}

/* The longest beginning of at most max bytes that does not end within a
 * character. */
static struct bytes cut(struct bytes text, size_t max)
{
	if (text.n <= max) {
		return text;
	}
	while (max > 0 && (text.p[max] & 0xc0) == 0x80) {
		max--;
	}
	return bytes_make(text.p, max);
}

static const char *read_change(struct event *e, const Rain__ActivityEvent *m)
{
	struct event_change *c = &e->change;
	int kind = (int)m->change_case -
		   (int)RAIN__ACTIVITY_EVENT__CHANGE_CREATED + EVENT_CREATED;
	const char *why;

	if (!id_valid(from_pb(m->activity_id))) {
		return "the activity id is not valid";
	}
	if (m->revision == 0 || !counted(m->revision)) {
		return "the revision is not between 1 and 2^53 - 1";
	}
	if (kind < EVENT_CREATED || kind >= EVENT_CHANGE_END) {
		return "the kind of change is not known";
	}
	c->kind = (enum event_change_kind)kind;
	c->revision = (int64_t)m->revision;
	c->at_ms = m->at_ms;
	why = read_body(c, m);
	/* For people: cut rather than refuse, the change itself counts. */
	c->detail = cut(c->detail, DETAIL_MAX);
	c->title = cut(c->title, TITLE_MAX);
	if (why == NULL) {
		take_id(&e->activity_id, from_pb(m->activity_id));
	}
	return why;
}

void event_read(struct event *e, enum event_topic topic,
		const struct event_place *place)
{
	bool claim = topic == EVENT_TOPIC_CLAIMS;
	const char *why = "the bytes are no valid message";
	void *m = proto_unpack(claim ? &rain__claim_event__descriptor
				     : &rain__activity_event__descriptor,
			       place->value, MESSAGE_MAX);

	memset(e, 0, sizeof *e);
	e->kind = claim ? EVENT_CLAIM : EVENT_CHANGE;
	e->place = *place;
	if (m != NULL) {
		why = claim ? read_claim(e, m) : read_change(e, m);
	}
	if (why != NULL) {
		e->kind = EVENT_POISON;
		e->reason = why;
	}
	if (e->kind == EVENT_CHANGE) {
		e->owned = m;
	} else if (m != NULL) {
		proto_free(m);
	}
}

void event_close(struct event *e)
{
	if (e->kind == EVENT_CHANGE) {
		free(e->change.text);
		e->change.text = NULL;
	}
	if (e->owned != NULL) {
		proto_free(e->owned);
		e->owned = NULL;
	}
}
