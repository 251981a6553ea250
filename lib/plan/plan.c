#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "proto/proto_util.h"

/* The caller checked the length. */
static void copy(char *out, size_t size, struct bytes text)
{
	check(text.n < size);
	if (text.n > 0) {
		memcpy(out, text.p, text.n);
	}
	out[text.n] = '\0';
}

/* C0, DEL and, in UTF-8, C1. */
static bool has_control(struct bytes text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < 0x20 || text.p[i] == 0x7f ||
		    (text.p[i] == 0xc2 && i + 1 < text.n &&
		     text.p[i + 1] < 0xa0)) {
			return true;
		}
	}
	return false;
}

static bool is_currency(struct bytes text)
{
	bool upper = text.n == 3;

	for (size_t i = 0; i < text.n; i++) {
		upper = upper && text.p[i] >= 'A' && text.p[i] <= 'Z';
	}
	return upper;
}

static bool texts_ok(const Rain__Plan *m, char why[PLAN_WHY])
{
	struct bytes title = from_pb(m->title);

	if (!id_valid(from_pb(m->activity_id))) {
		(void)snprintf(why, PLAN_WHY, "activity_id must be %s",
			       ID_RULE);
	} else if (title.n > PLAN_TITLE_MAX) {
		(void)snprintf(why, PLAN_WHY,
			       "title has %zu bytes, %d are allowed", title.n,
			       PLAN_TITLE_MAX);
	} else if (!bytes_utf8(title) || has_control(title)) {
		(void)snprintf(why, PLAN_WHY,
			       "title must be UTF-8 without control "
			       "characters");
	} else if (!id_valid(from_pb(m->sponsor))) {
		(void)snprintf(why, PLAN_WHY, "sponsor must be %s", ID_RULE);
	} else if (!is_currency(from_pb(m->currency))) {
		(void)snprintf(why, PLAN_WHY,
			       "currency must be three letters A-Z (ISO 4217)");
	} else if (!bytes_eq(from_pb(m->ack), BYTES(PLAN_ACK))) {
		(void)snprintf(why, PLAN_WHY,
			       "ack must be %s: this version has no other",
			       PLAN_ACK);
	}
	return why[0] == '\0';
}

/* A time as the plan file has it. */
struct moment {
	char text[64];
};

static struct moment moment(int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct moment m = { "none" };
	struct tm tm;
	size_t n;

	if (ms == 0) {
		return m;
	}
	if (gmtime_r(&s, &tm) == NULL) {
		(void)snprintf(m.text, sizeof(m.text), "%" PRId64 " ms", ms);
		return m;
	}
	n = strftime(m.text, sizeof(m.text), "%Y-%m-%d %H:%M:%S", &tm);
	if (ms % 1000 != 0) {
		n += (size_t)snprintf(m.text + n, sizeof(m.text) - n, ".%03d",
				      (int)(ms % 1000));
	}
	(void)snprintf(m.text + n, sizeof(m.text) - n, " UTC");
	return m;
}

static bool times_ok(const struct plan *p, char why[PLAN_WHY])
{
	if (p->start_ms < 0 || p->start_ms > AMOUNT_MAX_CENTS ||
	    p->end_ms < 0 || p->end_ms > AMOUNT_MAX_CENTS) {
		(void)snprintf(why, PLAN_WHY,
			       "start and end are times since 1970, or none");
	} else if (p->end_ms != 0 && p->start_ms >= p->end_ms) {
		(void)snprintf(why, PLAN_WHY, "start %s must be before end %s",
			       moment(p->start_ms).text,
			       moment(p->end_ms).text);
	} else if (p->keep_days > PLAN_KEEP_DAYS_MAX) {
		(void)snprintf(why, PLAN_WHY,
			       "keep_days is %" PRIu32 ", 0 to %d are allowed",
			       p->keep_days, PLAN_KEEP_DAYS_MAX);
	} else if (p->release_ms < 0 || p->release_ms > PLAN_RELEASE_MAX_MS) {
		(void)snprintf(why, PLAN_WHY,
			       "release is %" PRId64
			       " ms, 0 to %d (a day) are allowed",
			       p->release_ms, PLAN_RELEASE_MAX_MS);
	} else if (p->end_ms != 0 && p->start_ms != 0 &&
		   p->release_ms > p->end_ms - p->start_ms) {
		(void)snprintf(why, PLAN_WHY,
			       "release is %" PRId64 " ms, and only %" PRId64
			       " ms lie between start and end",
			       p->release_ms, p->end_ms - p->start_ms);
	}
	return why[0] == '\0';
}

bool plan_message_is_live(const Rain__Plan *message)
{
	return bytes_eq(from_pb(message->mode), BYTES("live"));
}

static bool split_ok(const Rain__Plan *m, char why[PLAN_WHY])
{
	enum allocate_algorithm algorithm;

	if (!allocate_by_name(from_pb(m->algorithm), &algorithm)) {
		(void)snprintf(why, PLAN_WHY, "algorithm must be %s",
			       ALLOCATE_NAMES);
	} else if (m->mode.len != 0 && !plan_message_is_live(m) &&
		   !bytes_eq(from_pb(m->mode), BYTES("list"))) {
		(void)snprintf(why, PLAN_WHY, "mode must be list or live");
	} else if (m->n_tiers > ALLOCATE_TIERS_MAX) {
		(void)snprintf(why, PLAN_WHY, "%zu tiers: 1 to %d are allowed",
			       m->n_tiers, ALLOCATE_TIERS_MAX);
	}
	return why[0] == '\0';
}

