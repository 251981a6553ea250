/*
 * Reads what a verification needs: the activity and its lists through
 * ActivityService, credits and commitment through LedgerService.
 */
#include <string.h>

#include "base/rand.h"
#include "console/pages.h"
#include "console/steps.h"
#include "console/verify.h"
#include "proto/proto_util.h"

static int refuse(struct buf *why, const char *sentence)
{
	buf_put_bytes(why, bytes_str(sentence));
	return CTL_NO;
}

/* Seed and plan, and how it ended. */
static int take_activity(struct verify *v, const Rain__Activity *a,
			 struct buf *why)
{
	struct bytes commitment = from_pb(a->commitment);
	struct bytes seed = from_pb(a->seed);
	struct bytes hex = from_pb(a->entropy);
	uint8_t entropy[PLAN_ENTROPY_MAX];
	size_t n = hex.n / 2;
	char wrong[PLAN_WHY];

	if (seed.n == 0) {
		return refuse(why, "it is not closed: its seed is published "
				   "when it is, and nothing can be verified "
				   "before");
	}
	if (!plan_read(a->plan, &v->plan, wrong)) {
		buf_printf(why, "its plan cannot be: %s", wrong);
		return CTL_NO;
	}
	if (plan_is_adopted(&v->plan)) {
		return refuse(why, "not provable: its packets were adopted, no "
				   "seed makes them; books compares who was "
				   "told, paid and left with what");
	}
	if (hex_decode((const char *)seed.p, seed.n, v->seed, ALLOCATE_SEED) !=
	    0) {
		return refuse(why, "its seed is not 64 hex digits");
	}
	if (n > PLAN_ENTROPY_MAX ||
	    hex_decode((const char *)hex.p, hex.n, entropy, n) != 0) {
		return refuse(why, "its entropy is not hex digits");
	}
	plan_mix(v->seed, entropy, n, v->mixed);
	if (!bytes_to_u64(from_pb(a->id_base), INT64_MAX, &v->id_base)) {
		return refuse(why, "its id_base is no number");
	}
	(void)bytes_readable(commitment, v->commitment, sizeof(v->commitment));
	v->settled = a->state == RAIN__STATE__SETTLED;
	/* One that was closed is settled only when what is left is counted. */
	v->cancelled = a->state == RAIN__STATE__CANCELLED ||
		       (v->settled && a->leftover_cents < 0);
	v->final_claims = a->final_claims;
	return CTL_OK;
}

/* A tranche after the first; false if it can't be. */
static bool take_topup(struct verify *v, const Rain__Tranche *m)
{
	struct verify_topup *t = &v->topups[v->topup_count];
	struct bytes seed = from_pb(m->seed);
	Rain__Plan plan = RAIN__PLAN__INIT;
	char wrong[PLAN_WHY];

	plan.total_cents = m->total_cents;
	plan.packets = m->packets;
	plan.algorithm = m->algorithm;
	plan.min_cents = m->min_cents;
	plan.max_cents = m->max_cents;
	plan.n_tiers = m->n_tiers;
	plan.tiers = m->tiers;
	if (m->number != v->topup_count + 2 ||
	    !tranche_make(bytes_str(v->activity), m->number, &plan, &t->tranche,
			  wrong) ||
	    hex_decode((const char *)seed.p, seed.n, t->seed, ALLOCATE_SEED) !=
		    0 ||
	    !bytes_to_u64(from_pb(m->id_base), INT64_MAX, &t->id_base) ||
	    m->loaded > m->packets) {
		return false;
	}
	(void)bytes_readable(from_pb(m->commitment), t->commitment,
			     sizeof(t->commitment));
	t->loaded = m->loaded;
	v->topup_count++;
	return true;
}

static int take_topups(struct verify *v, const Rain__Activity *a,
		       struct buf *why)
{
	for (size_t i = 0; i < a->n_topups; i++) {
		if (!take_topup(v, a->topups[i])) {
			buf_printf(why, "its tranche %zu cannot be", i + 2);
			return CTL_NO;
		}
	}
	return CTL_OK;
}

