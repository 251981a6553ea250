#include "console/books.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "console/output.h"

enum { REPORT_LINES = 50 };

static const char *const names[BOOK_COUNT] = { "redis", "kafka", "ledger" };

void books_init(struct books *b, const char *activity)
{
	*b = (struct books){ .activity = xstrndup(activity, strlen(activity)) };
	buf_init(&b->report);
}

void books_close(struct books *b)
{
	for (size_t i = 0; i < b->line_count; i++) {
		for (int k = 0; k < BOOK_COUNT; k++) {
			free(b->lines[i].in[k].packet);
			free(b->lines[i].in[k].user);
		}
		free(b->lines[i].answer);
	}
	free(b->lines);
	free(b->activity);
	free(b->alarm);
	free(b->first_violation);
	buf_close(&b->report);
}

void books_differ(struct books *b, const char *fmt, ...)
{
	char line[1024];
	va_list args;

	b->differences++;
	if (b->differences > REPORT_LINES) {
		return;
	}
	va_start(args, fmt);
	vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	buf_printf(&b->report, "%s\n", line);
}

static bool entry_is(const struct book_entry *e, struct bytes packet,
		     struct bytes user, int64_t amount_cents)
{
	return bytes_eq(bytes_str(e->packet), packet) &&
	       bytes_eq(bytes_str(e->user), user) &&
	       e->amount_cents == amount_cents;
}

void books_enter(struct books *b, enum book where, uint64_t seq,
		 struct bytes packet, struct bytes user, int64_t amount_cents)
{
	struct book_entry *e;

	if (seq == 0 || seq > BOOKS_SEQ_MAX) {
		books_differ(b, "%s: a claim with the impossible seq %" PRIu64,
			     names[where], seq);
		return;
	}
	if (seq > b->line_count) {
		size_t n = b->line_count * 2 > seq ? b->line_count * 2 : seq;

		b->lines = xrealloc(b->lines, n * sizeof *b->lines);
		memset(b->lines + b->line_count, 0,
		       (n - b->line_count) * sizeof *b->lines);
		b->line_count = n;
	}
	e = &b->lines[seq - 1].in[where];
	if (e->packet == NULL) {
		e->packet = xstrndup(packet.p, packet.n);
		e->user = xstrndup(user.p, user.n);
		e->amount_cents = amount_cents;
		b->sums[where].count++;
		b->sums[where].cents += amount_cents;
	} else if (entry_is(e, packet, user, amount_cents)) {
		b->published_again++;
	} else {
		books_differ(b,
			     "seq %" PRIu64
			     ": %s has it twice: packet %s to %s, and "
			     "packet %.*s to %.*s",
			     seq, names[where], e->packet, e->user,
			     BYTES_FMT(packet), BYTES_FMT(user));
	}
}

void books_enter_answer(struct books *b, uint64_t seq, struct bytes text)
{
	struct book_line *line;

	if (seq == 0 || seq > b->line_count) {
		return; /* an impossible seq, which is told already */
	}
	line = &b->lines[seq - 1];
	free(line->answer);
	line->answer = xstrndup(text.p, text.n);
}

/* The places that must agree: without its lists, Redis is not asked. */
static void compare_line(struct books *b, uint64_t seq)
{
	const struct book_line *line = &b->lines[seq - 1];
	int first = b->lists_gone ? BOOK_KAFKA : BOOK_REDIS;
	const struct book_entry *a = &line->in[first];

	for (int k = first; k < BOOK_COUNT; k++) {
		if (line->in[k].packet != NULL) {
			a = &line->in[k];
			break;
		}
	}
	if (a->packet == NULL) {
		return;
	}
	for (int k = first; k < BOOK_COUNT; k++) {
		const struct book_entry *e = &line->in[k];

		if (e->packet == NULL) {
			books_differ(b,
				     "seq %" PRIu64
				     ": packet %s of %s is missing in "
				     "%s",
				     seq, a->packet, a->user, names[k]);
		} else if (!entry_is(e, bytes_str(a->packet),
				     bytes_str(a->user), a->amount_cents)) {
			books_differ(
				b,
				"seq %" PRIu64 ": %s says packet %s, %s, %s; "
				"another says %s, %s, %s",
				seq, names[k], e->packet, e->user,
				amount_text(e->amount_cents).text, a->packet,
				a->user, amount_text(a->amount_cents).text);
		}
	}
}

struct seen {
	const char *key;
	UT_hash_handle hh;
};

