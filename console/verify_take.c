/* Verification: what ActivityService and LedgerService said, checked. Pure. */
#include <string.h>

#include "base/rand.h"
#include "console/verify.h"
#include "proto/proto_util.h"

static int refuse(struct buf *why, const char *sentence)
{
	buf_put_bytes(why, bytes_str(sentence));
	return CTL_NO;
}

int verify_take_activity(struct verify *v, const Rain__Activity *a,
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
	if ((hex.n > 0 && n < PLAN_ENTROPY_MIN) || n > PLAN_ENTROPY_MAX ||
	    hex_decode((const char *)hex.p, hex.n, entropy, n) != 0) {
		buf_printf(why,
			   "its entropy is not %d to %d bytes as hex digits",
			   PLAN_ENTROPY_MIN, PLAN_ENTROPY_MAX);
		return CTL_NO;
	}
	hex_encode(entropy, n, v->entropy);
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
	v->undrawn = a->left;
	v->undrawn_cents = a->balance_cents;
	return CTL_OK;
}

static char *copy(ProtobufCBinaryData b)
{
	return xstrndup((const char *)b.data, b.len);
}

void verify_take_totals(struct verify *v, const Rain__TotalsReply *t)
{
	if (!t->known) {
		return;
	}
	if (t->commitment.len > 0) {
		v->ledger_commitment = copy(t->commitment);
	}
	/* Entropy is the second change of those that have some. */
	if (t->entropy.len > 0 || t->revision >= 2) {
		v->ledger_entropy = copy(t->entropy);
	}
	verify_take_heard(v, t);
	v->ledger_cancelled = t->cancelled;
	v->ledger_claims = t->final_claims;
	v->leftover_cents = t->leftover_cents;
}

void verify_take_claim(struct verify *v, const Rain__Claim *c)
{
	char told[512];

	verify_enter(&v->claims, c->seq, from_pb(c->red_packet_id),
		     from_pb(c->user_id), c->amount_cents);
	if (c->answer != NULL) {
		size_t n = bytes_readable(from_pb(c->answer->text), told,
					  sizeof(told));

		v->claims.entries[v->claims.count - 1].told = xstrndup(told, n);
	}
}
