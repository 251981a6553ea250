#include <jansson.h>

#include "bench/report.h"

static void put(json_t *o, const char *name, uint64_t value)
{
	json_object_set_new(o, name, json_integer((json_int_t)value));
}

static void put_real(json_t *o, const char *name, double value)
{
	json_object_set_new(o, name, json_real(value));
}

static void put_latency(json_t *o, const char *name, const struct histogram *h)
{
	static const struct {
		const char *name;
		double fraction;
	} shown[] = {
		{ "p50", 0.5 },  { "p75", 0.75 },    { "p90", 0.9 },
		{ "p99", 0.99 }, { "p99.9", 0.999 }, { "p99.99", 0.9999 },
		{ "max", 1 },
	};
	json_t *l = json_object();

	put(l, "n", h->total);
	put_real(l, "mean", histogram_mean(h) / 1e3);
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		double ms;
		bool known = report_percentile(h, shown[i].fraction, &ms);

		json_object_set_new(l, shown[i].name,
				    known ? json_real(ms) : json_null());
	}
	json_object_set_new(o, name, l);
}

static void put_asked(json_t *o, const struct options *p)
{
	static const char *const scopes[] = { [SCOPE_USER] = "user",
					      [SCOPE_FRONT] = "front",
					      [SCOPE_ECHO] = "echo" };

	json_object_set_new(o, "loop",
			    json_string(p->idle       ? "idle"
					: p->rate > 0 ? "open"
						      : "closed"));
	json_object_set_new(o, "scope", json_string(scopes[p->scope]));
	put(o, "conns", p->conns);
	put(o, "threads", p->threads);
	if (p->rate > 0) {
		put(o, "asked_per_second", p->rate);
	} else if (!p->idle) {
		put(o, "in_flight", p->in_flight);
	}
}

static void put_statuses(json_t *o, const struct tally *t)
{
	json_t *statuses = json_object();

	for (int i = 0; i < TALLY_STATUSES; i++) {
		if (t->statuses[i] > 0) {
			put(statuses, report_status(i), t->statuses[i]);
		}
	}
	json_object_set_new(o, "statuses", statuses);
}

static void put_rates(json_t *o, const struct report *r)
{
	const struct tally *t = r->tally;

	put_real(o, "seconds", (double)r->window_us / 1e6);
	put_real(o, "per_second", report_per_second(r, t->in_window));
	put_real(o, "useful_per_second", report_per_second(r, t->useful));
	put_real(o, "wins_per_second", report_per_second(r, t->wins));
	put(o, "answered_in_window", t->in_window);
	put(o, "won_in_window", t->wins);
	put(o, "useful_late", t->useful_late);
}

static void put_counts(json_t *o, const struct report *r)
{
	const struct tally *t = r->tally;

	put(o, "sent", t->sent);
	put(o, "again", t->again);
	put(o, "unsent", t->unsent);
	put(o, "answers", t->answers);
	put_statuses(o, t);
	put(o, "errors", t->errors);
	put(o, "lost", t->lost);
	put(o, "unanswered", t->unanswered);
	put(o, "strange", t->strange);
	put(o, "unresolved", r->unresolved);
	put(o, "closed", t->closed);
	put(o, "turned_away", t->turned_away);
	put(o, "waits_missing", t->waits_missing);
	put(o, "wait_min_ms", t->wait_min_ms);
	put(o, "wait_max_ms", t->wait_max_ms);
}

static void put_money(json_t *o, const struct report *r)
{
	const struct tally *t = r->tally;
	struct tally_won won = tally_won(t);
	json_t *list = json_array();

	if (r->options->scope == SCOPE_ECHO) {
		json_decref(list);
		return;
	}
	put(o, "winners", won.winners);
	put(o, "cents_won", won.cents);
	put(o, "wrong_answers", t->wrong);
	for (uint64_t i = 0; i < t->activities; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "id",
				    json_string(r->options->activities[i]));
		put(one, "winners", t->won[i].winners);
		put(one, "cents_won", t->won[i].cents);
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "activities", list);
}

/* CPU seconds in the window of those who are watched; null: it has ended. */
static void put_watched(json_t *o, const struct report *r)
{
	const struct options *p = r->options;
	json_t *watched = json_object();
	double value;

	for (size_t i = 0; i < p->watch_count; i++) {
		bool known = watch_cpu_seconds(r->watch, i, &value);

		json_object_set_new(watched, p->watched[i].name,
				    known ? json_real(value) : json_null());
	}
	json_object_set_new(o, "watched_cpu_seconds", watched);
	json_object_set_new(o, "others_cpu",
			    watch_others(p, r->watch, &value) ? json_real(value)
							      : json_null());
}

static void put_generator(json_t *o, const struct report *r)
{
	json_t *cpu = json_array();
	json_t *list = json_array();
	struct warnings w;
	double sum = 0;

	for (uint64_t i = 0; i < r->options->threads; i++) {
		json_array_append_new(cpu, json_real(r->cpu[i]));
		sum += r->cpu[i];
	}
	json_object_set_new(o, "generator_cpu", cpu);
	put_real(o, "generator_cpu_seconds", sum * (double)r->window_us / 1e6);
	report_warnings(r, &w);
	for (size_t i = 0; i < w.count; i++) {
		json_array_append_new(list, json_string(w.text[i]));
	}
	json_object_set_new(o, "warnings", list);
}

void report_json(const struct report *r, FILE *out)
{
	json_t *o = json_object();
	const struct tally *t = r->tally;

	put_asked(o, r->options);
	if (r->options->idle) {
		put(o, "held", r->held);
		put(o, "refused", r->refused);
		put(o, "closed", t->closed);
		put_real(o, "seconds", (double)r->window_us / 1e6);
	} else {
		put_rates(o, r);
		put_counts(o, r);
		put_latency(o, "latency_ms", &t->all);
		put_latency(o, "executed_ms", &t->executed);
		put_latency(o, "refused_ms", &t->refused);
		put_latency(o, "pending_ms", &t->pending);
		put_latency(o, "late_ms", &t->late);
		put_money(o, r);
	}
	put_watched(o, r);
	put_generator(o, r);
	(void)json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	(void)fprintf(out, "\n");
	json_decref(o);
}
