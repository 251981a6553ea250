#include "console/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "console/output.h"
#include "console/wrap.h"

enum { COLUMNS = 100, BAR = 40, FIGURE = 18 };

void plan_amount(double cents, char out[PLAN_AMOUNT_MAX])
{
	bool whole = fabs(cents - round(cents)) < 0.005;
	char digits[28];

	if (cents > 0 && cents < 0.01) {
		(void)snprintf(out, PLAN_AMOUNT_MAX, "less than 0.01");
		return;
	}
	(void)snprintf(digits, sizeof digits, "%.*f",
		       whole || cents >= 100 ? 2 : 4, cents / 100);
	output_grouped(digits, out);
}

void plan_number(uint64_t number, char out[PLAN_AMOUNT_MAX])
{
	char digits[24];

	(void)snprintf(digits, sizeof digits, "%" PRIu64, number);
	output_grouped(digits, out);
}

/* Both as values, to be printed in one go. */
struct text {
	char s[PLAN_AMOUNT_MAX];
};

static struct text amount(double cents)
{
	struct text t;

	plan_amount(cents, t.s);
	return t;
}

static struct text number(uint64_t n)
{
	struct text t;

	plan_number(n, t.s);
	return t;
}

/* "33.3 %", or "1 in 20,000". */
static struct text chance(double odds)
{
	struct text t;

	if (odds >= 0.01 || odds <= 0) {
		(void)snprintf(t.s, sizeof t.s, "%.1f %%", odds * 100);
	} else {
		(void)snprintf(t.s, sizeof t.s, "1 in %s",
			       number((uint64_t)llround(1 / odds)).s);
	}
	return t;
}

static struct text duration(double s)
{
	struct text t;

	if (s < 120) {
		(void)snprintf(t.s, sizeof t.s, "%.*f s", s < 10 ? 2 : 1, s);
	} else if (s < 7200) {
		(void)snprintf(t.s, sizeof t.s, "%.0f min", s / 60);
	} else {
		(void)snprintf(t.s, sizeof t.s, "%s h",
			       number((uint64_t)llround(s / 3600)).s);
	}
	return t;
}

static struct text size(uint64_t bytes)
{
	struct text t;

	if (bytes < 1000000) {
		(void)snprintf(t.s, sizeof t.s, "%.1f kB", (double)bytes / 1e3);
	} else {
		(void)snprintf(t.s, sizeof t.s, "%.1f MB", (double)bytes / 1e6);
	}
	return t;
}

bool plan_is_fixed(const struct plan *p)
{
	return p->rule.algorithm == ALLOCATE_EQUAL ||
	       p->rule.algorithm == ALLOCATE_TIERS || p->rule.count == 1;
}

void plan_sentence(const struct plan *p, struct buf *out)
{
	const struct allocate_rule *r = &p->rule;

	buf_printf(out, "%s %s in %s packet%s, split by %s%s, each %s%s",
		   amount((double)r->total_cents).s, p->currency,
		   number(r->count).s, r->count == 1 ? "" : "s",
		   allocate_name(r->algorithm),
		   r->live ? " while people grab" : "",
		   r->max_cents == 0 ? "at least " : "",
		   amount((double)r->min_cents).s);
	if (r->max_cents != 0) {
		buf_printf(out, " to %s", amount((double)r->max_cents).s);
	}
	if (p->release_ms != 0) {
		buf_printf(out, ", released over %s",
			   duration((double)p->release_ms / 1e3).s);
	}
}

static void print_wrapped(struct bytes text)
{
	while (text.n > 0) {
		struct bytes line = wrap_line(&text, COLUMNS);

		printf("%.*s\n", BYTES_FMT(line));
	}
}

static void print_plan(const struct plan_forecast *p)
{
	struct buf text;

	buf_init(&text);
	if (p->plan.title[0] != '\0') {
		buf_printf(&text, "%s: ", p->plan.title);
	}
	plan_sentence(&p->plan, &text);
	buf_printf(&text, ". %s",
		   plan_is_fixed(&p->plan)
			   ? "Every draw has these amounts; the seed, which "
			     "`activity create` draws, decides their order."
			   : "The seed is drawn by `activity create`: the "
			     "amounts below are one possible draw of many.");
	if (p->plan.rule.live) {
		buf_printf(&text,
			   " Mode live: each amount is drawn when its packet "
			   "is grabbed, and no list lies in Redis before.");
	}
	if (p->note[0] != '\0') {
		buf_printf(&text, " Note that create would refuse it now: %s.",
			   p->note);
	}
	print_wrapped(buf_live(&text));
	buf_close(&text);
}

