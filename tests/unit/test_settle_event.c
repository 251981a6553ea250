/* Reading messages: what is accepted, and the reason for what is not. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/amount.h"
#include "base/buf.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"
#include "settle-worker/event.h"

/* The event of a message, or the reason why there is none; close it. */
static struct event read(enum event_topic topic, const ProtobufCMessage *m,
			 struct buf *bytes)
{
	struct event e;
	size_t n = protobuf_c_message_get_packed_size(m);

	buf_init(bytes);
	buf_wrote(bytes, protobuf_c_message_pack(m, buf_room(bytes, n)));
	event_read(&e, topic,
		   &(struct event_place){ .topic = BYTES("t"),
					  .value = buf_live(bytes) });
	return e;
}

static Rain__ClaimEvent good(void)
{
	Rain__ClaimEvent m = RAIN__CLAIM_EVENT__INIT;

	m.activity_id = to_pb_str("a");
	m.red_packet_id = to_pb_str("365628617880842241");
	m.user_id = to_pb_str("u1");
	m.amount_cents = 1221;
	m.seq = 17;
	m.at_ms = 5;
	m.tranche = 1;
	return m;
}

static void refused(const Rain__ClaimEvent *m, const char *part)
{
	struct buf bytes;
	struct event e = read(EVENT_TOPIC_CLAIMS, &m->base, &bytes);

	cr_assert_eq(e.kind, EVENT_POISON);
	cr_assert_not_null(strstr(e.reason, part), "%s", e.reason);
	event_close(&e);
	buf_close(&bytes);
}

Test(event, reads_a_claim)
{
	Rain__ClaimEvent m = good();
	struct buf bytes;
	struct event e = read(EVENT_TOPIC_CLAIMS, &m.base, &bytes);

	cr_assert_eq(e.kind, EVENT_CLAIM);
	cr_assert_str_eq(e.activity_id.s, "a");
	cr_assert_str_eq(e.claim.red_packet_id.s, "365628617880842241");
	cr_assert_str_eq(e.claim.user_id.s, "u1");
	cr_assert_eq(e.claim.amount_cents, 1221);
	cr_assert_eq(e.claim.seq, 17);
	event_close(&e);
	buf_close(&bytes);
	m.user_id = to_pb_str("#17");
	e = read(EVENT_TOPIC_CLAIMS, &m.base, &bytes);
	cr_assert_eq(e.kind, EVENT_CLAIM);
	event_close(&e);
	buf_close(&bytes);
}

Test(event, refuses_bad_claims_and_says_why)
{
	Rain__ClaimEvent m = good();
	char zero[] = { 'u', 0, '1' };

	m.amount_cents = 0;
	refused(&m, "amount");
	m.amount_cents = -5;
	refused(&m, "amount");
	m.amount_cents = AMOUNT_MAX_CENTS + 1;
	refused(&m, "amount");
	m = good();
	m.seq = 0;
	refused(&m, "seq");
	m.seq = UINT64_MAX;
	refused(&m, "seq");
	m = good();
	m.tranche = 0;
	refused(&m, "tranche");
	m = good();
	m.user_id = to_pb_str("");
	refused(&m, "user id");
	m.user_id = to_pb(bytes_make(zero, 3));
	refused(&m, "user id");
	m.user_id = to_pb_str("#x");
	refused(&m, "user id");
	m = good();
	m.activity_id = to_pb_str("{a}");
	refused(&m, "activity id");
	m = good();
	m.red_packet_id = to_pb_str("a b");
	refused(&m, "packet id");
}

Test(event, refuses_bytes_and_messages_of_the_other_topic)
{
	Rain__ClaimEvent m = good();
	struct buf bytes;
	struct event e = read(EVENT_TOPIC_ACTIVITIES, &m.base, &bytes);

	cr_assert_eq(e.kind, EVENT_POISON);
	event_close(&e);
	buf_close(&bytes);
	event_read(&e, EVENT_TOPIC_CLAIMS,
		   &(struct event_place){ .value = BYTES("\xff\xff") });
	cr_assert_eq(e.kind, EVENT_POISON);
	event_close(&e);
	/* A message without bytes: nothing is set. */
	event_read(&e, EVENT_TOPIC_CLAIMS, &(struct event_place){ 0 });
	cr_assert_eq(e.kind, EVENT_POISON);
	event_close(&e);
}

