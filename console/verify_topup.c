/* Verification: the tranches after the first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rand.h"
#include "console/output.h"
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

void verify_take_heard(struct verify *v, const Rain__TotalsReply *t)
{
	v->heard = xcalloc(t->n_topups, sizeof(*v->heard));
	v->heard_count = t->n_topups;
	for (size_t i = 0; i < t->n_topups; i++) {
		const Rain__AnnouncedTranche *m = t->topups[i];
		struct verify_heard *h = &v->heard[i];

		h->number = m->number;
		h->packets = m->packets;
		h->total_cents = m->total_cents;
		(void)bytes_readable(from_pb(m->commitment), h->commitment,
				     sizeof(h->commitment));
	}
}

/* How the ledger heard of the tranche first; NULL: it has not. */
static const struct verify_heard *heard_of(const struct verify *v,
					   uint32_t number)
{
	for (size_t i = 0; i < v->heard_count; i++) {
		if (v->heard[i].number == number) {
			return &v->heard[i];
		}
	}
	return NULL;
}

uint32_t verify_unheard(const struct verify *v)
{
	for (size_t i = 0; i < v->topup_count; i++) {
		uint32_t number = v->topups[i].tranche.number;

		if (heard_of(v, number) == NULL) {
			return number;
		}
	}
	return 0;
}

static void judge_heard(struct verify *v, const struct verify_topup *t,
			const struct verify_heard *h, const char *made)
{
	const struct allocate_rule *rule = &t->tranche.rule;

	if (strcmp(made, h->commitment) != 0) {
		verify_differ(v,
			      "commitment of tranche %" PRIu32
			      ": the ledger has %s, seed and text make %s",
			      h->number,
			      h->commitment[0] != '\0' ? h->commitment : "none",
			      made);
	}
	if (h->packets != rule->count) {
		verify_differ(v,
			      "tranche %" PRIu32 ": activity show says %" PRIu64
			      " packets, the ledger has %" PRIu64,
			      h->number, rule->count, h->packets);
	}
	if (h->total_cents != rule->total_cents) {
		verify_differ(v,
			      "tranche %" PRIu32
			      ": activity show says %s in all, the ledger has "
			      "%s",
			      h->number, amount_text(rule->total_cents).text,
			      amount_text(h->total_cents).text);
	}
}

static void judge_topup(struct verify *v, const struct verify_topup *t)
{
	uint32_t number = t->tranche.number;
	const struct verify_heard *h = heard_of(v, number);
	char made[PLAN_COMMITMENT];

	tranche_commitment(t->seed, &t->tranche, made);
	if (strcmp(made, t->commitment) != 0) {
		verify_differ(v,
			      "commitment of tranche %" PRIu32
			      ": activity show says %s, seed and text make %s",
			      number, t->commitment, made);
	}
	if (h != NULL) {
		judge_heard(v, t, h, made);
	} else if (v->settled || v->ledger_claims >= 0) {
		/* Events come in order, and it was announced before it was
		 * closed. */
		verify_differ(v,
			      "tranche %" PRIu32
			      ": the ledger has not heard of it",
			      number);
	}
}

/* What only the ledger has, or more than once. */
static void judge_unknown(struct verify *v)
{
	for (size_t i = 0; i < v->heard_count; i++) {
		const struct verify_heard *h = &v->heard[i];

		if (h->number < 2 || h->number > v->topup_count + 1) {
			verify_differ(v,
				      "tranche %" PRIu32
				      ": the ledger has it with %" PRIu64
				      " packets and %s, activity show has not",
				      h->number, h->packets,
				      amount_text(h->total_cents).text);
		} else if (heard_of(v, h->number) != h) {
			verify_differ(v,
				      "tranche %" PRIu32
				      ": the ledger has it twice, then with "
				      "%" PRIu64 " packets and %s",
				      h->number, h->packets,
				      amount_text(h->total_cents).text);
		}
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
	judge_unknown(v);
}
