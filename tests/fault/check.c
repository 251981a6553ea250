#include "fault/check.h"
#include "proto/proto_util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPORT_LINES = 500 };

void check_init(struct check *c)
{
	*c = (struct check){ 0 };
	buf_init(&c->report);
}

static void activity_free(struct check_activity *a)
{
	struct check_person *p;
	struct check_person *next;
	struct check_told *t;
	struct check_told *after;

	HASH_ITER(hh, a->told, t, after)
	{
		HASH_DEL(a->told, t);
		free(t);
	}
	HASH_ITER(hh, a->persons, p, next)
	{
		HASH_DEL(a->persons, p);
		free(p);
	}
	for (int i = 0; i < CHECK_PLACES; i++) {
		free(a->events[i]);
	}
	free(a->plan);
	free(a->left);
	free(a->made_ms);
	books_close(&a->books);
	free(a);
}

void check_close(struct check *c)
{
	struct check_activity *a;
	struct check_activity *next;

	check_judge_asks(c); /* frees them */
	HASH_ITER(hh, c->activities, a, next)
	{
		HASH_DEL(c->activities, a);
		activity_free(a);
	}
	free(c->accounts);
	buf_close(&c->report);
}

void check_violation(struct check *c, const char *fmt, ...)
{
	char line[1024];
	va_list args;

	if (++c->violations > REPORT_LINES) {
		return;
	}
	va_start(args, fmt);
	vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	buf_printf(&c->report, "%s\n", line);
}

struct check_activity *check_activity(struct check *c, const char *id)
{
	struct check_activity *a;

	HASH_FIND_STR(c->activities, id, a);
	if (a == NULL) {
		a = xcalloc(1, sizeof *a);
		snprintf(a->id, sizeof a->id, "%s", id);
		books_init(&a->books, id);
		a->leftover_cents = -1;
		a->row.leftover_cents = -1;
		HASH_ADD_STR(c->activities, id, a);
	}
	return a;
}

struct check_person *check_person(struct check_activity *a, struct bytes user)
{
	char id[ID_MAX + 2];
	struct check_person *p;

	snprintf(id, sizeof id, "%.*s", BYTES_FMT(user));
	HASH_FIND_STR(a->persons, id, p);
	if (p == NULL) {
		p = xcalloc(1, sizeof *p);
		snprintf(p->user, sizeof p->user, "%s", id);
		HASH_ADD_STR(a->persons, user, p);
	}
	return p;
}

static void note_made(struct check_activity *a, uint64_t seq, int64_t at_ms)
{
	uint64_t room = a->made_count > 0 ? a->made_count : 1024;

	while (room < seq) {
		room *= 2;
	}
	if (room > a->made_count) {
		a->made_ms = xrealloc(a->made_ms, room * sizeof *a->made_ms);
		memset(a->made_ms + a->made_count, 0,
		       (room - a->made_count) * sizeof *a->made_ms);
		a->made_count = room;
	}
	a->made_ms[seq - 1] = at_ms;
}

void check_enter_claim(struct check_activity *a, enum check_place place,
		       const struct check_claim *claim, struct bytes user)
{
	static const enum book book[CHECK_PLACES] = { BOOK_REDIS, BOOK_KAFKA,
						      BOOK_LEDGER };

	/* That no user and no packet is there twice is for the books. */
	books_enter(&a->books, book[place], claim->seq,
		    bytes_str(claim->packet), user, claim->amount_cents);
	check_person(a, user)->in[place] = *claim;
	if (place == CHECK_LEDGER) {
		return;
	}
	if (claim->at_ms > a->last_claim_ms) {
		a->last_claim_ms = claim->at_ms;
	}
	if (claim->seq > 0 && claim->seq <= ALLOCATE_COUNT_MAX) {
		note_made(a, claim->seq, claim->at_ms);
	}
}

void check_enter_event(struct check_activity *a, enum check_place place,
		       const struct check_event *event)
{
	size_t n = a->event_count[place];

	a->events[place] = xrealloc(a->events[place], (n + 1) * sizeof *event);
	a->events[place][n] = *event;
	a->event_count[place]++;
}

void check_enter_message(struct check_activity *a, enum check_place place,
			 const Rain__ActivityEvent *m)
{
	struct check_event e = { .revision = m->revision,
				 .kind = (int)m->change_case,
				 .at_ms = m->at_ms };
	const Rain__TrancheLoaded *t = m->topped_up;

	if (m->change_case == RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP) {
		check_event_tranche(&e, t->tranche, t->packets, t->total_cents,
				    from_pb(t->commitment));
	}
	check_enter_event(a, place, &e);
}

void check_enter_account(struct check *c, const struct check_account *account)
{
	c->accounts =
		xrealloc(c->accounts, (c->account_count + 1) * sizeof *account);
	c->accounts[c->account_count++] = *account;
}

void check_judge(struct check *c)
{
	struct check_activity *a;
	struct check_activity *next;

	check_judge_asks(c);
	HASH_ITER(hh, c->activities, a, next)
	{
		if (a->wanted) {
			check_judge_persons(c, a);
			check_judge_events(c, a);
			check_judge_plan(c, a);
			check_judge_live(c, a);
			check_judge_money(c, a);
		} else if (!a->known) {
			check_judge_persons(c, a); /* nobody has a packet */
		}
	}
	check_judge_accounts(c);
	if (c->violations > REPORT_LINES) {
		buf_printf(&c->report, "and %llu more\n",
			   (unsigned long long)(c->violations - REPORT_LINES));
	}
}