static Rain__ActivityEvent change(void)
{
	Rain__ActivityEvent m = RAIN__ACTIVITY_EVENT__INIT;

	m.activity_id = to_pb_str("a");
	m.revision = 4;
	return m;
}

static void change_refused(const Rain__ActivityEvent *m, const char *part)
{
	struct buf bytes;
	struct event e = read(EVENT_TOPIC_ACTIVITIES, &m->base, &bytes);

	cr_assert_eq(e.kind, EVENT_POISON);
	cr_assert_not_null(strstr(e.reason, part), "%s", e.reason);
	event_close(&e);
	buf_close(&bytes);
}

Test(event, reads_changes)
{
	Rain__ActivityEvent m = change();
	Rain__ActivityClosed body = RAIN__ACTIVITY_CLOSED__INIT;
	struct buf bytes;
	struct event e;

	body.claims = 3;
	body.packets_left = 4;
	body.seed = to_pb_str("00ff");
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_CLOSED;
	m.closed = &body;
	e = read(EVENT_TOPIC_ACTIVITIES, &m.base, &bytes);
	cr_assert_eq(e.kind, EVENT_CHANGE);
	cr_assert_eq(e.change.kind, EVENT_CLOSED);
	cr_assert_eq(e.change.claims, 3);
	cr_assert_eq(e.change.packets, 4);
	cr_assert(bytes_eq(e.change.detail, BYTES("00ff")));
	event_close(&e);
	buf_close(&bytes);
	body.topup_seeds = to_pb_str("01,02");
	e = read(EVENT_TOPIC_ACTIVITIES, &m.base, &bytes);
	cr_assert_eq(e.kind, EVENT_CHANGE);
	cr_assert(bytes_eq(e.change.detail, BYTES("00ff,01,02")));
	event_close(&e);
	buf_close(&bytes);
}

Test(event, keeps_who_set_the_entropy)
{
	Rain__ActivityEvent m = RAIN__ACTIVITY_EVENT__INIT;
	Rain__EntropyAdded entropy = RAIN__ENTROPY_ADDED__INIT;
	struct buf bytes;
	struct event e;

	m.activity_id = to_pb_str("a");
	m.revision = 2;
	m.at_ms = 5;
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_ENTROPY;
	m.entropy = &entropy;
	entropy.entropy = to_pb_str("00ff");
	entropy.by = to_pb_str("ops");
	e = read(EVENT_TOPIC_ACTIVITIES, &m.base, &bytes);
	cr_assert_eq(e.kind, EVENT_CHANGE);
	cr_assert_eq(e.change.kind, EVENT_ENTROPY);
	cr_expect(bytes_eq(e.change.detail, BYTES("00ff by ops")));
	event_close(&e);
	buf_close(&bytes);
}

Test(event, refuses_bad_changes_and_says_why)
{
	Rain__ActivityEvent m = change();
	Rain__TrancheLoaded loaded = RAIN__TRANCHE_LOADED__INIT;
	Rain__ActivityCreated created = RAIN__ACTIVITY_CREATED__INIT;

	change_refused(&m, "kind of change");
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_LOADED;
	m.loaded = &loaded;
	change_refused(&m, "tranche");
	loaded.tranche = 1;
	change_refused(&m, "total");
	loaded.total_cents = 5;
	loaded.packets = 1;
	m.revision = 0;
	change_refused(&m, "revision");
	m.revision = 1;
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_CREATED;
	m.created = &created;
	change_refused(&m, "sponsor");
	created.sponsor = to_pb_str("acme");
	created.currency = to_pb_str("yuan");
	change_refused(&m, "currency");
}

Test(event, words_for_changes_lead_back)
{
	for (int k = EVENT_CHANGE_NONE + 1; k < EVENT_CHANGE_END; k++) {
		const char *name = event_change_name((enum event_change_kind)k);

		cr_assert_eq((int)event_change_kind(bytes_str(name)), k);
	}
	cr_assert_eq(event_change_kind(BYTES("exploded")), EVENT_CHANGE_NONE);
}
