#include "console/quiz_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"

static void printf_like(2, 3) wrong(struct crowd *crowd, const char *fmt, ...)
{
	va_list args;

	if (crowd->wrong++ > 0) {
		return;
	}
	va_start(args, fmt);
	vsnprintf(crowd->why, sizeof crowd->why, fmt, args);
	va_end(args);
}

/* The number behind the dash of a user id, or UINT64_MAX. */
static uint64_t user_number(const struct crowd *crowd, const char *id)
{
	size_t n = strlen(crowd->options.prefix);
	uint64_t number;

	if (strncmp(id, crowd->options.prefix, n) != 0 || id[n] != '-' ||
	    !bytes_to_u64(bytes_str(id + n + 1), crowd->options.users - 1,
			  &number)) {
		return UINT64_MAX;
	}
	return number;
}

void quiz_compare(struct crowd *crowd, const struct books *books)
{
	uint64_t matched = 0;

	for (size_t i = 0; i < books->line_count; i++) {
		const struct book_entry *e = &books->lines[i].in[BOOK_LEDGER];
		const struct crowd_packet *p;
		uint64_t number;

		if (e->packet == NULL) {
			continue;
		}
		number = user_number(crowd, e->user);
		if (number == UINT64_MAX) {
			continue; /* somebody else tapped too */
		}
		p = &crowd->packets[number];
		if (strcmp(p->id, e->packet) != 0 ||
		    p->amount_cents != e->amount_cents) {
			wrong(crowd,
			      "%s was credited packet %s, %s, but was told %s, "
			      "%s",
			      e->user, e->packet,
			      amount_text(e->amount_cents).text,
			      p->id[0] != '\0' ? p->id : "none",
			      amount_text(p->amount_cents).text);
		} else {
			matched++;
		}
	}
	if (matched != crowd->winners) {
		wrong(crowd,
		      "%" PRIu64 " users were told a packet, %" PRIu64
		      " of them were credited",
		      crowd->winners, matched);
	}
}

static double rate(const struct crowd *c)
{
	return c->elapsed_us == 0
		       ? 0
		       : (double)c->taps * 1e6 / (double)c->elapsed_us;
}

static double latency_ms(const struct crowd *c, double fraction)
{
	return (double)histogram_percentile(&c->latency, fraction) / 1e3;
}

/* From the last win to the last credit; both clocks are this machine's. */
static int64_t credit_lag_ms(const struct books *b)
{
	return b->last_credit_ms > b->last_claim_ms
		       ? b->last_credit_ms - b->last_claim_ms
		       : 0;
}

static void report_text(const struct plan_file *plan, const struct crowd *c,
			const struct books *b)
{
	printf("\n%s is over.\n\n",
	       plan->values.title[0] != '\0' ? plan->values.title : plan->id);
	printf("  %-14s%9" PRIu64 "   at most %" PRIu64 " connected\n", "users",
	       c->options.users, c->options.at_once);
	printf("  %-14s%9" PRIu64 "   answered in %.1f s, %.0f a second\n",
	       "taps", c->taps, (double)c->elapsed_us / 1e6, rate(c));
	printf("  %-14s%9" PRIu64 "   %s\n", "winners", c->winners,
	       c->wrong == 0 ? "each credited exactly what it was told"
			     : "see below");
	printf("  %-14s%9" PRIu64 "\n", "sold out", c->sold_out);
	if (c->ended > 0) {
		printf("  %-14s%9" PRIu64 "\n", "too late", c->ended);
	}
	printf("  %-14s%9" PRIu64 "   told the same packet again\n", "repeats",
	       c->repeats);
	printf("  %-14s%9" PRIu64 "   busy or paused %" PRIu64
	       ", outcome pending %" PRIu64 ", reconnected %" PRIu64 "\n",
	       "asked again", c->waits + c->pending + c->reconnects, c->waits,
	       c->pending, c->reconnects);
	printf("  %-14s   p50 %.1f ms, p90 %.1f, p99 %.1f, p99.9 %.1f, "
	       "max %.1f\n",
	       "latency", latency_ms(c, 0.5), latency_ms(c, 0.9),
	       latency_ms(c, 0.99), latency_ms(c, 0.999), latency_ms(c, 1));
	printf("  %-14s%6" PRId64 " ms   after the last win\n", "last credit",
	       credit_lag_ms(b));
	printf("\n");
}

static json_t *report_json(const struct plan_file *plan, const struct crowd *c,
			   const struct books *b, bool proven)
{
	return json_pack(
		"{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:f,"
		"s:{s:f,s:f,s:f,s:f,s:f},s:I,s:o,s:b,s:b,s:I,s:s}",
		"activity", plan->id, "users", (json_int_t)c->options.users,
		"taps", (json_int_t)c->taps, "winners", (json_int_t)c->winners,
		"sold_out", (json_int_t)c->sold_out, "too_late",
		(json_int_t)c->ended, "repeats", (json_int_t)c->repeats,
		"waits", (json_int_t)c->waits, "pending",
		(json_int_t)c->pending, "reconnects", (json_int_t)c->reconnects,
		"seconds", (double)c->elapsed_us / 1e6, "taps_per_second",
		rate(c), "latency_ms", "p50", latency_ms(c, 0.5), "p90",
		latency_ms(c, 0.9), "p99", latency_ms(c, 0.99), "p99.9",
		latency_ms(c, 0.999), "max", latency_ms(c, 1), "last_credit_ms",
		(json_int_t)credit_lag_ms(b), "refunded",
		output_cents(b->refunded_cents), "books_exact",
		b->differences == 0, "proven", proven, "wrong_answers",
		(json_int_t)c->wrong, "first_wrong", c->why);
}

void quiz_report(const struct ctl *ctl, const struct plan_file *plan,
		 const struct crowd *crowd, const struct books *books,
		 const struct verify *verify)
{
	if (ctl->json) {
		output_print(ctl,
			     report_json(plan, crowd, books,
					 verify != NULL &&
						 verify->differences == 0));
		return;
	}
	report_text(plan, crowd, books);
	books_print(ctl, books);
	if (verify != NULL) {
		verify_print(verify);
	}
	if (crowd->wrong > 0) {
		printf("answers: %" PRIu64 " wrong; %s\n", crowd->wrong,
		       crowd->why);
	}
}
