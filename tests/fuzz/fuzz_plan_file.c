/* An activity's plan in a file: what is read of it, written in full, is read
 * as the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/amount.h"
#include "base/err.h"
#include "console/plan_file.h"
#include "fuzz/fuzz.h"
#include "proto/proto_util.h"

enum { PACKETS_MAX = 10000000, KEEP_DAYS_MAX = 3650 };

static const int64_t now_ms = INT64_C(1764430000123);

static void check_plan(const struct plan_file *f)
{
	const Rain__Plan *p = &f->plan;

	check(p->total_cents >= 0 && p->total_cents <= AMOUNT_MAX_CENTS);
	check(p->min_cents >= 0 && p->min_cents <= AMOUNT_MAX_CENTS);
	check(p->max_cents >= 0 && p->max_cents <= AMOUNT_MAX_CENTS);
	check(p->packets >= 1 && p->packets <= PACKETS_MAX);
	check(p->keep_days <= KEEP_DAYS_MAX);
	check(p->start_ms >= 0 && p->end_ms >= 0);
	check(p->sponsor.len > 0);
	check(p->activity_id.len < sizeof f->id);
	check(bytes_utf8(from_pb(p->title)));
	check(bytes_utf8(from_pb(p->sponsor)));
}

/* Without a space: a text may begin with what is a comment behind one. */
static void put_text(struct buf *out, const char *key, ProtobufCBinaryData v)
{
	buf_printf(out, "%s=%.*s\n", key, BYTES_FMT(from_pb(v)));
}

static void put_amount(struct buf *out, const char *key, int64_t cents)
{
	char text[AMOUNT_TEXT_MAX];

	(void)amount_format(cents, text);
	buf_printf(out, "%s = %s\n", key, text);
}

/* In UTC, to the second; +SECONDS of an instant that has milliseconds is the
 * exception, which keeps those of now. */
static void put_time(struct buf *out, const char *key, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	if (ms == 0) {
		return;
	}
	if (ms % 1000 != 0) {
		check(ms >= now_ms && (ms - now_ms) % 1000 == 0);
		buf_printf(out, "%s = +%" PRId64 "\n", key,
			   (ms - now_ms) / 1000);
		return;
	}
	check(gmtime_r(&seconds, &tm) != NULL);
	buf_printf(out, "%s = %04d-%02d-%02d %02d:%02d:%02dZ\n", key,
		   tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
		   tm.tm_min, tm.tm_sec);
}

static void put_tiers(struct buf *out, const Rain__Plan *p)
{
	for (size_t i = 0; i < p->n_tiers; i++) {
		char text[AMOUNT_TEXT_MAX];

		(void)amount_format(p->tiers[i]->amount_cents, text);
		buf_printf(out, "%s%s x %" PRIu64,
			   i > 0 ? ", " : "tiers = ", text,
			   p->tiers[i]->packets);
	}
	buf_printf(out, "\n");
}

static void write_plan(const Rain__Plan *p, struct buf *out)
{
	buf_printf(out, "[activity]\n");
	put_text(out, "title", p->title);
	put_text(out, "sponsor", p->sponsor);
	put_text(out, "currency", p->currency);
	put_text(out, "algorithm", p->algorithm);
	put_text(out, "ack", p->ack);
	put_text(out, "mode", p->mode);
	put_tiers(out, p);
	put_amount(out, "total", p->total_cents);
	put_amount(out, "min", p->min_cents);
	put_amount(out, "max", p->max_cents);
	put_time(out, "start", p->start_ms);
	put_time(out, "end", p->end_ms);
	buf_printf(out, "packets = %" PRIu64 "\n", p->packets);
	buf_printf(out, "keep_days = %" PRIu32 "\n", p->keep_days);
	buf_printf(out, "release = %" PRId64 "ms\n", p->release_ms);
}

static void same_text(ProtobufCBinaryData a, ProtobufCBinaryData b)
{
	check(bytes_eq(from_pb(a), from_pb(b)));
}

static void same(const Rain__Plan *a, const Rain__Plan *b)
{
	same_text(a->activity_id, b->activity_id);
	same_text(a->title, b->title);
	same_text(a->sponsor, b->sponsor);
	same_text(a->currency, b->currency);
	same_text(a->algorithm, b->algorithm);
	same_text(a->ack, b->ack);
	same_text(a->mode, b->mode);
	check(a->total_cents == b->total_cents);
	check(a->min_cents == b->min_cents && a->max_cents == b->max_cents);
	check(a->start_ms == b->start_ms && a->end_ms == b->end_ms);
	check(a->packets == b->packets && a->keep_days == b->keep_days);
	check(a->release_ms == b->release_ms && a->n_tiers == b->n_tiers);
	for (size_t i = 0; i < a->n_tiers; i++) {
		check(a->tiers[i]->amount_cents == b->tiers[i]->amount_cents);
		check(a->tiers[i]->packets == b->tiers[i]->packets);
	}
}

static void read_again(const struct plan_file *f)
{
	struct plan_file again;
	struct buf text;
	struct buf why;

	buf_init(&text);
	buf_init(&why);
	write_plan(&f->plan, &text);
	check(plan_file_read(fuzz_file(buf_live(&text)), f->id, now_ms, &again,
			     &why) == 0);
	same(&f->plan, &again.plan);
	plan_file_close(&again);
	buf_close(&text);
	buf_close(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_file f;
	struct buf why;
	int rv;

	buf_init(&why);
	rv = plan_file_read(fuzz_file(bytes_make(data, size)), NULL, now_ms, &f,
			    &why);
	check(rv == 0 || rv == ERR_CONFIG);
	check((rv == 0) == (buf_len(&why) == 0));
	check(rv == 0 || fuzz_is_lines(buf_live(&why)));
	if (rv == 0) {
		check_plan(&f);
		read_again(&f);
	}
	plan_file_close(&f);
	buf_close(&why);
	return 0;
}
