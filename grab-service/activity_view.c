#include "activity_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"
#include "proto/proto_util.h"

#include "step.h"

struct bytes view_field(const redisReply *meta, const char *name)
{
	struct bytes wanted = bytes_str(name);

	for (size_t i = 0; i + 1 < (size_t)meta->elements; i += 2) {
		const redisReply *key = meta->element[i];
		const redisReply *value = meta->element[i + 1];

		if (key->type == REDIS_REPLY_STRING &&
		    value->type == REDIS_REPLY_STRING &&
		    bytes_eq(bytes_make(key->str, (size_t)key->len), wanted)) {
			return bytes_make(value->str, (size_t)value->len);
		}
	}
	return (struct bytes){ 0 };
}

static bool number(const redisReply *meta, const char *name, uint64_t *out)
{
	return bytes_to_u64(view_field(meta, name), INT64_MAX, out);
}

static int64_t signed_number(const redisReply *meta, const char *name,
			     int64_t otherwise)
{
	uint64_t n = 0;

	return number(meta, name, &n) ? (int64_t)n : otherwise;
}

/* A stranger may have written it, and a message has no room for what is not
 * UTF-8: its reader would refuse all of it. */
static void text(const redisReply *meta, const char *name, char *out,
		 size_t size)
{
	(void)bytes_readable(view_field(meta, name), out, size);
}

static bool read_plan(const redisReply *meta, struct bytes plan,
		      struct plan *out, char why[PLAN_WHY])
{
	Rain__Plan m = RAIN__PLAN__INIT;
	struct plan_tiers tiers;
	struct allocate_rule rule;
	struct bytes id = plan;
	const uint8_t *end = NULL;

	/* Only the canonical text has the id: it is its first line. */
	if (plan.n > sizeof("activity_id=")) {
		id.p += sizeof("activity_id=") - 1;
		id.n -= sizeof("activity_id=") - 1;
		end = memchr(id.p, '\n', id.n);
	}
	if (end != NULL) {
		id.n = (size_t)(end - id.p);
	}
	m.activity_id = to_pb(id);
	m.title = to_pb(view_field(meta, "title"));
	m.sponsor = to_pb(view_field(meta, "sponsor"));
	m.currency = to_pb(view_field(meta, "currency"));
	m.algorithm = to_pb(view_field(meta, "algorithm"));
	m.ack = to_pb(view_field(meta, "ack"));
	m.mode = to_pb(view_field(meta, "mode"));
	m.total_cents = signed_number(meta, "total_cents", -1);
	m.packets = (uint64_t)signed_number(meta, "count", 0);
	m.min_cents = signed_number(meta, "min_cents", -1);
	m.max_cents = signed_number(meta, "max_cents", -1);
	m.start_ms = signed_number(meta, "start_ms", -1);
	m.end_ms = signed_number(meta, "end_ms", -1);
	m.keep_days = (uint32_t)signed_number(meta, "keep_days", UINT32_MAX);
	m.release_ms = signed_number(
		meta, "release_ms",
		view_field(meta, "release_ms").p == NULL ? 0 : -1);
	if (!plan_tiers_read(view_field(meta, "tiers"), &rule)) {
		(void)snprintf(why, PLAN_WHY, "its tiers are no tiers");
		return false;
	}
	plan_tiers_message(&rule, &tiers, &m);
	return plan_read(&m, out, why);
}

static void read_entropy(const redisReply *meta, struct activity_view *out)
{
	struct bytes hex = view_field(meta, "entropy");
	uint8_t entropy[PLAN_ENTROPY_MAX];
	size_t n = hex.n / 2;

	if (hex.p != NULL &&
	    (n < PLAN_ENTROPY_MIN || n > PLAN_ENTROPY_MAX ||
	     hex_decode((const char *)hex.p, hex.n, entropy, n) != 0)) {
		if (out->problem[0] == '\0') {
			(void)snprintf(out->problem, sizeof(out->problem),
				       "its entropy in Redis is no entropy");
		}
		return;
	}
	plan_mix(out->seed, entropy, n, out->mixed);
	text(meta, "entropy", out->entropy, sizeof(out->entropy));
	text(meta, "entropy_by", out->entropy_by, sizeof(out->entropy_by));
	out->entropy_ms = signed_number(meta, "entropy_ms", 0);
}