/* No user and no packet twice, in any one place. */
static void find_twice(struct books *b, enum book where, bool users)
{
	struct seen *table = NULL;
	struct seen *all = xcalloc(b->line_count + 1, sizeof *all);

	for (size_t i = 0; i < b->line_count; i++) {
		const struct book_entry *e = &b->lines[i].in[where];
		struct seen *old = NULL;

		if (e->packet == NULL) {
			continue;
		}
		all[i].key = users ? e->user : e->packet;
		HASH_FIND_STR(table, all[i].key, old);
		if (old != NULL) {
			books_differ(b,
				     "%s: %s %s has two claims, one is seq %zu",
				     names[where], users ? "user" : "packet",
				     all[i].key, i + 1);
			continue;
		}
		HASH_ADD_KEYPTR(hh, table, all[i].key, strlen(all[i].key),
				&all[i]);
	}
	HASH_CLEAR(hh, table);
	free(all);
}

static void judge_money(struct books *b)
{
	const struct book_sum *claimed =
		&b->sums[b->lists_gone ? BOOK_KAFKA : BOOK_REDIS];
	int64_t credited = b->sums[BOOK_LEDGER].cents;

	/* While people grab, the two lists are not read at one moment. */
	if (b->steady && !b->lists_gone && b->state != RAIN__STATE__CANCELLED &&
	    b->funded_cents !=
		    b->left.cents + claimed->cents + b->unloaded_cents) {
		books_differ(b, "money: funded %s, but left %s + claimed %s",
			     amount_text(b->funded_cents).text,
			     amount_text(b->left.cents).text,
			     amount_text(claimed->cents).text);
		if (b->unloaded_cents != 0) {
			books_differ(b,
				     "money: of a tranche that is announced "
				     "%s are not loaded yet",
				     amount_text(b->unloaded_cents).text);
		}
	}
	if (claimed->cents != credited + b->held_cents) {
		books_differ(b, "money: claimed %s, but credited %s + held %s",
			     amount_text(claimed->cents).text,
			     amount_text(credited).text,
			     amount_text(b->held_cents).text);
	}
	if (b->funded_cents !=
	    credited + b->held_cents + b->refunded_cents + b->pool_cents) {
		books_differ(b,
			     "money: funded %s, but credited %s + held %s + "
			     "refunded %s + in the pool %s",
			     amount_text(b->funded_cents).text,
			     amount_text(credited).text,
			     amount_text(b->held_cents).text,
			     amount_text(b->refunded_cents).text,
			     amount_text(b->pool_cents).text);
	}
	if (b->refund_done && b->pool_cents != 0) {
		books_differ(b, "money: refunded, but the pool has %s",
			     amount_text(b->pool_cents).text);
	}
	if (b->postings_cents != 0) {
		books_differ(b, "money: the postings sum to %s, not 0.00",
			     amount_text(b->postings_cents).text);
	}
}

void books_judge(struct books *b)
{
	for (size_t i = 0; i < b->line_count; i++) {
		compare_line(b, i + 1);
	}
	for (int k = 0; k < BOOK_COUNT; k++) {
		find_twice(b, (enum book)k, true);
		find_twice(b, (enum book)k, false);
	}
	if (!b->lists_gone) {
		books_judge_redis(b);
	}
	judge_money(b);
	if (b->parked > 0) {
		books_differ(b, "ledger: %" PRIu64 " claim%s parked", b->parked,
			     b->parked == 1 ? " is" : "s are");
	}
	if (b->ledger_conflicts > 0) {
		books_differ(b, "ledger: %" PRIu64 " conflict%s for a person",
			     b->ledger_conflicts,
			     b->ledger_conflicts == 1 ? " waits" : "s wait");
	}
	if (b->alarm != NULL && b->alarm[0] != '\0') {
		books_differ(b, "ledger: %s", b->alarm);
	}
	if (b->violations > 0) {
		books_differ(b,
			     "ledger: its audit found %" PRId64
			     " violation%s of the books; the first: %s",
			     b->violations, b->violations == 1 ? "" : "s",
			     b->first_violation);
	}
	if (b->differences > REPORT_LINES) {
		buf_printf(&b->report, "… and %" PRIu64 " more\n",
			   b->differences - REPORT_LINES);
	}
}

bool books_at_rest(const struct books *b)
{
	bool ended = b->state == RAIN__STATE__CLOSED ||
		     b->state == RAIN__STATE__SETTLED ||
		     b->state == RAIN__STATE__CANCELLED;
	uint64_t claims =
		b->sums[b->lists_gone ? BOOK_KAFKA : BOOK_REDIS].count;

	return b->steady && b->sums[BOOK_KAFKA].count == claims &&
	       b->sums[BOOK_LEDGER].count == claims && b->parked == 0 &&
	       (b->funded_packets > 0 || claims == 0) &&
	       (!b->topped_up || b->funded_cents >= b->plan_cents) &&
	       (!ended || b->refund_done);
}
