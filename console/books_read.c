/*
 * Reads the books' four sources: Redis through ActivityService, Kafka itself,
 * the ledger through LedgerService.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "console/books.h"
#include "console/pages.h"
#include "console/topic_reader.h"
#include "plan/plan.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"

enum { CLAIM_EVENT_MAX = 4096, POLL_MS = 200 };

static int refused(Rain__Outcome outcome, ProtobufCBinaryData message,
		   struct buf *why)
{
	buf_put_bytes(why, from_pb(message));
	return refusal_rc(outcome);
}

static void take_activity(struct books *b, const Rain__Activity *a)
{
	b->state = a->state;
	b->plan_cents = a->plan->total_cents;
	b->plan_packets = a->plan->packets;
	b->topped_up = a->n_topups > 0;
	b->unloaded_cents = a->unloaded_cents;
	if (plan_message_is_live(a->plan)) {
		b->left = (struct book_sum){ a->left, a->balance_cents };
	}
	for (size_t i = 0; i < a->n_topups; i++) {
		b->plan_cents += a->topups[i]->total_cents;
		b->plan_packets += a->topups[i]->packets;
	}
}

static int read_activity(struct ctl *ctl, struct books *b, struct buf *why)
{
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;
	const Rain__ActivityReply *r;
	void *reply;
	int rc;

	q.activity_id = to_pb_str(b->activity);
	rc = ctl_call(ctl, ctl_grab(ctl), &ctl_get, &q.base,
		      &rain__activity_reply__descriptor, &reply, why);
	if (rc != CTL_OK) {
		return rc;
	}
	r = reply;
	if (r->activity == NULL || r->activity->plan == NULL) {
		rc = refused(r->outcome, r->message, why);
	} else {
		take_activity(b, r->activity);
	}
	proto_free(reply);
	return rc;
}

static void take_claim(void *ctx, const Rain__Claim *c)
{
	struct books *b = ctx;

	books_enter(b, BOOK_REDIS, c->seq, from_pb(c->red_packet_id),
		    from_pb(c->user_id), c->amount_cents);
	if (c->answer != NULL) {
		books_enter_answer(b, c->seq, from_pb(c->answer->text));
	}
}

static void take_packet(void *ctx, const Rain__Packet *p)
{
	struct books *b = ctx;

	b->left.count++;
	b->left.cents += p->amount_cents;
}

static void take_record(void *ctx, const Rain__LedgerRecord *e)
{
	struct books *b = ctx;

	books_enter(b, BOOK_LEDGER, e->seq, from_pb(e->red_packet_id),
		    from_pb(e->user_id), e->amount_cents);
	if (e->at_ms > b->last_claim_ms) {
		b->last_claim_ms = e->at_ms;
	}
	if (e->credited_ms > b->last_credit_ms) {
		b->last_credit_ms = e->credited_ms;
	}
}

static void claim_event_cb(void *ctx, struct bytes key, struct bytes value)
{
	struct books *b = ctx;
	Rain__ClaimEvent *e = proto_unpack(&rain__claim_event__descriptor,
					   value, CLAIM_EVENT_MAX);

	(void)key;
	if (e == NULL) {
		return; /* the settle-worker's dead letters tell of it */
	}
	if (bytes_eq(from_pb(e->activity_id), bytes_str(b->activity))) {
		books_enter(b, BOOK_KAFKA, e->seq, from_pb(e->red_packet_id),
			    from_pb(e->user_id), e->amount_cents);
	}
	proto_free(e);
}

static int read_totals(struct ctl *ctl, struct books *b, struct buf *why)
{
	Rain__TotalsRequest q = RAIN__TOTALS_REQUEST__INIT;
	const Rain__TotalsReply *t;
	void *reply;
	int rc;

	q.activity_id = to_pb_str(b->activity);
	rc = ctl_call(ctl, ctl_ledger(ctl), &ctl_totals, &q.base,
		      &rain__totals_reply__descriptor, &reply, why);
	if (rc != CTL_OK) {
		return rc;
	}
	t = reply;
	b->funded_cents = t->funded_cents;
	b->funded_packets = t->funded_packets;
	b->held_cents = t->held_cents;
	b->refunded_cents = t->refunded_cents;
	b->refund_done = t->refund_done;
	b->pool_cents = t->pool_cents;
	b->postings_cents = t->postings_cents;
	b->parked = t->parked_count;
	b->ledger_conflicts = t->conflict_count;
	b->alarm = xstrndup(t->alarm.data, t->alarm.len);
	proto_free(reply);
	return CTL_OK;
}

/* The audit goes over the books of everybody: a balance that is wrong belongs
 * to no activity, and the books are not exact with it. */
