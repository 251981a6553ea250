#include "plan/tranche.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/proto_util.h"

bool tranche_make(struct bytes activity_id, uint32_t number,
		  const Rain__Plan *message, struct tranche *out,
		  char why[PLAN_WHY])
{
	struct allocate_rule *r = &out->rule;

	check(id_valid(activity_id));
	*out = (struct tranche){ .number = number };
	memcpy(out->activity_id, activity_id.p, activity_id.n);
	if (number < 2 || number > TRANCHES_MAX) {
		(void)snprintf(why, PLAN_WHY,
			       "tranche is %" PRIu32
			       ", 2 to %d are allowed: the first one is the "
			       "plan",
			       number, TRANCHES_MAX);
		return false;
	}
	if (!allocate_by_name(from_pb(message->algorithm), &r->algorithm)) {
		(void)snprintf(why, PLAN_WHY, "algorithm must be %s",
			       ALLOCATE_NAMES);
		return false;
	}
	if (r->algorithm == ALLOCATE_ADOPTED) {
		(void)snprintf(why, PLAN_WHY,
			       "a tranche is made of a seed: none can be "
			       "adopted");
		return false;
	}
	if (message->mode.len != 0 &&
	    !bytes_eq(from_pb(message->mode), BYTES("list"))) {
		(void)snprintf(why, PLAN_WHY,
			       "a tranche is a list of packets: another mode "
			       "is for a whole activity");
		return false;
	}
	if (message->n_tiers > ALLOCATE_TIERS_MAX) {
		(void)snprintf(why, PLAN_WHY, "%zu tiers: 1 to %d are allowed",
			       message->n_tiers, ALLOCATE_TIERS_MAX);
		return false;
	}
	r->total_cents = message->total_cents;
	r->count = message->packets;
	r->min_cents = message->min_cents;
	r->max_cents = message->max_cents;
	r->tier_count = message->n_tiers;
	for (size_t i = 0; i < message->n_tiers; i++) {
		r->tiers[i] = (struct allocate_tier){
			.amount_cents = message->tiers[i]->amount_cents,
			.count = message->tiers[i]->packets,
		};
	}
	return allocate_possible(r, why);
}

size_t tranche_text(const struct tranche *t, char out[TRANCHE_TEXT_MAX])
{
	char tiers[PLAN_TIERS_TEXT];
	bool has;
	int n;

	plan_tiers_text(&t->rule, tiers);
	has = tiers[0] != '\0';
	n = snprintf(out, TRANCHE_TEXT_MAX,
		     "activity_id=%s\ntranche=%" PRIu32 "\ntotal_cents=%" PRId64
		     "\npackets=%" PRIu64 "\nalgorithm=%s\nmin_cents=%" PRId64
		     "\nmax_cents=%" PRId64 "\n%s%s%s",
		     t->activity_id, t->number, t->rule.total_cents,
		     t->rule.count, allocate_name(t->rule.algorithm),
		     t->rule.min_cents, t->rule.max_cents, has ? "tiers=" : "",
		     tiers, has ? "\n" : "");
	check(n > 0 && n < TRANCHE_TEXT_MAX); /* every text in it is bounded */
	return (size_t)n;
}

/* The value of the next line, if it has this name; else an empty one. */
static struct bytes line(struct bytes *rest, const char *name)
{
	size_t n = strlen(name);
	const uint8_t *end =
		rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
	size_t length = end != NULL ? (size_t)(end - rest->p) : 0;
	struct bytes value = { 0 };

	if (length > n && memcmp(rest->p, name, n) == 0 && rest->p[n] == '=') {
		value = bytes_make(rest->p + n + 1, length - n - 1);
		*rest = bytes_make(end + 1, rest->n - length - 1);
	}
	return value;
}

static uint64_t number(struct bytes *rest, const char *name, uint64_t max)
{
	uint64_t n = 0;

	/* What is no number becomes another text: see tranche_read(). */
	return bytes_to_u64(line(rest, name), max, &n) ? n : 0;
}

bool tranche_read(struct bytes text, struct tranche *out)
{
	struct allocate_rule *r = &out->rule;
	char again[TRANCHE_TEXT_MAX], why[ALLOCATE_WHY];
	struct bytes rest = text;
	struct bytes id = line(&rest, "activity_id");

	*out = (struct tranche){ 0 };
	if (!id_valid(id)) {
		return false;
	}
	memcpy(out->activity_id, id.p, id.n);
	out->number = (uint32_t)number(&rest, "tranche", TRANCHES_MAX);
	r->total_cents =
		(int64_t)number(&rest, "total_cents", AMOUNT_MAX_CENTS);
	r->count = number(&rest, "packets", ALLOCATE_COUNT_MAX);
	if (!allocate_by_name(line(&rest, "algorithm"), &r->algorithm) ||
	    r->algorithm == ALLOCATE_ADOPTED) {
		return false;
	}
	r->min_cents = (int64_t)number(&rest, "min_cents", AMOUNT_MAX_CENTS);
	r->max_cents = (int64_t)number(&rest, "max_cents", AMOUNT_MAX_CENTS);
	return plan_tiers_read(line(&rest, "tiers"), r) && out->number >= 2 &&
	       allocate_possible(r, why) &&
	       bytes_eq(text, bytes_make(again, tranche_text(out, again)));
}

void tranche_difference(const struct tranche *there, const struct tranche *here,
			char why[PLAN_WHY])
{
	const struct plan a = { .rule = there->rule };
	const struct plan b = { .rule = here->rule };

	plan_difference(&a, &b, why);
}

void tranche_commitment(const uint8_t seed[ALLOCATE_SEED],
			const struct tranche *t, char out[PLAN_COMMITMENT])
{
	char text[TRANCHE_TEXT_MAX];

	plan_commit(seed, bytes_make(text, tranche_text(t, text)), out);
}
