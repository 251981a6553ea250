/* Verification: what was published and how it ended, as Redis tells it and as
 * the ledger heard it. Pure. */
#include <inttypes.h>
#include <string.h>

#include "console/output.h"
#include "console/verify.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void judge_commitment(struct verify *v)
{
	char made[PLAN_COMMITMENT];

	plan_commitment(v->seed, &v->plan, made);
	if (strcmp(v->plan.activity_id, v->activity) != 0) {
		verify_differ(v, "plan: it is that of activity %s",
			      v->plan.activity_id);
	}
	if (strcmp(made, v->commitment) != 0) {
		verify_differ(
			v,
			"commitment: activity show says %s, seed and plan make "
			"%s",
			v->commitment, made);
	}
	if (v->ledger_commitment != NULL &&
	    strcmp(made, v->ledger_commitment) != 0) {
		verify_differ(
			v,
			"commitment: the ledger has %.80s, seed and plan make "
			"%s",
			v->ledger_commitment, made);
	} else if (v->ledger_commitment == NULL && v->settled) {
		verify_differ(v, "commitment: the ledger has none");
	}
}

static const char *or_none(const char *hex)
{
	return hex[0] != '\0' ? hex : "none";
}

/* The commitment does not bind it: only who heard of it in time can tell. */
static void judge_entropy(struct verify *v)
{
	const char *heard = v->ledger_entropy;

	if (heard == NULL && v->settled) {
		heard = "";
	}
	if (heard != NULL && strcmp(v->entropy, heard) != 0) {
		verify_differ(v,
			      "entropy: activity show says %s, the ledger has "
			      "%.130s",
			      or_none(v->entropy), or_none(heard));
	}
}

/* Nobody can have won, and nothing was closed or counted. */
static void judge_cancelled(struct verify *v)
{
	uint64_t claims = v->claims.count + v->claims.unreadable;
	uint64_t credits = v->credits.count;

	if (claims > 0) {
		verify_differ(v, "cancelled: Redis has %" PRIu64 " claim%s",
			      claims, plural(claims));
	}
	if (credits > 0) {
		verify_differ(v,
			      "cancelled: the ledger has %" PRIu64 " credit%s",
			      credits, plural(credits));
	}
	if (v->final_claims > 0) {
		verify_differ(v,
			      "cancelled: activity show says that it was "
			      "closed with %" PRIu64 " claim%s",
			      v->final_claims, plural(v->final_claims));
	}
	if (v->ledger_claims >= 0) {
		verify_differ(v,
			      "cancelled: the ledger heard that it was closed "
			      "with %" PRId64 " claim%s",
			      v->ledger_claims,
			      plural((uint64_t)v->ledger_claims));
	}
	if (v->leftover_cents >= 0) {
		verify_differ(v, "cancelled: the ledger heard of %s left",
			      amount_text(v->leftover_cents).text);
	}
	if (v->settled && !v->ledger_cancelled && v->ledger_claims < 0) {
		verify_differ(v, "cancelled: the ledger has not heard of it");
	}
	/* What was closed must be whole. */
	v->cancelled = v->ledger_cancelled || v->ledger_claims < 0;
}

/* What `closed` and `counted` said is known by when it is settled. */
static void judge_closed(struct verify *v)
{
	if (v->ledger_cancelled) {
		verify_differ(v, "cancelled: the ledger heard of it, activity "
				 "show says that it was closed");
	}
	if (!v->settled || v->ledger_commitment == NULL) {
		return;
	}
	if (v->ledger_claims < 0) {
		verify_differ(v, "closed: the ledger has not heard of it");
	} else if ((uint64_t)v->ledger_claims != v->final_claims) {
		verify_differ(v,
			      "closed: activity show says with %" PRIu64
			      " claim%s, the ledger heard of %" PRId64,
			      v->final_claims, plural(v->final_claims),
			      v->ledger_claims);
	}
	if (v->leftover_cents < 0) {
		verify_differ(v, "left: the ledger has not heard how much");
	}
}

void verify_judge_published(struct verify *v)
{
	judge_commitment(v);
	judge_entropy(v);
	if (v->cancelled) {
		judge_cancelled(v);
	} else {
		judge_closed(v);
	}
}