static int read_activity(struct ctl *ctl, struct verify *v, struct buf *why)
{
	const Rain__ActivityReply *r;
	void *reply;
	int rc = step_get(ctl, v->activity, &reply, why);

	if (rc == CTL_OK) {
		r = reply;
		rc = take_activity(v, r->activity, why);
		rc = rc == CTL_OK ? take_topups(v, r->activity, why) : rc;
		proto_free(reply);
	}
	return rc;
}

static void take_record(void *ctx, const Rain__LedgerRecord *e)
{
	struct verify *v = ctx;

	verify_enter(&v->credits, e->seq, from_pb(e->red_packet_id),
		     from_pb(e->user_id), e->amount_cents);
}

static void take_claim(void *ctx, const Rain__Claim *c)
{
	struct verify *v = ctx;

	verify_enter(&v->claims, c->seq, from_pb(c->red_packet_id),
		     from_pb(c->user_id), c->amount_cents);
}

static void take_packet(void *ctx, const Rain__Packet *p)
{
	struct verify *v = ctx;

	verify_enter(&v->left, 0, from_pb(p->red_packet_id), BYTES(""),
		     p->amount_cents);
}

static int read_totals(struct ctl *ctl, struct verify *v, struct buf *why)
{
	Rain__TotalsRequest q = RAIN__TOTALS_REQUEST__INIT;
	const Rain__TotalsReply *t;
	void *reply;
	int rc;

	q.activity_id = to_pb_str(v->activity);
	rc = ctl_call(ctl, ctl_ledger(ctl), &ctl_totals, &q.base,
		      &rain__totals_reply__descriptor, &reply, why);
	if (rc != CTL_OK) {
		return rc;
	}
	t = reply;
	if (t->commitment.len > 0) {
		v->ledger_commitment = xstrndup(
			(const char *)t->commitment.data, t->commitment.len);
	}
	if (t->known) {
		v->leftover_cents = t->leftover_cents;
	}
	proto_free(reply);
	return CTL_OK;
}

static int read_lengths(struct ctl *ctl, struct verify *v, uint64_t *elements,
			struct buf *why)
{
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;
	const Rain__CountersReply *r;
	void *reply;
	int rc;

	q.activity_id = to_pb_str(v->activity);
	rc = ctl_call(ctl, ctl_grab(ctl), &ctl_counters, &q.base,
		      &rain__counters_reply__descriptor, &reply, why);
	if (rc == CTL_OK) {
		r = reply;
		*elements = r->claims + r->packets_left;
		proto_free(reply);
	}
	return rc;
}

/* The lists were unlinked, maybe while they were read: settled, and both of
 * them are empty though there were packets. */
static int notice_unlink(struct ctl *ctl, struct verify *v, struct buf *why)
{
	const Rain__ActivityReply *r;
	uint64_t elements = 0;
	void *reply;
	int rc = read_lengths(ctl, v, &elements, why);

	if (rc != CTL_OK || elements > 0) {
		return rc;
	}
	rc = step_get(ctl, v->activity, &reply, why);
	if (rc == CTL_OK) {
		r = reply;
		v->lists_gone = r->activity->state == RAIN__STATE__SETTLED;
		proto_free(reply);
	}
	return rc;
}

int verify_read(struct ctl *ctl, struct verify *v, struct buf *why)
{
	const char *id = v->activity;
	int rc = read_activity(ctl, v, why);

	/* Claims are final since it was closed; credits may still come. */
	rc = rc == CTL_OK ? read_totals(ctl, v, why) : rc;
	rc = rc == CTL_OK ? pages_records(ctl, id, take_record, v, why) : rc;
	rc = rc == CTL_OK ? pages_claims(ctl, id, take_claim, v, why) : rc;
	rc = rc == CTL_OK ? pages_packets(ctl, id, take_packet, v, why) : rc;
	rc = rc == CTL_OK ? notice_unlink(ctl, v, why) : rc;
	if (rc == CTL_OK) {
		verify_judge(v);
	}
	return rc;
}
