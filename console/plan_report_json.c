#include <math.h>

#include "console/plan_report.h"
#include "proto/proto_util.h"

/* As decimal text; two more places where it is no whole number of cents. */
static json_t *amount(double cents)
{
	char text[40];
	int n;

	if (cents > 0 && cents < 0.01) {
		/* Two places would say that there is nothing. */
		n = snprintf(text, sizeof text, "%.14f", cents / 100);
		check(n > 0 && (size_t)n < sizeof text);
		return json_string(text);
	}
	if (fabs(cents - round(cents)) < 0.005) {
		return output_cents((int64_t)llround(cents));
	}
	n = snprintf(text, sizeof text, "%.4f", cents / 100);
	check(n > 0 && (size_t)n < sizeof text);
	return json_string(text);
}

static json_t *figure(enum forecast_figure which, double value)
{
	return which == FORECAST_VARIATION || which == FORECAST_GINI
		       ? json_real(value)
		       : amount(value);
}

static json_t *figures(const struct forecast *f)
{
	static const char *const names[FORECAST_FIGURES] = {
		[FORECAST_SMALLEST] = "smallest",
		[FORECAST_MEDIAN] = "median",
		[FORECAST_MEAN] = "mean",
		[FORECAST_LARGEST] = "largest",
		[FORECAST_DEVIATION] = "standard_deviation",
		[FORECAST_VARIATION] = "variation",
		[FORECAST_GINI] = "gini",
	};
	json_t *o = json_object();

	for (int i = 0; i < FORECAST_FIGURES; i++) {
		enum forecast_figure k = (enum forecast_figure)i;

		json_object_set_new(o, names[i],
				    json_pack("{s:o,s:o,s:o,s:o}", "this_draw",
					      figure(k, f->first[i]), "mean",
					      figure(k, forecast_mean(f, k)),
					      "lowest", figure(k, f->lowest[i]),
					      "highest",
					      figure(k, f->highest[i])));
	}
	return o;
}

static json_t *histogram(const struct forecast_histogram *h)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->count; i++) {
		const struct forecast_bucket *b = &h->buckets[i];

		json_array_append_new(
			list, json_pack("{s:o,s:o,s:I}", "from",
					output_cents(b->from_cents), "to",
					output_cents(b->to_cents), "packets",
					(json_int_t)b->packets));
	}
	return list;
}

static json_t *best(const struct forecast *f)
{
	json_t *measured = json_array();

	for (size_t i = 0; i < f->parts; i++) {
		json_array_append_new(measured, json_real(forecast_best(f, i)));
	}
	return json_pack("{s:f,s:f,s:o,s:f}", "fair_of_a_place",
			 1 / (double)f->packets, "fair", 1 / (double)f->parts,
			 "measured", measured, "standard_error",
			 forecast_best_error(f));
}

static json_t *audience(const struct plan_forecast *p)
{
	const struct allocate_rule *r = &p->plan.rule;
	double win = forecast_win(r->count, p->audience);
	double mean = (double)r->total_cents / (double)r->count;
	double seconds;
	bool all = plan_sold_out(p, &seconds);

	return json_pack("{s:I,s:I,s:b,s:b,s:f,s:f,s:o}", "people",
			 (json_int_t)p->audience, "taps_per_second",
			 (json_int_t)p->taps, "taps_assumed", p->taps_assumed,
			 "sold_out", all, "seconds", seconds, "win_odds", win,
			 "takings", amount(win * mean));
}

static json_t *tiers(const struct allocate_rule *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->tier_count; i++) {
		json_array_append_new(
			list,
			json_pack("{s:o,s:I}", "amount",
				  output_cents(r->tiers[i].amount_cents),
				  "packets", (json_int_t)r->tiers[i].count));
	}
	return list;
}

json_t *plan_report_json(const struct ctl *ctl, const struct plan_forecast *p)
{
	const struct plan *plan = &p->plan;
	const struct allocate_rule *r = &plan->rule;
	json_t *o = json_pack(
		"{s:s,s:s,s:s,s:o,s:I,s:s,s:s,s:o,s:o,s:o,s:o}", "title",
		plan->title, "sponsor", plan->sponsor, "currency",
		plan->currency, "total", output_cents(r->total_cents),
		"packets", (json_int_t)r->count, "algorithm",
		allocate_name(r->algorithm), "mode", plan_mode(plan), "min",
		output_cents(r->min_cents), "max", output_cents(r->max_cents),
		"start", output_time(ctl, plan->start_ms), "end",
		output_time(ctl, plan->end_ms));

	if (r->tier_count > 0) {
		json_object_set_new(o, "tiers", tiers(r));
	}
	if (plan->release_ms != 0) {
		json_object_set_new(o, "release_ms",
				    json_integer(plan->release_ms));
	}
	json_object_set_new(o, "note", json_string(p->note));
	json_object_set_new(o, "draws",
			    json_integer((json_int_t)p->forecast.draws));
	json_object_set_new(o, "same_amounts_in_each_draw",
			    json_boolean(plan_is_fixed(plan)));
	json_object_set_new(o, "amounts", figures(&p->forecast));
	json_object_set_new(o, "histogram", histogram(&p->forecast.histogram));
	json_object_set_new(o, "best", best(&p->forecast));
	if (p->audience > 0) {
		json_object_set_new(o, "audience", audience(p));
	}
	json_object_set_new(o, "redis_bytes",
			    json_pack("{s:I,s:I}", "loaded",
				      (json_int_t)plan_loaded_bytes(plan),
				      "grabbed",
				      (json_int_t)plan_memory(r->count, 0)));
	if (p->plot_error.n > 0) {
		json_object_set_new(o, "error",
				    output_text(to_pb(p->plot_error)));
	} else if (p->plot != NULL) {
		json_object_set_new(o, "plot", json_string(p->plot));
	}
	return o;
}