static int read_audit(struct ctl *ctl, struct books *b, struct buf *why)
{
	Rain__PositionsRequest q = RAIN__POSITIONS_REQUEST__INIT;
	const Rain__PositionsReply *r;
	void *reply;
	int rc = ctl_call(ctl, ctl_ledger(ctl), &ctl_positions, &q.base,
			  &rain__positions_reply__descriptor, &reply, why);

	if (rc != CTL_OK) {
		return rc;
	}
	r = reply;
	b->violations = r->violations;
	b->first_violation =
		xstrndup(r->first_violation.data, r->first_violation.len);
	proto_free(reply);
	return CTL_OK;
}

static int read_counts(struct ctl *ctl, struct books *b, struct buf *why)
{
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;
	const Rain__CountersReply *r;
	void *reply;
	int rc;

	q.activity_id = to_pb_str(b->activity);
	rc = ctl_call(ctl, ctl_grab(ctl), &ctl_counters, &q.base,
		      &rain__counters_reply__descriptor, &reply, why);
	if (rc != CTL_OK) {
		return rc;
	}
	r = reply;
	if (r->outcome == RAIN__OUTCOME__DONE ||
	    b->state == RAIN__STATE__SETTLED) {
		b->counts.claims = r->claims;
		b->counts.users = r->users;
		b->counts.left = r->packets_left;
	} else {
		rc = refused(r->outcome, r->message, why);
	}
	proto_free(reply);
	return rc;
}

/* Once more, for what is left of a live one, and for packets that came while
 * the lists were read: they are in none of the sums. The state stays what it was
 * before. */
static int read_activity_again(struct ctl *ctl, struct books *b,
			       struct buf *why)
{
	int64_t unloaded = b->unloaded_cents;
	uint64_t packets = b->plan_packets;
	Rain__State state = b->state;
	int rc = read_activity(ctl, b, why);

	b->state = state;
	b->steady = unloaded == b->unloaded_cents && packets == b->plan_packets;
	return rc;
}

/* The lists in Redis, with their lengths before and after. */
static int read_lists(struct ctl *ctl, struct books *b, struct buf *why)
{
	struct book_counts before;
	int rc = read_counts(ctl, b, why);

	before = b->counts;
	rc = rc == CTL_OK ? pages_claims(ctl, b->activity, take_claim, b, why)
			  : rc;
	rc = rc == CTL_OK ? pages_packets(ctl, b->activity, take_packet, b, why)
			  : rc;
	rc = rc == CTL_OK ? read_activity_again(ctl, b, why) : rc;
	rc = rc == CTL_OK ? read_counts(ctl, b, why) : rc;
	b->steady = b->steady && rc == CTL_OK &&
		    before.claims == b->counts.claims &&
		    before.users == b->counts.users &&
		    before.left == b->counts.left;
	return rc;
}

/* The lists were unlinked: settled, and both of them empty though packets were
 * funded. */
static void notice_unlink(struct books *b)
{
	b->lists_gone = b->state == RAIN__STATE__SETTLED &&
			b->left.count == 0 && b->sums[BOOK_REDIS].count == 0;
}

int books_read(struct ctl *ctl, struct books *b, struct buf *why)
{
	int rc = read_activity(ctl, b, why);

	/* Down the stream, so that a claim on its way is missing further down
	 * rather than further up. */
	rc = rc == CTL_OK ? pages_records(ctl, b->activity, take_record, b, why)
			  : rc;
	rc = rc == CTL_OK ? read_totals(ctl, b, why) : rc;
	rc = rc == CTL_OK ? read_audit(ctl, b, why) : rc;
	if (rc == CTL_OK &&
	    topic_read(ctl->config.pairs, ctl->config.pair_count,
		       ctl->options.topic_claims, claim_event_cb, b,
		       why) != 0) {
		rc = CTL_UNKNOWN;
	}
	rc = rc == CTL_OK ? read_lists(ctl, b, why) : rc;
	if (rc == CTL_OK) {
		notice_unlink(b);
		books_judge(b);
	}
	return rc;
}

int books_wait(struct ctl *ctl, const char *activity, uint64_t seconds,
	       struct books *b, struct buf *why)
{
	uint64_t deadline = clock_mono_ms() + seconds * 1000;

	for (;;) {
		int rc;

		buf_take(why, buf_len(why));
		books_init(b, activity);
		rc = books_read(ctl, b, why);
		if ((rc == CTL_OK && books_at_rest(b)) || rc == CTL_NO ||
		    rc == CTL_USAGE || clock_mono_ms() >= deadline) {
			return rc;
		}
		books_close(b);
		ctl_rest(ctl, POLL_MS);
	}
}