static void print_histogram(const struct forecast_histogram *h)
{
	uint64_t most = 0;
	int from = 0, to = (int)strlen("amount"), count = 0;

	for (size_t i = 0; i < h->count; i++) {
		const struct forecast_bucket *b = &h->buckets[i];
		int n = (int)strlen(amount((double)b->from_cents).s);

		from = n > from ? n : from;
		n = (int)strlen(amount((double)b->to_cents).s);
		to = n > to ? n : to;
		n = (int)strlen(number(b->packets).s);
		count = n > count ? n : count;
		most = b->packets > most ? b->packets : most;
	}
	count = count > (int)strlen("packets") ? count : (int)strlen("packets");
	/* With the words between both amounts. */
	from = h->scale == FORECAST_VALUES ? 0 : from + (int)strlen(" to ");
	printf("\n  %*s  %*s\n", from + to, "amount", count, "packets");
	for (size_t i = 0; i < h->count; i++) {
		const struct forecast_bucket *b = &h->buckets[i];
		char left[PLAN_AMOUNT_MAX + 4] = "";
		double bar = (double)b->packets / (double)most * BAR;

		if (from > 0) {
			(void)snprintf(left, sizeof left, "%s to ",
				       amount((double)b->from_cents).s);
		}
		printf("  %*s%*s  %*s", from, left, to,
		       amount((double)b->to_cents).s, count,
		       number(b->packets).s);
		/* What there is is seen. */
		for (int k = 0; k < BAR && k < bar; k++) {
			printf("%s#", k == 0 ? "  " : "");
		}
		putchar('\n');
	}
}

static struct text figure(enum forecast_figure which, double value)
{
	struct text t;

	if (which == FORECAST_VARIATION || which == FORECAST_GINI) {
		(void)snprintf(t.s, sizeof t.s, "%.3f", value);
		return t;
	}
	t = amount(value);
	if (strlen(t.s) > FIGURE) {
		(void)snprintf(t.s, sizeof t.s, "%.2f", value / 100);
	}
	return t;
}

static void print_figures(const struct plan_forecast *p)
{
	static const char *const names[FORECAST_FIGURES] = {
		[FORECAST_SMALLEST] = "smallest",
		[FORECAST_MEDIAN] = "median",
		[FORECAST_MEAN] = "mean",
		[FORECAST_LARGEST] = "largest",
		[FORECAST_DEVIATION] = "standard deviation",
		[FORECAST_VARIATION] = "variation coeff.",
		[FORECAST_GINI] = "Gini coefficient",
	};
	const struct forecast *f = &p->forecast;
	bool fixed = plan_is_fixed(&p->plan);
	char mean[32];

	(void)snprintf(mean, sizeof mean, "mean of %" PRIu64, f->draws);
	if (fixed) {
		printf("\n  %-20s%18s\n", "amounts", "each draw");
	} else {
		printf("\n  %-20s%18s %18s %18s %18s\n", "amounts", "this draw",
		       mean, "lowest", "highest");
	}
	for (int i = 0; i < FORECAST_FIGURES; i++) {
		enum forecast_figure k = (enum forecast_figure)i;

		printf("  %-20s%*s", names[i], FIGURE,
		       figure(k, f->first[i]).s);
		if (!fixed) {
			printf(" %*s %*s %*s", FIGURE,
			       figure(k, forecast_mean(f, k)).s, FIGURE,
			       figure(k, f->lowest[i]).s, FIGURE,
			       figure(k, f->highest[i]).s);
		}
		putchar('\n');
	}
}

/* No shuffle hides how the shares come about, one after the other. */
static void print_live(void)
{
	printf("  %-20snot shuffled: the later the place, the wider its "
	       "amount spreads\n",
	       "mode live");
}

