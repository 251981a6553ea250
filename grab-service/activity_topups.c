/*
 * The tranches of an activity after the first, as meta has them.
 */
#include "activity_view.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/rand.h"
#include "proto/proto_util.h"

static struct bytes field_of(const redisReply *meta, size_t number,
			     const char *name)
{
	char full[32];

	(void)snprintf(full, sizeof(full), "t%zu_%s", number, name);
	return view_field(meta, full);
}

static bool read_topup(const redisReply *meta, struct bytes activity_id,
		       size_t n, struct view_topup *out)
{
	struct bytes seed = field_of(meta, n, "seed");
	struct bytes commitment = field_of(meta, n, "commitment");

	*out = (struct view_topup){ 0 };
	if (!tranche_read(field_of(meta, n, "plan"), &out->tranche) ||
	    !bytes_eq(activity_id, bytes_str(out->tranche.activity_id)) ||
	    out->tranche.number != n ||
	    hex_decode((const char *)seed.p, seed.n, out->seed,
		       ALLOCATE_SEED) != 0 ||
	    commitment.n != PLAN_COMMITMENT - 1 || !bytes_utf8(commitment) ||
	    !bytes_to_u64(field_of(meta, n, "id_base"), INT64_MAX,
			  &out->id_base)) {
		return false;
	}
	memcpy(out->commitment, commitment.p, commitment.n);
	return true;
}

/* How many packets there are of the first tranches, by number. */
static size_t read_ends(struct bytes text, uint64_t ends[TRANCHES_MAX])
{
	size_t n = 0;

	while (text.n > 0 && n < TRANCHES_MAX) {
		const uint8_t *comma = memchr(text.p, ',', text.n);
		size_t length =
			comma != NULL ? (size_t)(comma - text.p) : text.n;

		if (!bytes_to_u64(bytes_make(text.p, length),
				  ALLOCATE_COUNT_MAX, &ends[n])) {
			return n;
		}
		n++;
		length += comma != NULL;
		text = bytes_make(text.p + length, text.n - length);
	}
	return n;
}

bool view_topups_parse(const redisReply *meta, struct activity_view *out)
{
	struct bytes cents = view_field(meta, "topup_cents");
	uint64_t ends[TRANCHES_MAX], left = 0;
	size_t n = read_ends(view_field(meta, "tranche_ends"), ends);

	for (size_t i = 0; i < TRANCHES_MAX - 1; i++) {
		struct view_topup *t = &out->topups[i];

		if (field_of(meta, i + 2, "plan").p == NULL) {
			break;
		}
		if (!read_topup(meta, bytes_str(out->plan.activity_id), i + 2,
				t)) {
			return false;
		}
		/* The last one may have no packets yet. */
		if (i + 1 < n && ends[i + 1] >= ends[i]) {
			t->loaded = ends[i + 1] - ends[i];
		}
		if (t->loaded > t->tranche.rule.count) {
			return false;
		}
		out->topup_count++;
	}
	if (cents.p != NULL && !bytes_to_u64(cents, AMOUNT_MAX_CENTS, &left)) {
		return false;
	}
	out->unloaded_cents = (int64_t)left;
	return out->topup_count == 0 || n > 0;
}

int64_t view_cents(const struct activity_view *v)
{
	int64_t sum = v->plan.rule.total_cents;

	for (size_t i = 0; i < v->topup_count; i++) {
		sum += v->topups[i].tranche.rule.total_cents;
	}
	return sum;
}

uint64_t view_packets(const struct activity_view *v)
{
	uint64_t sum = v->plan.rule.count;

	for (size_t i = 0; i < v->topup_count; i++) {
		sum += v->topups[i].tranche.rule.count;
	}
	return sum;
}

static void fill(const struct view_topup *t, bool public,
		 struct view_tranche_message *out)
{
	const struct allocate_rule *r = &t->tranche.rule;
	Rain__Tranche *m = &out->tranche;
	Rain__Plan tiers = RAIN__PLAN__INIT;

	rain__tranche__init(m);
	plan_tiers_message(r, &out->tiers, &tiers);
	m->n_tiers = tiers.n_tiers;
	m->tiers = tiers.tiers;
	m->number = t->tranche.number;
	m->total_cents = r->total_cents;
	m->packets = r->count;
	m->algorithm = to_pb_str(allocate_name(r->algorithm));
	m->min_cents = r->min_cents;
	m->max_cents = r->max_cents;
	m->commitment = to_pb_str(t->commitment);
	if (public) {
		hex_encode(t->seed, ALLOCATE_SEED, out->seed);
	}
	m->seed = to_pb_str(out->seed);
	(void)snprintf(out->id_base, sizeof(out->id_base), "%" PRIu64,
		       t->id_base);
	m->id_base = to_pb_str(out->id_base);
	m->loaded = t->loaded;
}

void view_topups_message(const struct activity_view *v, bool public,
			 struct view_message *out)
{
	for (size_t i = 0; i < v->topup_count; i++) {
		fill(&v->topups[i], public, &out->topups[i]);
		out->topup_list[i] = &out->topups[i].tranche;
	}
	out->activity.topups = out->topup_list;
	out->activity.n_topups = v->topup_count;
	out->activity.unloaded_cents = v->unloaded_cents;
}

bool view_topups_committed(const struct activity_view *v)
{
	char commitment[PLAN_COMMITMENT];

	for (size_t i = 0; i < v->topup_count; i++) {
		const struct view_topup *t = &v->topups[i];

		tranche_commitment(t->seed, &t->tranche, commitment);
		if (strcmp(commitment, t->commitment) != 0) {
			return false;
		}
	}
	return true;
}
