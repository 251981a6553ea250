#include "console/activity_json.h"

#include "console/output.h"
#include "plan/plan.h"
#include "proto/proto_util.h"

const char *activity_state(Rain__State state)
{
	const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
		&rain__state__descriptor, (int)state);

	if (v == NULL || state == RAIN__STATE__STATE_UNSPECIFIED) {
		return "?";
	}
	return state == RAIN__STATE__STATE_PAUSED ? "PAUSED" : v->name;
}

static json_t *tiers_json(size_t n, Rain__Tier *const *tiers)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "amount",
				    output_cents(tiers[i]->amount_cents));
		json_object_set_new(
			o, "packets",
			json_integer((json_int_t)tiers[i]->packets));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *tranche_json(const Rain__Tranche *t)
{
	json_t *o = json_object();

	json_object_set_new(o, "tranche", json_integer(t->number));
	json_object_set_new(o, "total", output_cents(t->total_cents));
	json_object_set_new(o, "packets", json_integer((json_int_t)t->packets));
	json_object_set_new(o, "algorithm", output_text(t->algorithm));
	if (t->n_tiers > 0) {
		json_object_set_new(o, "tiers",
				    tiers_json(t->n_tiers, t->tiers));
	}
	json_object_set_new(o, "min", output_cents(t->min_cents));
	json_object_set_new(o, "max", output_cents(t->max_cents));
	json_object_set_new(o, "id_base", output_text(t->id_base));
	json_object_set_new(o, "loaded", json_integer((json_int_t)t->loaded));
	json_object_set_new(o, "commitment", output_text(t->commitment));
	json_object_set_new(o, "seed", output_text(t->seed));
	return o;
}

static json_t *topups_json(const Rain__Activity *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_topups; i++) {
		json_array_append_new(list, tranche_json(a->topups[i]));
	}
	return list;
}

/* How it ended. A cancelled one has a seed too, and was never closed. */
static void add_final(json_t *o, const Rain__Activity *a)
{
	bool counted = a->leftover_cents >= 0;

	if (a->seed.len == 0 || a->state == RAIN__STATE__CANCELLED ||
	    (a->state == RAIN__STATE__SETTLED && !counted)) {
		return;
	}
	json_object_set_new(o, "final_claims",
			    json_integer((json_int_t)a->final_claims));
	json_object_set_new(o, "final_left",
			    json_integer((json_int_t)a->final_left));
	json_object_set_new(o, "leftover",
			    counted ? output_cents(a->leftover_cents)
				    : json_null());
}

json_t *activity_json(const struct ctl *ctl, const Rain__Activity *a)
{
	const Rain__Plan *p = a->plan;
	json_t *o = json_object();

	if (p != NULL) {
		json_object_set_new(o, "id", output_text(p->activity_id));
		json_object_set_new(o, "title", output_text(p->title));
	}
	json_object_set_new(o, "state", json_string(activity_state(a->state)));
	json_object_set_new(o, "revision",
			    json_integer((json_int_t)a->revision));
	json_object_set_new(o, "reason", output_text(a->reason));
	if (p != NULL) {
		json_object_set_new(o, "sponsor", output_text(p->sponsor));
		json_object_set_new(o, "currency", output_text(p->currency));
		json_object_set_new(o, "total", output_cents(p->total_cents));
		json_object_set_new(o, "packets",
				    json_integer((json_int_t)p->packets));
		json_object_set_new(o, "algorithm", output_text(p->algorithm));
		json_object_set_new(o, "mode", output_text(p->mode));
		if (p->n_tiers > 0) {
			json_object_set_new(o, "tiers",
					    tiers_json(p->n_tiers, p->tiers));
		}
		json_object_set_new(o, "min", output_cents(p->min_cents));
		json_object_set_new(o, "max", output_cents(p->max_cents));
		json_object_set_new(o, "start", output_time(ctl, p->start_ms));
		json_object_set_new(o, "end", output_time(ctl, p->end_ms));
		if (p->release_ms != 0) {
			json_object_set_new(o, "release_ms",
					    json_integer(p->release_ms));
		}
		json_object_set_new(o, "ack", output_text(p->ack));
		json_object_set_new(o, "keep_days", json_integer(p->keep_days));
	}
	json_object_set_new(o, "id_base", output_text(a->id_base));
	if (p != NULL && plan_message_is_live(p)) {
		json_object_set_new(o, "left",
				    json_integer((json_int_t)a->left));
		json_object_set_new(o, "balance",
				    output_cents(a->balance_cents));
	}
	json_object_set_new(o, "loaded", json_integer((json_int_t)a->loaded));
	json_object_set_new(o, "commitment", output_text(a->commitment));
	json_object_set_new(o, "seed", output_text(a->seed));
	if (a->list.len > 0) {
		json_object_set_new(o, "list", output_text(a->list));
	}
	if (a->entropy.len > 0) {
		json_object_set_new(o, "entropy", output_text(a->entropy));
		json_object_set_new(o, "entropy_by",
				    output_text(a->entropy_by));
		json_object_set_new(o, "entropy_at",
				    output_time(ctl, a->entropy_ms));
	}
	if (a->n_topups > 0) {
		json_object_set_new(o, "tranches",
				    json_integer((json_int_t)a->tranches));
		json_object_set_new(o, "topups", topups_json(a));
	}
	add_final(o, a);
	json_object_set_new(o, "created", output_time(ctl, a->created_ms));
	json_object_set_new(o, "updated", output_time(ctl, a->updated_ms));
	return o;
}
