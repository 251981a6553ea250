/* Verification: the tranches after the first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rand.h"
#include "console/verify.h"
#include "proto/proto_util.h"

/* Packets, and the id of the first, of tranche t from 0. */
static uint64_t tranche_of(const struct verify *v, size_t t, uint64_t *id_base)
{
	const struct verify_topup *more = &v->topups[t > 0 ? t - 1 : 0];

	*id_base = t > 0 ? more->id_base : v->id_base;
	return t > 0 ? more->tranche.rule.count : v->plan.rule.count;
}

uint64_t verify_packets(const struct verify *v)
{
	uint64_t sum = 0;
	uint64_t base;

	for (size_t t = 0; t <= v->topup_count; t++) {
		sum += tranche_of(v, t, &base);
	}
	return sum;
}

void verify_amounts(const struct verify *v, int64_t *amounts)
{
	allocate(v->mixed, &v->plan.rule, amounts);
	amounts += v->plan.rule.count;
	for (size_t i = 0; i < v->topup_count; i++) {
		const struct allocate_rule *rule = &v->topups[i].tranche.rule;

		allocate(v->topups[i].seed, rule, amounts);
		amounts += rule->count;
	}
}

uint64_t verify_id(const struct verify *v, uint64_t k)
{
	size_t t = 0;
	uint64_t base;
	uint64_t count = tranche_of(v, t, &base);

	while (k > count && t < v->topup_count) {
		k -= count;
		count = tranche_of(v, ++t, &base);
	}
	return base + k - 1;
}

uint64_t verify_packet(const struct verify *v, uint64_t id)
{
	uint64_t before = 0;

	for (size_t t = 0; t <= v->topup_count; t++) {
		uint64_t base;
		uint64_t count = tranche_of(v, t, &base);

		if (id >= base && id - base < count) {
			return before + (id - base) + 1;
		}
		before += count;
	}
	return 0;
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

int verify_take_topups(struct verify *v, const Rain__Activity *a,
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

static void judge_topup(struct verify *v, const struct verify_topup *t)
{
	char made[PLAN_COMMITMENT];

	tranche_commitment(t->seed, &t->tranche, made);
	if (strcmp(made, t->commitment) != 0) {
		verify_differ(v,
			      "commitment of tranche %" PRIu32
			      ": activity show says %s, seed and text make %s",
			      t->tranche.number, t->commitment, made);
	}
}

void verify_judge_topups(struct verify *v)
{
	v->packets = verify_packets(v);
	for (size_t i = 0; i < v->topup_count; i++) {
		v->unloaded +=
			v->topups[i].tranche.rule.count - v->topups[i].loaded;
		judge_topup(v, &v->topups[i]);
	}
}
