/*
 * Rules of each user: what was told stands in every place, what stands there
 * was asked for, and all of it is of the plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault/check.h"

static const char *const names[CHECK_PLACES] = { "Redis", "the topic",
						 "the ledger" };

static void judge_told(struct check *c, const struct check_activity *a,
		       const struct check_person *p)
{
	for (int i = a->lists_gone ? CHECK_TOPIC : CHECK_REDIS;
	     i < CHECK_PLACES; i++) {
		const struct check_claim *in = &p->in[i];

		if (in->packet[0] == '\0') {
			check_violation(c,
					"%s: %s was told packet %s, %" PRId64
					" cents, and has no claim in %s",
					a->id, p->user, p->told.packet,
					p->told.amount_cents, names[i]);
		} else if (strcmp(in->packet, p->told.packet) != 0 ||
			   in->amount_cents != p->told.amount_cents ||
			   in->at_ms != p->told.at_ms) {
			check_violation(c,
					"%s: %s was told packet %s, %" PRId64
					" cents, won at %" PRId64
					"; %s has packet %s, %" PRId64
					" cents, won at %" PRId64,
					a->id, p->user, p->told.packet,
					p->told.amount_cents, p->told.at_ms,
					names[i], in->packet, in->amount_cents,
					in->at_ms);
		}
	}
}

/* Claim n is packet n of the plan, or of the list that was adopted. */
static void judge_plan(struct check *c, const struct check_activity *a,
		       const struct check_person *p,
		       const struct check_claim *claim)
{
	const struct check_packet *want = NULL;

	if (a->plan == NULL) {
		return;
	}
	if (claim->seq >= 1 && claim->seq <= a->plan_count) {
		want = &a->plan[claim->seq - 1];
	}
	if (want == NULL || strcmp(want->id, claim->packet) != 0 ||
	    want->amount_cents != claim->amount_cents) {
		check_violation(
			c,
			"%s: %s has packet %s, %" PRId64 " cents, seq %" PRIu64
			", and the plan has packet %s, %" PRId64 " cents",
			a->id, p->user, claim->packet, claim->amount_cents,
			claim->seq, want != NULL ? want->id : "none",
			want != NULL ? want->amount_cents : 0);
	}
}

/* Everywhere it is of the tranche that its packet is of. */
static void judge_tranche(struct check *c, const struct check_activity *a,
			  const struct check_person *p)
{
	for (int i = 0; i < CHECK_PLACES && a->tranche_count > 0; i++) {
		const struct check_claim *in = &p->in[i];
		uint32_t want = check_tranche_of(a, in->seq);

		if (in->packet[0] != '\0' && in->tranche != want) {
			check_violation(c,
					"%s: %s has packet %s, seq %" PRIu64
					", of tranche %" PRIu32
					" in %s; it is of tranche %" PRIu32,
					a->id, p->user, in->packet, in->seq,
					in->tranche, names[i], want);
		}
	}
}

/* Packet n is released n - 1 parts of the time after the start. */
static void judge_release(struct check *c, const struct check_activity *a,
			  const struct check_person *p,
			  const struct check_claim *claim)
{
	int64_t begins_ms = a->start_ms;

	if (a->release_ms == 0) {
		return;
	}
	for (size_t i = 0; i < a->event_count[CHECK_REDIS]; i++) {
		const struct check_event *e = &a->events[CHECK_REDIS][i];

		if (e->kind == RAIN__ACTIVITY_EVENT__CHANGE_OPENED &&
		    e->at_ms > begins_ms) {
			begins_ms = e->at_ms;
		}
	}
	if ((claim->at_ms - begins_ms) *
		    (int64_t)check_announced(a, claim->at_ms) <
	    ((int64_t)claim->seq - 1) * a->release_ms) {
		check_violation(c,
				"%s: %s has packet %s, seq %" PRIu64
				", claimed %" PRId64
				" ms after the start, before it was released",
				a->id, p->user, claim->packet, claim->seq,
				claim->at_ms - begins_ms);
	}
}

static void judge_claim(struct check *c, const struct check_activity *a,
			const struct check_person *p)
{
	const struct check_claim *claim =
		&p->in[a->lists_gone ? CHECK_TOPIC : CHECK_REDIS];

	if (claim->packet[0] == '\0' || p->user[0] == '#') {
		return; /* none, or void: made by an operator */
	}
	judge_plan(c, a, p, claim);
	judge_tranche(c, a, p);
	judge_release(c, a, p, claim);
	if (!p->explained && (p->asked || !c->others)) {
		check_violation(c,
				"%s: %s has packet %s, claimed at %" PRId64
				", but no grab can have made that claim",
				a->id, p->user, claim->packet, claim->at_ms);
	}
	if (a->event_count[CHECK_REDIS] > 0 &&
	    !check_state_within(a, claim->at_ms, claim->at_ms,
				1u << RAIN__STATE__OPEN)) {
		check_violation(c,
				"%s: %s has packet %s, claimed at %" PRId64
				", when it was not OPEN",
				a->id, p->user, claim->packet, claim->at_ms);
	}
}

void check_judge_persons(struct check *c, struct check_activity *a)
{
	struct check_person *p;
	struct check_person *next;

	HASH_ITER(hh, a->persons, p, next)
	{
		if (p->told.packet[0] != '\0') {
			judge_told(c, a, p);
		}
		judge_claim(c, a, p);
	}
}