void view_parse(const redisReply *meta, struct activity_view *out)
{
	struct bytes plan, seed;
	char canonical[PLAN_TEXT_MAX], why[PLAN_WHY];

	*out = (struct activity_view){ .known = meta->elements > 0,
				       .leftover_cents = -1 };
	if (!out->known) {
		return;
	}
	plan = view_field(meta, "plan");
	seed = view_field(meta, "seed");
	out->state = state_from_name(view_field(meta, "state"));
	text(meta, "commitment", out->commitment, sizeof(out->commitment));
	text(meta, "incarnation", out->incarnation, sizeof(out->incarnation));
	text(meta, "reason", out->reason, sizeof(out->reason));
	text(meta, "list", out->list, sizeof(out->list));
	if (!bytes_eq(view_field(meta, "schema"), BYTES("1"))) {
		(void)snprintf(out->problem, sizeof(out->problem),
			       "its schema in Redis is not 1");
	} else if (out->state == 0 ||
		   !number(meta, "revision", &out->revision) ||
		   !number(meta, "id_base", &out->id_base) ||
		   hex_decode((const char *)seed.p, seed.n, out->seed,
			      ALLOCATE_SEED) != 0) {
		(void)snprintf(out->problem, sizeof(out->problem),
			       "state, revision, id_base or seed in Redis "
			       "cannot be read");
	} else if (!read_plan(meta, plan, &out->plan, why)) {
		(void)snprintf(out->problem, sizeof(out->problem),
			       "its plan in Redis cannot be: %.80s", why);
	} else if (!bytes_eq(plan,
			     bytes_make(canonical,
					plan_text(&out->plan, canonical)))) {
		(void)snprintf(out->problem, sizeof(out->problem),
			       "the fields of its plan in Redis are not those "
			       "of the plan's text");
	}
	read_entropy(meta, out);
	out->left = (uint64_t)signed_number(meta, "left", 0);
	out->balance_cents = signed_number(meta, "balance", 0);
	out->loaded = (uint64_t)signed_number(meta, "packets", 0);
	out->tranches = (uint64_t)signed_number(meta, "tranches", 0);
	if (!view_topups_parse(meta, out) && out->problem[0] == '\0') {
		(void)snprintf(out->problem, sizeof(out->problem),
			       "its further tranches in Redis cannot be read");
	}
	out->created_ms = signed_number(meta, "created_ms", 0);
	out->updated_ms = signed_number(meta, "updated_ms", 0);
	out->closed = number(meta, "final_claims", &out->final_claims);
	(void)number(meta, "final_left", &out->final_left);
	out->leftover_cents = signed_number(meta, "leftover_cents", -1);
	out->unlinked = view_field(meta, "unlinked").p != NULL;
}

struct reading {
	view_cb done;
	void *ctx;
	size_t pending;
	uint64_t packets;
	bool read; /* view is filled */
	struct activity_view view;
	char why[160];
};

static void finish_one(struct reading *g)
{
	g->pending--;
	if (g->pending > 0) {
		return;
	}
	if (g->read && g->view.state == RAIN__STATE__LOADING) {
		g->view.loaded = g->packets;
	}
	g->done(g->ctx, g->read ? &g->view : NULL, g->why);
	free(g);
}

static void length_cb(void *ctx, enum redis_outcome outcome,
		      const redisReply *reply)
{
	struct reading *g = ctx;

	if (outcome == REDIS_DONE && reply->type == REDIS_REPLY_INTEGER) {
		g->packets = (uint64_t)reply->integer;
	}
	finish_one(g);
}

static void meta_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct reading *g = ctx;

	if (outcome == REDIS_DONE && reply->type == REDIS_REPLY_ARRAY) {
		view_parse(reply, &g->view);
		g->read = true;
	} else if (reply != NULL && reply->type == REDIS_REPLY_ERROR) {
		(void)snprintf(g->why, sizeof(g->why), "Redis says %.*s",
			       (int)reply->len, reply->str);
	} else {
		(void)snprintf(g->why, sizeof(g->why), "Redis does not answer");
	}
	finish_one(g);
}

