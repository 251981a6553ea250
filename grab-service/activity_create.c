#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/rand.h"
#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "activity_op.h"
#include "activity_room.h"

struct create {
	struct activity_op op;
	struct plan plan;
	char text[PLAN_TEXT_MAX];
};

enum { CREATE_FIELDS_MAX = 20, CREATE_ARGS = 2 };

/* Arguments of the step, with the memory of the numbers in them. */
struct fields {
	struct bytes argv[CREATE_ARGS + 2 * CREATE_FIELDS_MAX];
	char numbers[CREATE_FIELDS_MAX][24];
	size_t n;
};

static void put(struct fields *f, const char *name, const char *value)
{
	check(f->n + 2 <= sizeof(f->argv) / sizeof(f->argv[0]));
	f->argv[f->n++] = bytes_str(name);
	f->argv[f->n++] = bytes_str(value);
}

static void put_number(struct fields *f, const char *name, uint64_t value)
{
	char *text = f->numbers[f->n / 2 - 1];

	(void)snprintf(text, sizeof(f->numbers[0]), "%" PRIu64, value);
	put(f, name, text);
}

uint64_t activity_random_base(uint64_t count)
{
	const uint64_t least = UINT64_C(1000000000000000000);

	return least + rand_below((uint64_t)INT64_MAX - least - count);
}

static bool same_plan(const struct create *c, const struct activity_view *view)
{
	char text[PLAN_TEXT_MAX];

	(void)plan_text(&view->plan, text);
	return view->problem[0] == '\0' && strcmp(text, c->text) == 0;
}

static void reply_existing(struct create *c, const struct activity_view *view)
{
	if (view->problem[0] != '\0') {
		op_reply(&c->op, NULL, RAIN__OUTCOME__CONFLICT,
			 "the id is taken: %s", view->problem);
	} else if (same_plan(c, view)) {
		op_reply(&c->op, view, RAIN__OUTCOME__ALREADY,
			 "it exists with this plan");
	} else {
		char why[PLAN_WHY];

		plan_difference(&view->plan, &c->plan, why);
		op_reply(&c->op, view, RAIN__OUTCOME__CONFLICT,
			 "the id is taken by another plan, choose another id: "
			 "%s",
			 why);
	}
}

static void look_again_cb(void *ctx, const struct activity_view *view,
			  const char *why)
{
	struct create *c = ctx;

	(void)why;
	if (view == NULL || !view->known || !same_plan(c, view)) {
		op_reply(&c->op, view, RAIN__OUTCOME__UNKNOWN_OUTCOME,
			 "it is not known whether it was created (no answer "
			 "of Redis): create it again");
		return;
	}
	op_told(c->op.svc, op_id(&c->op), "create", RAIN__OUTCOME__DONE,
		"the reply of Redis was lost");
	op_reply(&c->op, view, RAIN__OUTCOME__DONE,
		 "created, although the reply of Redis was lost");
}

static void created_cb(void *ctx, enum redis_outcome outcome,
		       const struct step_reply *reply, struct bytes error)
{
	struct create *c = ctx;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	if (reply == NULL && outcome == REDIS_UNKNOWN) {
		view_read(c->op.svc->deps.redis, op_id(&c->op),
			  op_timeout(&c->op), look_again_cb, c);
		return;
	}
	told = reply != NULL ? op_outcome(reply, message)
			     : op_failure(outcome, error, message);
	op_told(c->op.svc, op_id(&c->op), "create", told, message);
	op_finish(&c->op, told, "%s", message);
}

