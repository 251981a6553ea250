#include <inttypes.h>

#include "base/amount.h"
#include "bench/report.h"

static void rule(FILE *out, const char *name)
{
	(void)fprintf(out, "%-12s", name);
}

static void print_asked(const struct options *o, FILE *out)
{
	char a[32];

	(void)fprintf(out, "rainbench: ");
	if (o->idle) {
		(void)fprintf(out, "idle connections\n");
		return;
	}
	if (o->rate > 0) {
		(void)fprintf(out, "open loop, %s taps a second asked for",
			      report_number(o->rate, a));
	} else {
		(void)fprintf(out, "closed loop, %" PRIu64 " in flight on each",
			      o->in_flight);
	}
	(void)fprintf(out, ", %s %sconnections\n", report_number(o->conns, a),
		      o->scope == SCOPE_FRONT ? "front " : "");
}

static void print_rates(const struct report *r, FILE *out)
{
	const struct tally *t = r->tally;
	double per_second = report_per_second(r, t->in_window);
	char a[32];

	rule(out, "rate");
	(void)fprintf(out, "%s answers a second",
		      report_number((uint64_t)(per_second + 0.5), a));
	if (t->wins > 0) {
		(void)fprintf(
			out, ", %s winners a second",
			report_number(
				(uint64_t)(report_per_second(r, t->wins) + 0.5),
				a));
	}
	(void)fprintf(out, ", measured for %.1f s\n",
		      (double)r->window_us / 1e6);
}

static void print_latency(const struct report *r, FILE *out)
{
	static const struct {
		const char *name;
		double fraction;
	} shown[] = { { "p50", 0.5 },     { "p90", 0.9 },       { "p99", 0.99 },
		      { "p99.9", 0.999 }, { "p99.99", 0.9999 }, { "max", 1 } };
	enum { SHOWN = sizeof shown / sizeof shown[0] };

	rule(out, "latency");
	for (int i = 0; i < SHOWN; i++) {
		(void)fprintf(out, "%10s", shown[i].name);
	}
	(void)fprintf(out, "   ms, %s\n",
		      r->options->rate > 0 ? "from when a tap was due"
					   : "from when a tap was sent");
	rule(out, "");
	for (int i = 0; i < SHOWN; i++) {
		double ms;

		if (report_percentile(&r->tally->all, shown[i].fraction, &ms)) {
			(void)fprintf(out, "%10.*f", ms < 100 ? 2 : 0, ms);
		} else {
			(void)fprintf(out, "%10s", "-");
		}
	}
	(void)fprintf(out, "\n");
}

static void print_answers(const struct report *r, FILE *out)
{
	const struct tally *t = r->tally;
	const char *between = "";
	char a[32];

	rule(out, "answers");
	for (int i = 0; i < TALLY_STATUSES; i++) {
		if (t->statuses[i] > 0) {
			(void)fprintf(out, "%s%s %s", between, report_status(i),
				      report_number(t->statuses[i], a));
			between = ", ";
		}
	}
	(void)fprintf(out, "%s\n", *between == '\0' ? "none" : "");
	if (t->again > 0) {
		rule(out, "");
		(void)fprintf(out, "%s taps were sent again\n",
			      report_number(t->again, a));
	}
}

static void print_money(const struct report *r, FILE *out)
{
	struct tally_won won = tally_won(r->tally);
	char a[32];

	if (r->options->scope == SCOPE_ECHO) {
		return;
	}
	rule(out, "packets");
	(void)fprintf(out, "%s users have one, %s in all",
		      report_number(won.winners, a),
		      amount_text((int64_t)won.cents).text);
	if (r->options->activity_count > 1) {
		(void)fprintf(out, ", in %zu activities",
			      r->options->activity_count);
	}
	(void)fprintf(out, "\n");
}

static void print_generator(const struct report *r, FILE *out)
{
	double late;

	rule(out, "generator");
	for (uint64_t i = 0; i < r->options->threads; i++) {
		(void)fprintf(out, "%s%.0f %%", i > 0 ? " + " : "",
			      r->cpu[i] * 100);
	}
	(void)fprintf(out, " of a processor");
	if (report_percentile(&r->tally->late, 0.99, &late)) {
		(void)fprintf(out, "; 99 %% of the taps left within %.2f ms",
			      late);
	}
	(void)fprintf(out, "\n");
}

/* CPU of those who are watched, for each answer. */
static void print_watched(const struct report *r, FILE *out)
{
	uint64_t answers = r->tally->in_window;
	const char *between = "";
	double seconds;

	if (r->options->watch_count == 0) {
		return;
	}
	rule(out, "processors");
	for (size_t i = 0; i < r->options->watch_count; i++) {
		(void)fprintf(out, "%s%s ", between,
			      r->options->watched[i].name);
		between = ", ";
		if (!watch_cpu_seconds(r->watch, i, &seconds)) {
			(void)fprintf(out, "has ended");
		} else if (answers > 0) {
			(void)fprintf(out, "%.2f us",
				      seconds * 1e6 / (double)answers);
		} else {
			(void)fprintf(out, "%.2f s", seconds);
		}
	}
	(void)fprintf(out, "%s\n", answers > 0 ? " for each answer" : "");
}

static void print_idle(const struct report *r, FILE *out)
{
	char a[32];
	char b[32];

	rule(out, "connections");
	(void)fprintf(out, "%s of %s held for %.1f s\n",
		      report_number(r->held, a),
		      report_number(r->options->conns, b),
		      (double)r->window_us / 1e6);
}

void report_text(const struct report *r, FILE *out)
{
	struct warnings w;

	print_asked(r->options, out);
	if (r->options->idle) {
		print_idle(r, out);
	} else {
		print_rates(r, out);
		print_latency(r, out);
		print_answers(r, out);
		print_money(r, out);
		print_generator(r, out);
	}
	print_watched(r, out);
	report_warnings(r, &w);
	for (size_t i = 0; i < w.count; i++) {
		(void)fprintf(out, "WARNING     %s\n", w.text[i]);
	}
}
