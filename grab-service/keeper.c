#include "keeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/amount.h"
#include "base/buf.h"
#include "base/log.h"
#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "claim.h"
#include "elsewhere.h"
#include "halt.h"
#include "ledger.h"
#include "track.h"

enum {
	NUMBER_MAX = 24,
	HELD_MS = 60000, /* between looks at money that is held */
};

static uint64_t now_of(const struct track *t)
{
	return uv_now(t->relay->env->loop);
}

void keeper_later(struct track *t, uint64_t ms)
{
	t->keeper.due_ms = now_of(t) + ms;
}

static enum keeper_task task_of(const struct track *t)
{
	const struct grab_env *env = t->relay->env;

	if (t->keeper.facts.revision != t->revision) {
		return KEEPER_NONE;
	}
	return keeper_next(&t->keeper.facts, redis_time_now(&env->time),
			   env->options->grace_ms);
}

bool keeper_wants(struct track *t)
{
	return now_of(t) >= t->keeper.due_ms && task_of(t) != KEEPER_NONE;
}

/* ---- Facts ---- */

enum {
	FACT_STATE,
	FACT_REVISION,
	FACT_END,
	FACT_DAYS,
	FACT_SETTLED,
	FACT_LEFTOVER,
	FACT_UNLINKED,
	FACT_MODE,
	FACT_LEFT,
	FACT_BALANCE,
	FACT_CLAIMED,
	FACT_TOTAL,
	FACT_COUNT
};

static int64_t number_of(const redisReply *r)
{
	uint64_t v;

	if (r->type != REDIS_REPLY_STRING ||
	    !bytes_to_u64(bytes_make(r->str, r->len), AMOUNT_MAX_CENTS, &v)) {
		return 0;
	}
	return (int64_t)v;
}

static void facts_cb(void *ctx, enum redis_outcome outcome,
		     const redisReply *reply)
{
	struct track *t = ctx;
	struct keeper_facts *f = &t->keeper.facts;
	redisReply *const *e;

	t->keeper.busy = false;
	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements != FACT_COUNT) {
		keeper_later(t, KEEPER_LATER_MS);
		return;
	}
	e = reply->element;
	if (e[FACT_STATE]->type != REDIS_REPLY_STRING) {
		keeper_later(t, KEEPER_LATER_MS);
		return;
	}
	*f = (struct keeper_facts){
		.known = true,
		.revision = (uint64_t)number_of(e[FACT_REVISION]),
		.state = state_from_name(
			bytes_make(e[FACT_STATE]->str, e[FACT_STATE]->len)),
		.end_ms = number_of(e[FACT_END]),
		.keep_days = number_of(e[FACT_DAYS]),
		.settled_ms = number_of(e[FACT_SETTLED]),
		.counted = e[FACT_LEFTOVER]->type == REDIS_REPLY_STRING,
		.unlinked = e[FACT_UNLINKED]->type == REDIS_REPLY_STRING,
		.live = e[FACT_MODE]->type == REDIS_REPLY_STRING &&
			strcmp(e[FACT_MODE]->str, "live") == 0,
		.left = number_of(e[FACT_LEFT]),
		.balance_cents = number_of(e[FACT_BALANCE]),
		.claimed_cents = number_of(e[FACT_CLAIMED]),
		.total_cents = number_of(e[FACT_TOTAL]),
	};
	t->keeper.count_at = 0;
	t->keeper.cents = 0;
	t->keeper.told = false;
	/* Whether the lease is wanted depends on this. */
	t->due_ms = now_of(t);
	relay_kick(t->relay);
}

static void read_facts(struct track *t)
{
	char key[ID_MAX + 32];
	int n = snprintf(key, sizeof key, "rain:{%s}:meta", t->activity->id);
	struct bytes argv[2 + FACT_COUNT] = {
		BYTES("HMGET"),         bytes_make(key, (size_t)n),
		BYTES("state"),         BYTES("revision"),
		BYTES("end_ms"),        BYTES("keep_days"),
		BYTES("settled_ms"),    BYTES("leftover_cents"),
		BYTES("unlinked"),      BYTES("mode"),
		BYTES("left"),          BYTES("balance"),
		BYTES("claimed_cents"), BYTES("total_cents"),
	};

	t->keeper.busy = true;
	redis_command(t->relay->redis, 2 + FACT_COUNT, argv,
		      (uint64_t)t->relay->env->options->redis_timeout_ms,
		      facts_cb, t);
}

/* ---- Steps ---- */

static void step_done(void *ctx, enum redis_outcome outcome,
		      const struct step_reply *reply, struct bytes error)
{
	struct track *t = ctx;

	t->keeper.busy = false;
	if (outcome != REDIS_DONE) {
		log_warn("a step of the keeper failed",
			 log_str("activity", t->activity->id),
			 log_bytes("error", error));
		keeper_later(t, KEEPER_LATER_MS);
		return;
	}
	if (reply->code == STEP_OK || reply->code == STEP_ALREADY) {
		log_info("the keeper moved an activity",
			 log_str("activity", t->activity->id),
			 log_str("state", state_name(reply->state)),
			 log_int("revision", (int64_t)reply->revision));
		t->keeper.facts.known = false;
		t->revision = reply->revision;
		t->due_ms = now_of(t);
	} else if (reply->code == STEP_ORDER || reply->code == STEP_REVISION) {
		keeper_later(t, (uint64_t)t->relay->env->options->poll_ms);
		t->due_ms = now_of(t);
	} else {
		log_warn("a step of the keeper was refused",
			 log_str("activity", t->activity->id),
			 log_str("code", step_code_name(reply->code)),
			 log_bytes("why", step_text(reply, 0)));
		if (reply->code == STEP_COUNTS) {
			halt_counts(t->relay->env, t->activity);
		}
		keeper_later(t, KEEPER_LATER_MS);
	}
	relay_kick(t->relay);
}