static void print_best(const struct forecast *f)
{
	const char *part = f->parts == f->packets ? "place" : "tenth";
	double fair = 1 / (double)f->parts;
	double chance_alone = 3 * forecast_best_error(f);
	double lowest = 1, highest = 0;

	for (size_t i = 0; i < f->parts; i++) {
		double odds = forecast_best(f, i);

		lowest = odds < lowest ? odds : lowest;
		highest = odds > highest ? odds : highest;
	}
	printf("\n  odds of the best packet (equals share it) by place in the "
	       "order of grabs, over %" PRIu64 " draw%s\n",
	       f->draws, f->draws == 1 ? "" : "s");
	printf("  %-20s%s for each place", "fair",
	       chance(1 / (double)f->packets).s);
	if (f->parts < f->packets) {
		printf(", %.1f %% for a tenth of them", fair * 100);
	}
	printf("\n  %-20sfirst %s %.1f %%, last %s %.1f %%, lowest %.1f %%, "
	       "highest %.1f %%\n",
	       "measured", part, forecast_best(f, 0) * 100, part,
	       forecast_best(f, f->parts - 1) * 100, lowest * 100,
	       highest * 100);
	printf("  %-20s%.1f %% to %.1f %% (three standard errors)\n",
	       "chance alone makes",
	       (fair > chance_alone ? fair - chance_alone : 0) * 100,
	       (fair + chance_alone < 1 ? fair + chance_alone : 1) * 100);
}

bool plan_sold_out(const struct plan_forecast *p, double *seconds)
{
	uint64_t packets = p->plan.rule.count;
	double free = forecast_last_free(packets, p->audience,
					 (double)p->plan.release_ms / 1e3);
	bool all = forecast_sold_out(packets, p->audience, p->taps, seconds);

	if (*seconds < free) {
		*seconds = free;
	}
	return all;
}

/* start to end, in seconds; 0 if one of them is open. */
static double window(const struct plan *p)
{
	return p->start_ms != 0 && p->end_ms != 0
		       ? (double)(p->end_ms - p->start_ms) / 1e3
		       : 0;
}

static void print_audience(const struct plan_forecast *p)
{
	const struct allocate_rule *r = &p->plan.rule;
	double win = forecast_win(r->count, p->audience);
	double mean = (double)r->total_cents / (double)r->count;
	double seconds;
	bool all = plan_sold_out(p, &seconds);

	printf("\n  with %s %s, %s tap%s a second of all together\n"
	       "  (assumed: %sat random moments, and the services carry "
	       "it)\n",
	       number(p->audience).s, p->audience == 1 ? "person" : "people",
	       number(p->taps).s, p->taps == 1 ? "" : "s",
	       p->taps_assumed ? "one tap a second of each (see --taps), "
			       : "");
	if (all) {
		printf("  %-20s%s on average\n", "sold out after",
		       duration(seconds).s);
	} else {
		printf("  %-20snever: fewer people than packets; all have one "
		       "after %s on average\n",
		       "sold out after", duration(seconds).s);
	}
	if (window(&p->plan) > 0 && window(&p->plan) < seconds) {
		printf("  %-20s%s after its start: before that\n",
		       "the plan ends", duration(window(&p->plan)).s);
	}
	printf("  %-20s%s for a person\n", "odds to win", chance(win).s);
	printf("  %-20s%s on average of all people, with a packet or "
	       "without\n",
	       "takings", amount(win * mean).s);
	if (!all) {
		printf("  %-20s%s on average goes back to the sponsor\n",
		       "left",
		       amount(mean * (double)(r->count - p->audience)).s);
	}
}

static void print_memory(const struct plan *p)
{
	struct text grabbed = size(plan_memory(p->rule.count, 0));

	printf("\n  %-20sabout ", "memory of Redis");
	if (plan_has_list(p)) {
		printf("%s when all are loaded, %s when all are grabbed\n",
		       size(plan_loaded_bytes(p)).s, grabbed.s);
	} else {
		printf("%s when all are grabbed, no list before\n", grabbed.s);
	}
}

void plan_report(const struct ctl *ctl, const struct plan_forecast *p)
{
	uint64_t packets = p->plan.rule.count;

	if (ctl->json) {
		output_print(ctl, plan_report_json(ctl, p));
		return;
	}
	print_plan(p);
	print_histogram(&p->forecast.histogram);
	print_figures(p);
	if (packets > 1) {
		print_best(&p->forecast);
	}
	if (p->plan.rule.live) {
		print_live();
	}
	if (p->audience > 0) {
		print_audience(p);
	} else {
		printf("\n  --audience N says when so many people have taken "
		       "them all, and what each can expect\n");
	}
	print_memory(&p->plan);
	if (p->plot != NULL && p->plot_error.n == 0) {
		printf("  %-20s%s\n", "picture", p->plot);
	}
}