static void run_step(struct create *c)
{
	const struct plan *p = &c->plan;
	struct fields f = { .argv = { BYTES("create"), BYTES("") },
			    .n = CREATE_ARGS };
	uint8_t seed[ALLOCATE_SEED];
	char commitment[PLAN_COMMITMENT], hex[2 * ALLOCATE_SEED + 1];
	char tiers[PLAN_TIERS_TEXT];

	rand_bytes(seed, sizeof(seed));
	hex_encode(seed, sizeof(seed), hex);
	plan_commitment(seed, p, commitment);
	put(&f, "plan", c->text);
	put(&f, "title", p->title);
	put(&f, "sponsor", p->sponsor);
	put(&f, "currency", p->currency);
	put_number(&f, "total_cents", (uint64_t)p->rule.total_cents);
	put_number(&f, "count", p->rule.count);
	put(&f, "algorithm", allocate_name(p->rule.algorithm));
	put_number(&f, "min_cents", (uint64_t)p->rule.min_cents);
	put_number(&f, "max_cents", (uint64_t)p->rule.max_cents);
	put_number(&f, "start_ms", (uint64_t)p->start_ms);
	put_number(&f, "end_ms", (uint64_t)p->end_ms);
	put(&f, "ack", PLAN_ACK);
	put_number(&f, "keep_days", p->keep_days);
	plan_tiers_text(&p->rule, tiers);
	if (tiers[0] != '\0') {
		put(&f, "tiers", tiers);
	}
	if (p->release_ms != 0) {
		put_number(&f, "release_ms", (uint64_t)p->release_ms);
	}
	if (p->rule.live) {
		put(&f, "mode", plan_mode(p));
	}
	put_number(&f, "id_base", activity_random_base(p->rule.count));
	put(&f, "seed", hex);
	put(&f, "commitment", commitment);
	op_step(&c->op, &lua_activity, f.n, f.argv, created_cb, c);
}

/* The id is in rain:activities before there is anything to be found there: who
 * looks after activities misses none. */
static void listed_cb(void *ctx, enum redis_outcome outcome,
		      const redisReply *reply)
{
	struct create *c = ctx;

	if (outcome != REDIS_DONE) {
		op_reply(
			&c->op, NULL, RAIN__OUTCOME__UNAVAILABLE_NOW,
			"nothing was created, Redis does not take the id%s%.*s",
			reply != NULL ? ": " : "",
			reply != NULL ? (int)reply->len : 0,
			reply != NULL ? reply->str : "");
		return;
	}
	run_step(c);
}

static void room_told(void *ctx, bool fits, const char *why)
{
	struct create *c = ctx;

	if (!fits) {
		op_reply(&c->op, NULL, RAIN__OUTCOME__UNAVAILABLE_NOW,
			 "nothing was created: %s", why);
		return;
	}
	redis_command(c->op.svc->deps.redis, 3,
		      (const struct bytes[]){ BYTES("SADD"),
					      BYTES("rain:activities"),
					      op_id(&c->op) },
		      op_timeout(&c->op), listed_cb, c);
}

static void ledger_cb(void *ctx, const Rain__TotalsReply *reply)
{
	struct create *c = ctx;

	if (reply == NULL) {
		op_reply(&c->op, NULL, RAIN__OUTCOME__UNAVAILABLE_NOW,
			 "nothing was created: the ledger does not answer "
			 "whether it has ever known this id");
		return;
	}
	if (reply->known) {
		op_reply(&c->op, NULL, RAIN__OUTCOME__CONFLICT,
			 "the ledger has known an activity of this id: choose "
			 "another id");
		return;
	}
	room_ask(c->op.svc->deps.redis, plan_memory(c->plan.rule.count, 0),
		 op_timeout(&c->op), room_told, c);
}

static void known_cb(void *ctx, const struct activity_view *view,
		     const char *why)
{
	struct create *c = ctx;
	char past[PLAN_WHY];

	if (view == NULL) {
		op_reply(&c->op, NULL, RAIN__OUTCOME__UNAVAILABLE_NOW,
			 "nothing was created: %s", why);
	} else if (view->known) {
		reply_existing(c, view);
	} else if (!plan_is_future(&c->plan, clock_wall_ms(), past)) {
		op_reply(&c->op, NULL, RAIN__OUTCOME__INVALID, "%s", past);
	} else {
		ledger_totals(c->op.svc->deps.ledger, op_id(&c->op), ledger_cb,
			      c);
	}
}

void activity_create(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	Rain__CreateRequest *m = proto_unpack(&rain__create_request__descriptor,
					      argument, OP_ARGUMENT_MAX);
	struct create *c;
	char why[PLAN_WHY] = "there is no plan in the request";
	bool readable;

	if (m == NULL) {
		op_malformed(call);
		return;
	}
	c = op_new(ctx, call, sizeof(*c));
	readable = m->plan != NULL && plan_read(m->plan, &c->plan, why);
	proto_free(m);
	if (!readable) {
		op_reply(&c->op, NULL, RAIN__OUTCOME__INVALID, "%s", why);
		return;
	}
	memcpy(c->op.id, c->plan.activity_id, sizeof(c->op.id));
	(void)plan_text(&c->plan, c->text);
	view_read(c->op.svc->deps.redis, op_id(&c->op), op_timeout(&c->op),
		  known_cb, c);
}