/* The revision is that of the facts: what somebody else changed meanwhile is
 * looked at first. */
void keeper_run(struct track *t, struct bytes operation, struct bytes a,
		struct bytes b)
{
	char revision[NUMBER_MAX];
	int n = snprintf(revision, sizeof revision, "%" PRIu64,
			 t->keeper.facts.revision);
	struct bytes argv[4] = { operation, bytes_make(revision, (size_t)n), a,
				 b };

	t->keeper.busy = true;
	step_run(t->relay->redis, &lua_activity, activity_id(t->activity), 4,
		 argv, (uint64_t)t->relay->env->options->redis_timeout_ms,
		 step_done, t);
}

/* ---- The ledger's word ---- */

static void say_once(struct track *t, const char *what,
		     const Rain__TotalsReply *totals)
{
	if (!t->keeper.told) {
		t->keeper.told = true;
		log_warn(what, log_str("activity", t->activity->id),
			 log_int("held_cents", totals->held_cents),
			 log_bytes("alarm", from_pb(totals->alarm)));
	}
}

static void settle_cb(void *ctx, const Rain__TotalsReply *totals)
{
	struct track *t = ctx;

	t->keeper.busy = false;
	if (totals != NULL &&
	    keeper_unheard(&t->keeper, totals->known, track_published(t))) {
		log_warn("the ledger does not know what was published",
			 log_str("activity", t->activity->id));
		t->rewind = true;
	}
	if (totals != NULL && task_of(t) == KEEPER_SETTLE &&
	    keeper_may_settle(&t->keeper.facts, totals)) {
		keeper_run(t, BYTES("settled"),
			   BYTES("the ledger shows the refund"), BYTES(""));
		return;
	}
	if (totals != NULL && totals->alarm.len > 0) {
		say_once(t, "not settled, the ledger alarms", totals);
	}
	keeper_later(t, (uint64_t)t->relay->env->options->ask_ms);
}

static void unlink_cb(void *ctx, const Rain__TotalsReply *totals)
{
	struct track *t = ctx;

	t->keeper.busy = false;
	if (totals == NULL || task_of(t) != KEEPER_UNLINK ||
	    !elsewhere_refunded(totals)) {
		keeper_later(t, (uint64_t)t->relay->env->options->ask_ms);
		return;
	}
	if (totals->held_cents != 0) {
		say_once(t, "not unlinked, money is held", totals);
		keeper_later(t, HELD_MS);
		return;
	}
	keeper_run(t, BYTES("unlink"), BYTES(""), BYTES(""));
}

static void ask_ledger(struct track *t, ledger_totals_cb done)
{
	t->keeper.busy = true;
	ledger_totals(t->relay->env->ledger, activity_id(t->activity), done, t);
}

/* ---- Out of the set ---- */

static void forget_cb(void *ctx, enum redis_outcome outcome,
		      const redisReply *reply)
{
	struct track *t = ctx;

	(void)reply;
	t->keeper.busy = false;
	if (outcome == REDIS_DONE) {
		log_info("activity unlinked",
			 log_str("activity", t->activity->id));
		t->relay->scan_due_ms = 0;
	}
	keeper_later(t, KEEPER_LATER_MS);
	relay_kick(t->relay);
}

void keeper_forget(struct track *t)
{
	struct bytes argv[3] = { BYTES("SREM"), BYTES("rain:activities"),
				 activity_id(t->activity) };

	if (t->keeper.busy || now_of(t) < t->keeper.due_ms) {
		return;
	}
	t->keeper.busy = true;
	redis_command(t->relay->redis, 3, argv,
		      (uint64_t)t->relay->env->options->redis_timeout_ms,
		      forget_cb, t);
}

/* ---- All together ---- */

void keeper_step(struct track *t)
{
	struct keeper *k = &t->keeper;

	if (k->busy || t->revision == 0 || t->fence.needed) {
		return;
	}
	if (!k->facts.known || k->facts.revision != t->revision) {
		/* What was decided about an older revision does not bind. */
		if (k->facts.known || now_of(t) >= k->due_ms) {
			k->facts.known = false;
			k->due_ms = 0;
			read_facts(t);
		}
		return;
	}
	if (!t->ours || now_of(t) < k->due_ms) {
		return;
	}
	switch (task_of(t)) {
	case KEEPER_CLOSE:
		keeper_run(t, BYTES("close"), BYTES("its time is over"),
			   BYTES(""));
		return;
	case KEEPER_COUNT:
		keeper_count(t);
		return;
	case KEEPER_SETTLE:
		ask_ledger(t, settle_cb);
		return;
	case KEEPER_UNLINK:
		ask_ledger(t, unlink_cb);
		return;
	case KEEPER_FORGET:
		keeper_forget(t);
		return;
	case KEEPER_NONE:
	default:
		return;
	}
}
