/*
 * Reads what a verification needs: the activity and its lists through
 * ActivityService, credits and commitment through LedgerService.
 */
#include "console/pages.h"
#include "console/steps.h"
#include "console/verify.h"
#include "proto/proto_util.h"

static int read_activity(struct ctl *ctl, struct verify *v, struct buf *why)
{
	const Rain__ActivityReply *r;
	void *reply;
	int rc = step_get(ctl, v->activity, &reply, why);

	if (rc == CTL_OK) {
		r = reply;
		rc = verify_take_activity(v, r->activity, why);
		rc = rc == CTL_OK ? verify_take_topups(v, r->activity, why)
				  : rc;
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
	verify_take_claim(ctx, c);
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
	void *reply;
	int rc;

	q.activity_id = to_pb_str(v->activity);
	rc = ctl_call(ctl, ctl_ledger(ctl), &ctl_totals, &q.base,
		      &rain__totals_reply__descriptor, &reply, why);
	if (rc != CTL_OK) {
		return rc;
	}
	verify_take_totals(v, reply);
	proto_free(reply);
	return CTL_OK;
}

static bool bad_claim(void *ctx, struct bytes why)
{
	struct verify *v = ctx;

	return verify_unreadable(v, &v->claims, why);
}

static bool bad_packet(void *ctx, struct bytes why)
{
	struct verify *v = ctx;

	return verify_unreadable(v, &v->left, why);
}

/* The lists may have been unlinked while they were read. */
static int notice_unlink(struct ctl *ctl, struct verify *v, struct buf *why)
{
	const Rain__ActivityReply *r;
	void *reply;
	int rc = step_get(ctl, v->activity, &reply, why);

	if (rc == CTL_OK) {
		r = reply;
		v->lists_gone = r->activity->unlinked;
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
	rc = rc == CTL_OK
		     ? pages_claims_past(ctl, id, take_claim, bad_claim, v, why)
		     : rc;
	rc = rc == CTL_OK ? pages_packets_past(ctl, id, take_packet, bad_packet,
					       v, why)
			  : rc;
	rc = rc == CTL_OK ? notice_unlink(ctl, v, why) : rc;
	if (rc == CTL_OK) {
		verify_judge(v);
	}
	return rc;
}