static void read_split(const Rain__Plan *m, struct allocate_rule *out)
{
	bool known = allocate_by_name(from_pb(m->algorithm), &out->algorithm);

	check(known);
	out->live = plan_message_is_live(m);
	out->tier_count = m->n_tiers;
	for (size_t i = 0; i < m->n_tiers; i++) {
		out->tiers[i] = (struct allocate_tier){
			.amount_cents = m->tiers[i]->amount_cents,
			.count = m->tiers[i]->packets,
		};
	}
}

bool plan_read(const Rain__Plan *message, struct plan *out, char why[PLAN_WHY])
{
	why[0] = '\0';
	if (!texts_ok(message, why) || !split_ok(message, why)) {
		return false;
	}
	*out = (struct plan){
		.rule = { .total_cents = message->total_cents,
			  .count = message->packets,
			  .min_cents = message->min_cents,
			  .max_cents = message->max_cents },
		.start_ms = message->start_ms,
		.end_ms = message->end_ms,
		.keep_days = message->keep_days,
		.release_ms = message->release_ms,
	};
	read_split(message, &out->rule);
	copy(out->activity_id, sizeof(out->activity_id),
	     from_pb(message->activity_id));
	copy(out->title, sizeof(out->title), from_pb(message->title));
	copy(out->sponsor, sizeof(out->sponsor), from_pb(message->sponsor));
	copy(out->currency, sizeof(out->currency), from_pb(message->currency));
	return allocate_possible(&out->rule, why) && times_ok(out, why);
}

bool plan_is_future(const struct plan *p, int64_t now_ms, char why[PLAN_WHY])
{
	/* It is opened later than now. */
	int64_t begins = p->start_ms > now_ms ? p->start_ms : now_ms;

	why[0] = '\0';
	if (p->end_ms != 0 && p->end_ms <= now_ms) {
		(void)snprintf(why, PLAN_WHY,
			       "end %s is past: it must be after %s (now), or "
			       "none",
			       moment(p->end_ms).text, moment(now_ms).text);
	} else if (p->end_ms != 0 && p->release_ms > p->end_ms - begins) {
		(void)snprintf(why, PLAN_WHY,
			       "release is %" PRId64 " ms, and only %" PRId64
			       " ms lie between %s and end",
			       p->release_ms, p->end_ms - begins,
			       begins == now_ms ? "now" : "start");
	}
	return why[0] == '\0';
}

static void differ(char why[PLAN_WHY], const char *what, const char *there,
		   const char *here)
{
	(void)snprintf(why, PLAN_WHY, "its %s is %s there and %s here", what,
		       there, here);
}

static void differ_amount(char why[PLAN_WHY], const char *what, int64_t there,
			  int64_t here)
{
	char a[AMOUNT_TEXT_MAX], b[AMOUNT_TEXT_MAX];

	(void)amount_format(there, a);
	(void)amount_format(here, b);
	differ(why, what, a, b);
}

static void differ_number(char why[PLAN_WHY], const char *what, uint64_t there,
			  uint64_t here)
{
	char a[24], b[24];

	(void)snprintf(a, sizeof(a), "%" PRIu64, there);
	(void)snprintf(b, sizeof(b), "%" PRIu64, here);
	differ(why, what, a, b);
}

static void differ_time(char why[PLAN_WHY], const char *what, int64_t there,
			int64_t here)
{
	(void)snprintf(why, PLAN_WHY,
		       "its %s is %s there and %s here (+SECONDS counts from "
		       "each create: write the time to create it again)",
		       what, moment(there).text, moment(here).text);
}

static bool same_tiers(const struct allocate_rule *r,
		       const struct allocate_rule *q)
{
	char there[PLAN_TIERS_TEXT], here[PLAN_TIERS_TEXT];

	plan_tiers_text(r, there);
	plan_tiers_text(q, here);
	return strcmp(there, here) == 0;
}

void plan_difference(const struct plan *there, const struct plan *here,
		     char why[PLAN_WHY])
{
	const struct allocate_rule *r = &there->rule, *q = &here->rule;

	why[0] = '\0';
	if (strcmp(there->sponsor, here->sponsor) != 0) {
		differ(why, "sponsor", there->sponsor, here->sponsor);
	} else if (strcmp(there->currency, here->currency) != 0) {
		differ(why, "currency", there->currency, here->currency);
	} else if (r->total_cents != q->total_cents) {
		differ_amount(why, "total", r->total_cents, q->total_cents);
	} else if (r->count != q->count) {
		differ_number(why, "number of packets", r->count, q->count);
	} else if (r->min_cents != q->min_cents) {
		differ_amount(why, "min", r->min_cents, q->min_cents);
	} else if (r->max_cents != q->max_cents) {
		differ_amount(why, "max", r->max_cents, q->max_cents);
	} else if (r->algorithm != q->algorithm) {
		differ(why, "algorithm", allocate_name(r->algorithm),
		       allocate_name(q->algorithm));
	} else if (r->live != q->live) {
		differ(why, "mode", plan_mode(there), plan_mode(here));
	} else if (!same_tiers(r, q)) {
		(void)snprintf(why, PLAN_WHY, "its tiers differ");
	} else if (there->start_ms != here->start_ms) {
		differ_time(why, "start", there->start_ms, here->start_ms);
	} else if (there->end_ms != here->end_ms) {
		differ_time(why, "end", there->end_ms, here->end_ms);
	} else if (there->keep_days != here->keep_days) {
		differ_number(why, "keep_days", there->keep_days,
			      here->keep_days);
	} else if (there->release_ms != here->release_ms) {
		differ_number(why, "release in ms", (uint64_t)there->release_ms,
			      (uint64_t)here->release_ms);
	} else if (strcmp(there->title, here->title) != 0) {
		(void)snprintf(why, PLAN_WHY, "its title differs");
	}
}
