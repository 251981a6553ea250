/* What the reports for people and for scripts have in common. */
#include "bench/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { LATE_US = 1000 };
#define CPU_LIMIT    0.9
#define KEPT_UP      0.99
#define OTHERS_LIMIT 0.2

double report_per_second(const struct report *r, uint64_t events)
{
	return r->window_us > 0 ? (double)events * 1e6 / (double)r->window_us
				: 0;
}

bool report_percentile(const struct histogram *h, double fraction, double *ms)
{
	/* The slowest is known of any number. */
	if (h->total == 0 ||
	    (fraction < 1 && (double)h->total * (1 - fraction) < 1 - 1e-6)) {
		return false;
	}
	*ms = (double)histogram_percentile(h, fraction) / 1e3;
	return true;
}

const char *report_status(int status)
{
	const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
		&rain__status__descriptor, status);

	return v != NULL ? v->name : "?";
}

const char *report_number(uint64_t n, char out[32])
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0) {
			out[at++] = ',';
		}
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

static void printf_like(2, 3) warn(struct warnings *w, const char *fmt, ...)
{
	va_list args;

	if (w->count == REPORT_WARNINGS_MAX) {
		return;
	}
	va_start(args, fmt);
	(void)vsnprintf(w->text[w->count++], sizeof w->text[0], fmt, args);
	va_end(args);
}

/* Whether the numbers are those of the generator. */
static void warn_of_generator(const struct report *r, struct warnings *w)
{
	const struct options *o = r->options;
	double late = 0;

	for (uint64_t i = 0; i < o->threads; i++) {
		if (r->cpu[i] > CPU_LIMIT) {
			warn(w,
			     "the generator is the limit: its thread %" PRIu64
			     " used %.0f %% of a processor; give it more "
			     "--threads, or a machine of its own",
			     i + 1, r->cpu[i] * 100);
			break;
		}
	}
	if (report_percentile(&r->tally->late, 0.99, &late) &&
	    late * 1e3 > LATE_US) {
		warn(w,
		     "the generator is late: one tap in 100 left %.1f ms or "
		     "more after it was due, which is part of every latency",
		     late);
	}
	if (r->tally->unsent > 0) {
		warn(w,
		     "%" PRIu64 " taps never left: no connection was up and "
		     "had room",
		     r->tally->unsent);
	}
}

/* Only who says which processes are measured can know which others there are. */
static void warn_of_others(const struct report *r, struct warnings *w)
{
	double others;

	if (r->options->watch_count > 0 &&
	    watch_others(r->options, r->watch, &others) &&
	    others > OTHERS_LIMIT) {
		warn(w,
		     "processes that are not watched used %.1f processors "
		     "meanwhile: the numbers are theirs, too",
		     others);
	}
}

static void warn_of_rate(const struct report *r, struct warnings *w)
{
	const struct options *o = r->options;
	double per_second = report_per_second(r, r->tally->in_window);
	/* What was due: less than the rate during a ramp. */
	double due =
		report_per_second(r, r->tally->late.total + r->tally->unsent);

	if (o->rate > 0 && per_second < due * KEPT_UP) {
		warn(w,
		     "of %.0f taps a second that were due %.0f were answered "
		     "in time: the rate is more than can be done",
		     due, per_second);
	}
	if (o->rate == 0 && !o->idle && r->front_max > 0 &&
	    o->in_flight > r->front_max) {
		warn(w,
		     "the gateway takes %" PRIu64 " requests in flight of a "
		     "connection: more are answered BUSY",
		     r->front_max);
	}
}

/* What was measured may not be what was meant. */
static void warn_of_statuses(const struct report *r, struct warnings *w)
{
	const struct tally *t = r->tally;
	uint64_t limited = t->statuses[RAIN__STATUS__RATE_LIMITED];

	if (t->in_window > 0 && t->useful == 0) {
		warn(w, "none of these answers is the word of Redis: nothing "
			"was given out, and nothing was sold out");
	}
	if (limited > 0) {
		warn(w,
		     "%" PRIu64
		     " taps were RATE_LIMITED: the gateway's [limit] "
		     "lets a user and a connection tap only so often; take "
		     "--front and more --users",
		     limited);
	}
}

static void warn_of_answers(const struct report *r, struct warnings *w)
{
	const struct tally *t = r->tally;

	if (t->wrong > 0) {
		warn(w,
		     "%" PRIu64 " answers are wrong: a packet where none may "
		     "be, none where one must be, or another than before",
		     t->wrong);
	}
	if (t->lost > 0) {
		warn(w,
		     "%" PRIu64 " connections closed, and %" PRIu64
		     " taps had no answer yet",
		     t->closed, t->lost);
	}
	if (t->unanswered > 0) {
		warn(w, "%" PRIu64 " taps had no answer at the end",
		     t->unanswered);
	}
	if (t->errors > 0) {
		warn(w, "%" PRIu64 " taps were answered with an Error: %s",
		     t->errors, r->refusal);
	}
	if (t->strange > 0) {
		warn(w, "%" PRIu64 " answers came to nothing that was asked",
		     t->strange);
	}
	if (r->unresolved > 0) {
		warn(w,
		     "%" PRIu64 " users may have a packet and were not told: "
		     "winners and money are a lower bound",
		     r->unresolved);
	}
}

void report_warnings(const struct report *r, struct warnings *w)
{
	w->count = 0;
	warn_of_generator(r, w);
	warn_of_others(r, w);
	warn_of_rate(r, w);
	warn_of_statuses(r, w);
	warn_of_answers(r, w);
	if (r->refused > 0) {
		warn(w, "%" PRIu64 " connections did not come up: %s",
		     r->refused, r->refusal);
	}
	if (r->options->idle && r->tally->closed > 0) {
		warn(w, "%" PRIu64 " connections were closed while held",
		     r->tally->closed);
	}
}