void view_read(struct redis *r, struct bytes activity_id, uint64_t timeout_ms,
	       view_cb done, void *ctx)
{
	struct reading *g = xcalloc(1, sizeof(*g));
	char packets[ID_MAX + 24], meta[ID_MAX + 24];
	int n;

	check(id_valid(activity_id));
	*g = (struct reading){ .done = done, .ctx = ctx, .pending = 2 };
	n = snprintf(packets, sizeof(packets), "rain:{%.*s}:packets",
		     BYTES_FMT(activity_id));
	redis_command(r, 2,
		      (const struct bytes[]){ BYTES("LLEN"),
					      bytes_make(packets, (size_t)n) },
		      timeout_ms, length_cb, g);
	n = snprintf(meta, sizeof(meta), "rain:{%.*s}:meta",
		     BYTES_FMT(activity_id));
	redis_command(r, 2,
		      (const struct bytes[]){ BYTES("HGETALL"),
					      bytes_make(meta, (size_t)n) },
		      timeout_ms, meta_cb, g);
}

void view_message(const struct activity_view *v, struct view_message *out)
{
	Rain__Activity *a = &out->activity;
	Rain__Plan *p = &out->plan;
	bool public = v->closed || v->state == RAIN__STATE__CANCELLED ||
		      v->state == RAIN__STATE__SETTLED;

	*out = (struct view_message){ .activity = RAIN__ACTIVITY__INIT,
				      .plan = RAIN__PLAN__INIT };
	p->activity_id = to_pb_str(v->plan.activity_id);
	p->title = to_pb_str(v->plan.title);
	p->sponsor = to_pb_str(v->plan.sponsor);
	p->currency = to_pb_str(v->plan.currency);
	p->algorithm = to_pb_str(allocate_name(v->plan.rule.algorithm));
	p->ack = to_pb_str(PLAN_ACK);
	p->total_cents = v->plan.rule.total_cents;
	p->packets = v->plan.rule.count;
	p->min_cents = v->plan.rule.min_cents;
	p->max_cents = v->plan.rule.max_cents;
	p->start_ms = v->plan.start_ms;
	p->end_ms = v->plan.end_ms;
	p->keep_days = v->plan.keep_days;
	p->release_ms = v->plan.release_ms;
	p->mode = to_pb_str(plan_mode(&v->plan));
	plan_tiers_message(&v->plan.rule, &out->tiers, p);

	if (public) {
		hex_encode(v->seed, ALLOCATE_SEED, out->seed);
	}
	view_topups_message(v, public, out);
	(void)snprintf(out->id_base, sizeof(out->id_base), "%" PRIu64,
		       v->id_base);
	a->plan = p;
	a->state = (Rain__State)v->state;
	a->revision = v->revision;
	a->commitment = to_pb_str(v->commitment);
	a->seed = to_pb_str(out->seed);
	a->id_base = to_pb_str(out->id_base);
	a->list = to_pb_str(v->list);
	a->entropy = to_pb_str(v->entropy);
	a->entropy_by = to_pb_str(v->entropy_by);
	a->entropy_ms = v->entropy_ms;
	a->loaded = v->loaded;
	a->tranches = v->tranches;
	a->created_ms = v->created_ms;
	a->updated_ms = v->updated_ms;
	a->reason = to_pb_str(v->reason);
	a->incarnation = to_pb_str(v->incarnation);
	a->final_claims = v->final_claims;
	a->final_left = v->final_left;
	a->leftover_cents = v->leftover_cents;
	a->unlinked = v->unlinked;
	if (v->plan.rule.live && !v->unlinked) {
		a->left = v->left;
		a->balance_cents = v->balance_cents;
	}
}

bool view_is_committed(const struct activity_view *v)
{
	char commitment[PLAN_COMMITMENT];

	plan_commitment(v->seed, &v->plan, commitment);
	return strcmp(commitment, v->commitment) == 0 &&
	       view_topups_committed(v);
}
