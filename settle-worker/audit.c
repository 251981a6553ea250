#include "audit.h"

#include <stdio.h>
#include <string.h>

void audit_compare(struct audit *a, const char *activity_id,
		   const char *subject, const char *what, const char *by,
		   int64_t expected, int64_t found)
{
	struct audit_finding *f;

	if (expected == found) {
		return;
	}
	a->violations++;
	if (a->count == AUDIT_FINDINGS_MAX) {
		return;
	}
	f = &a->findings[a->count++];
	*f = (struct audit_finding){
		.what = what, .by = by, .expected = expected, .found = found
	};
	(void)snprintf(f->activity_id, sizeof f->activity_id, "%s",
		       activity_id);
	(void)snprintf(f->subject, sizeof f->subject, "%s", subject);
}

/* A number of the books, what it must be, and by which rows. */
struct line {
	const char *what;
	int64_t found;
	int64_t expected;
	const char *by;
};

static void compare_all(struct audit *a, const char *activity_id,
			const struct line *lines, size_t n)
{
	char subject[AUDIT_SUBJECT_MAX];

	(void)snprintf(subject, sizeof subject, "activity %s", activity_id);
	for (size_t i = 0; i < n; i++) {
		audit_compare(a, activity_id, subject, lines[i].what,
			      lines[i].by, lines[i].expected, lines[i].found);
	}
}

static void money(struct audit *a, const char *activity_id,
		  const struct settle_books *b, const struct audit_sums *s)
{
	const struct line lines[] = {
		{ "funded_amount", b->funded_cents,
		  b->pool_cents + b->credited_cents + b->held_cents +
			  b->refunded_cents,
		  "remaining, credited, held and refunded" },
		{ "funded_amount", b->funded_cents, s->tranche_cents,
		  "its funded tranches" },
		{ "funded_amount", b->funded_cents, s->fund_posted,
		  "its fund postings" },
		{ "credited_amount", b->credited_cents, s->record_cents,
		  "its records" },
		{ "credited_amount", b->credited_cents, s->credit_posted,
		  "its credit postings" },
		{ "held_amount", b->held_cents, s->held_conflict_cents,
		  "its conflicts with a hold" },
		{ "held_amount", b->held_cents, s->hold_posted,
		  "its hold postings" },
		{ "held_amount", b->held_cents, s->held_balance,
		  "the balance of its held account" },
		{ "held_amount", b->held_cents, s->held_posted,
		  "the postings of its held account" },
		{ "refunded_amount", b->refunded_cents, s->refund_posted,
		  "its refund postings" },
		{ "remaining_amount", b->pool_cents, s->pool_balance,
		  "the balance of its pool account" },
		{ "remaining_amount", b->pool_cents, s->pool_posted,
		  "the postings of its pool account" },
		{ "sum of its postings", s->posted, 0, "both sides" },
	};

	compare_all(a, activity_id, lines, sizeof lines / sizeof lines[0]);
}

static void counts(struct audit *a, const char *activity_id,
		   const struct settle_books *b, int64_t conflicts,
		   const struct audit_sums *s)
{
	const struct line lines[] = {
		{ "funded_packet", b->funded_packets,
		  b->pool_packets + b->credited_packets + b->held_packets +
			  b->refunded_packets,
		  "remaining, credited, held and refunded" },
		{ "funded_packet", b->funded_packets, s->tranche_packets,
		  "its funded tranches" },
		{ "credited_packet", b->credited_packets, s->records,
		  "its records" },
		{ "held_packet", b->held_packets, s->held_conflicts,
		  "its conflicts with a hold" },
		{ "records without a posting of their amount",
		  s->unposted_records, 0, "every record has one" },
		{ "conflict_count", conflicts, s->conflicts, "its conflicts" },
		{ "parked_count", b->parked, s->parked, "its parked claims" },
	};

	compare_all(a, activity_id, lines, sizeof lines / sizeof lines[0]);
}

void audit_activity(struct audit *a, const char *activity_id,
		    const struct settle_books *b, int64_t conflicts,
		    const struct audit_sums *s)
{
	money(a, activity_id, b, s);
	counts(a, activity_id, b, conflicts, s);
}

void audit_say(const struct audit_finding *f, struct buf *out)
{
	buf_printf(out, "%s: %s: expected %lld (%s), found %lld", f->subject,
		   f->what, (long long)f->expected, f->by, (long long)f->found);
}

/* In an activity that goes on the two numbers move, their difference stays. */
bool audit_known(const struct audit *earlier, const struct audit_finding *f)
{
	for (size_t i = 0; i < earlier->count; i++) {
		const struct audit_finding *e = &earlier->findings[i];

		if (strcmp(e->subject, f->subject) == 0 &&
		    strcmp(e->what, f->what) == 0 &&
		    strcmp(e->by, f->by) == 0 &&
		    e->found - e->expected == f->found - f->expected) {
			return true;
		}
	}
	return false;
}
