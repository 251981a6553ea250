/*
 * What is left in a closed activity: the packets of its list, read in pages,
 * for it is static now. If it is live meta says it; where that contradicts
 * itself (the activity was halted and closed all the same), it is what the
 * claims do not have.
 */
#include "keeper.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"

#include "claim.h"
#include "halt.h"
#include "track.h"

enum { NUMBER_MAX = 24 };

static void run_counted(struct track *t, int64_t cents, uint64_t left)
{
	char text[2][NUMBER_MAX];
	int n = snprintf(text[0], NUMBER_MAX, "%" PRId64, cents);
	int m = snprintf(text[1], NUMBER_MAX, "%" PRIu64, left);

	keeper_run(t, BYTES("counted"), bytes_make(text[0], (size_t)n),
		   bytes_make(text[1], (size_t)m));
}

static bool read_cents(const struct keeper_facts *f, const redisReply *e,
		       int64_t *cents, const char **why)
{
	struct bytes text;
	struct packet packet;
	struct claim claim;

	*why = "not text";
	if (e->type != REDIS_REPLY_STRING) {
		return false;
	}
	text = bytes_make(e->str, e->len);
	if (f->live) {
		if (!claim_parse(text, &claim, why)) {
			return false;
		}
		*cents += claim.packet.amount_cents;
		*why = "more than all the money is claimed";
		return *cents <= f->total_cents;
	}
	if (!packet_parse(text, &packet, why)) {
		return false;
	}
	*cents += packet.amount_cents;
	return true;
}

/* Nobody can say what is left. */
static void uncountable(struct track *t, const char *why)
{
	const char *what = t->keeper.facts.live
				   ? "a claim can't be counted"
				   : "a packet that is left can't be read";

	log_error(what, log_str("activity", t->activity->id),
		  log_str("why", why));
	halt_evidence(t->relay->env, t->activity, what);
	keeper_later(t, KEEPER_LATER_MS);
	t->keeper.count_at = 0;
	t->keeper.cents = 0;
}

static void all_read(struct track *t)
{
	struct keeper *k = &t->keeper;
	const struct keeper_facts *f = &k->facts;

	if (f->live) {
		run_counted(t, f->total_cents - k->cents, (uint64_t)f->left);
	} else {
		run_counted(t, k->cents, k->count_at);
	}
	k->count_at = 0;
	k->cents = 0;
}

static void page_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct track *t = ctx;
	struct keeper *k = &t->keeper;

	k->busy = false;
	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY) {
		keeper_later(t, KEEPER_LATER_MS);
		return;
	}
	for (size_t i = 0; i < reply->elements; i++) {
		const char *why;

		if (!read_cents(&k->facts, reply->element[i], &k->cents,
				&why)) {
			uncountable(t, why);
			return;
		}
	}
	k->count_at += reply->elements;
	if (reply->elements == KEEPER_PAGE) {
		relay_kick(t->relay);
		return;
	}
	all_read(t);
}

static void read_page(struct track *t)
{
	struct keeper *k = &t->keeper;
	char key[ID_MAX + 32];
	char from[NUMBER_MAX];
	char to[NUMBER_MAX];
	struct bytes argv[4] = { BYTES("LRANGE") };

	(void)snprintf(key, sizeof key, "rain:{%s}:%s", t->activity->id,
		       k->facts.live ? "claims" : "packets");
	(void)snprintf(from, sizeof from, "%" PRIu64, k->count_at);
	(void)snprintf(to, sizeof to, "%" PRIu64,
		       k->count_at + KEEPER_PAGE - 1);
	argv[1] = bytes_str(key);
	argv[2] = bytes_str(from);
	argv[3] = bytes_str(to);
	k->busy = true;
	redis_command(t->relay->redis, 4, argv,
		      (uint64_t)t->relay->env->options->redis_timeout_ms,
		      page_cb, t);
}

void keeper_count(struct track *t)
{
	const struct keeper_facts *f = &t->keeper.facts;

	if (f->live && f->balance_cents + f->claimed_cents == f->total_cents) {
		run_counted(t, f->balance_cents, (uint64_t)f->left);
	} else {
		read_page(t);
	}
}
