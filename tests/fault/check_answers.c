/*
 * Rules of each answer, taken in the order in which the apps wrote them down.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

#include "fault/check.h"

struct check_ask {
	uint64_t seq;
	struct check_activity *activity;
	struct check_person *person;
	uint64_t line;
	uint64_t mono_ms;
	int64_t wall_ms;
	int64_t not_after_ms;
	uint64_t late_since_ms; /* 0: not late; ~0: told already */
	bool query;
	struct check_ask *prev; /* in the connection's */
	struct check_ask *next;
};

#define STATE(name) (1u << RAIN__STATE__##name)

/* What a status says, and when it may be said. */
struct meaning {
	const char *status;
	bool packet;      /* comes with one, and with nothing else */
	bool may_win;     /* the grab may be executed, or may have been */
	bool for_holders; /* may be said to a user who has a packet */
	unsigned states;  /* in which it is the truth; 0: in all */
};

static const struct meaning meanings[] = {
	{ "WON", true, true, true, 0 },
	{ "ALREADY_GRABBED", true, true, true, 0 },
	{ "SOLD_OUT", false, false, false, STATE(OPEN) },
	{ "NOT_STARTED", false, false, false,
	  STATE(CREATED) | STATE(LOADING) | STATE(LOADED) },
	{ "NOT_YET", false, false, false, STATE(OPEN) },
	{ "PAUSED", false, false, false, STATE(STATE_PAUSED) | STATE(HALTED) },
	{ "ENDED", false, false, false,
	  STATE(CLOSED) | STATE(SETTLED) | STATE(CANCELLED) },
	{ "NO_SUCH_ACTIVITY", false, false, false, STATE(STATE_UNSPECIFIED) },
	{ "RATE_LIMITED", false, false, true, 0 },
	{ "BUSY", false, false, true, 0 },
	{ "PENDING", false, true, true, 0 },
	{ "UNAVAILABLE", false, false, true, 0 }, /* an Error, not executed */
};

static const struct meaning *meaning_of(const char *status)
{
	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
		if (strcmp(meanings[i].status, status) == 0) {
			return &meanings[i];
		}
	}
	return NULL;
}

/* Where an answer stands, for a sentence. */
struct place {
	char text[2 * ID_MAX + 160];
};

static struct place place_of(const struct check_ask *ask,
			     const struct check_line *line)
{
	struct place p;

	snprintf(p.text, sizeof p.text,
		 "%s: %s: %s on connection %" PRIu64 " seq %" PRIu64
		 " (asked %" PRId64 ", answered %" PRId64 ")",
		 ask->activity->id, ask->person->user,
		 ask->query ? "query" : "grab", line->connection, ask->seq,
		 ask->wall_ms, line->wall_ms);
	return p;
}

/* A packet was told: the same one to the same user for ever. */
static void judge_packet(struct check *c, const struct check_ask *ask,
			 const struct check_line *line)
{
	struct check_person *p = ask->person;
	struct check_activity *a = ask->activity;
	struct check_told *t;

	if (p->told.packet[0] == '\0') {
		snprintf(p->told.packet, sizeof p->told.packet, "%s",
			 line->packet);
		p->told.amount_cents = line->amount_cents;
		p->told.at_ms = line->at_ms;
		p->told_line = c->lines;
		c->wins++;
	} else if (strcmp(p->told.packet, line->packet) != 0 ||
		   p->told.amount_cents != line->amount_cents ||
		   p->told.at_ms != line->at_ms) {
		check_violation(c,
				"%s tells packet %s, %" PRId64
				" cents, won at %" PRId64
				"; it was packet %s, %" PRId64
				" cents, won at %" PRId64,
				place_of(ask, line).text, line->packet,
				line->amount_cents, line->at_ms, p->told.packet,
				p->told.amount_cents, p->told.at_ms);
	}
	HASH_FIND_STR(a->told, line->packet, t);
	if (t == NULL) {
		t = xcalloc(1, sizeof *t);
		snprintf(t->packet, sizeof t->packet, "%s", line->packet);
		t->person = p;
		HASH_ADD_STR(a->told, packet, t);
	} else if (t->person != p) {
		check_violation(c, "%s tells packet %s, which %s was told too",
				place_of(ask, line).text, line->packet,
				t->person->user);
	}
}

/* Whoever had a packet when asking is told it. BUSY to a query says that a
 * grab was not executed, and there was one. */
static void judge_holder(struct check *c, const struct check_ask *ask,
			 const struct check_line *line, const struct meaning *m)
{
	const struct check_person *p = ask->person;
	const struct check_claim *claim = &p->in[CHECK_REDIS];
	bool told = p->told.packet[0] != '\0' && p->told_line < ask->line;
	bool made = claim->packet[0] != '\0' && claim->at_ms < ask->wall_ms;

	if ((told || made) &&
	    (!m->for_holders ||
	     (ask->query && strcmp(m->status, "BUSY") == 0))) {
		check_violation(c,
				"%s tells %s, but the user has packet %s, %s "
				"at %" PRId64,
				place_of(ask, line).text, m->status,
				told ? p->told.packet : claim->packet,
				told ? "told before; won" : "claimed",
				told ? p->told.at_ms : claim->at_ms);
	}
}

static void judge_sold_out(struct check *c, const struct check_ask *ask,
			   const struct check_line *line)
{
	char why[CHECK_WHAT_MAX];

	if (!check_sold_out(ask->activity, ask->wall_ms, line->wall_ms, why)) {
		check_violation(c, "%s tells SOLD_OUT, but %s",
				place_of(ask, line).text, why);
	}
}

static void judge_state(struct check *c, const struct check_ask *ask,
			const struct check_line *line, const struct meaning *m)
{
	const struct check_activity *a = ask->activity;
	int64_t from_ms = ask->wall_ms - CHECK_STATE_MS;
	int64_t to_ms = line->wall_ms + CHECK_STATE_MS;
	unsigned states = m->states;

	if (states == 0 || (a->known && a->event_count[CHECK_REDIS] == 0)) {
		return; /* its events are gone: it may have been anything */
	}
	if (strcmp(m->status, "NOT_STARTED") == 0 && a->start_ms > from_ms) {
		states |= STATE(OPEN) | STATE(STATE_PAUSED);
	}
	if (strcmp(m->status, "ENDED") == 0 && a->end_ms > 0 &&
	    to_ms >= a->end_ms) {
		states |= STATE(OPEN);
	}
	if (!check_state_within(a, from_ms, to_ms, states)) {
		check_violation(c,
				"%s tells %s, which it was not at any moment "
				"in between",
				place_of(ask, line).text, m->status);
	}
}

/* Whether this grab may have made the claim of its user. */
static void explain(const struct check_ask *ask, bool may_win,
		    int64_t answered_ms)
{
	const struct check_claim *claim = &ask->person->in[CHECK_REDIS];

	if (claim->packet[0] == '\0') {
		claim = &ask->person->in[CHECK_TOPIC];
	}
	if (!ask->query && may_win &&
	    claim->at_ms >= ask->wall_ms - CHECK_CLOCK_MS &&
	    (answered_ms == 0 ||
	     claim->at_ms <= answered_ms + CHECK_CLOCK_MS) &&
	    (ask->not_after_ms == 0 || claim->at_ms <= ask->not_after_ms)) {
		ask->person->explained = true;
	}
}

static void judge_answer(struct check *c, const struct check_ask *ask,
			 const struct check_line *line)
{
	const struct meaning *m = meaning_of(line->status);
	bool pending;

	if (m == NULL) {
		check_violation(c, "%s tells %s, which is no answer to it",
				place_of(ask, line).text, line->status);
		return;
	}
	if (m->packet != (line->packet != NULL)) {
		check_violation(c, "%s tells %s %s a packet",
				place_of(ask, line).text, m->status,
				m->packet ? "without" : "with");
		return;
	}
	if (m->packet && line->amount_cents <= 0) {
		check_violation(c, "%s tells packet %s without an amount",
				place_of(ask, line).text, line->packet);
	}
	if (m->packet) {
		judge_packet(c, ask, line);
	} else {
		judge_holder(c, ask, line, m);
	}
	if (strcmp(m->status, "SOLD_OUT") == 0) {
		judge_sold_out(c, ask, line);
	}
	judge_state(c, ask, line, m);
	/* What is PENDING may still be executed. */
	pending = strcmp(m->status, "PENDING") == 0;
	explain(ask, m->may_win, pending ? 0 : line->wall_ms);
}

static struct check_connection *connection_of(struct check *c, uint64_t number)
{
	struct check_connection *k;

	HASH_FIND(hh, c->connections, &number, sizeof number, k);
	if (k == NULL) {
		k = xcalloc(1, sizeof *k);
		k->number = number;
		HASH_ADD(hh, c->connections, number, sizeof number, k);
	}
	return k;
}

static void forget(struct check_connection *k, struct check_ask *ask)
{
	DL_DELETE(k->asks, ask);
	free(ask);
}

/* The connection lives, for it just answered something that was asked long
 * after the time of its oldest request: that one should have its answer. */
static void judge_oldest(struct check *c, struct check_connection *k,
			 uint64_t asked_ms, uint64_t now_ms)
{
	struct check_ask *old = k->asks;
	uint64_t due_ms;

	if (old == NULL || old->late_since_ms == UINT64_MAX) {
		return;
	}
	due_ms = old->mono_ms + CHECK_LATE_MS + CHECK_NOT_AFTER_MS;
	if (old->not_after_ms > old->wall_ms + CHECK_NOT_AFTER_MS) {
		due_ms += (uint64_t)(old->not_after_ms - old->wall_ms);
	}
	if (asked_ms <= due_ms) {
		return;
	}
	if (old->late_since_ms == 0) {
		old->late_since_ms = now_ms;
	} else if (now_ms - old->late_since_ms > CHECK_LATE_AGAIN_MS) {
		old->late_since_ms = UINT64_MAX;
		check_violation(c,
				"%s: %s: %s on connection %" PRIu64
				" seq %" PRIu64 " (asked %" PRId64
				") has no answer, but later ones have",
				old->activity->id, old->person->user,
				old->query ? "query" : "grab", k->number,
				old->seq, old->wall_ms);
		/* It no longer hides those behind it. */
		DL_DELETE(k->asks, old);
		DL_APPEND(k->asks, old);
	}
}

static void take_ask(struct check *c, struct check_connection *k,
		     const struct check_line *line)
{
	struct check_ask *ask = xcalloc(1, sizeof *ask);

	ask->seq = line->seq;
	ask->activity = check_activity(c, line->activity);
	ask->person = check_person(ask->activity, bytes_str(line->user));
	ask->person->asked = true;
	ask->line = c->lines;
	ask->mono_ms = line->mono_ms;
	ask->wall_ms = line->wall_ms;
	ask->not_after_ms = line->not_after_ms;
	ask->query = line->query;
	c->taps += line->query ? 0 : 1;
	DL_APPEND(k->asks, ask);
}

static void take_answer(struct check *c, struct check_connection *k,
			const struct check_line *line)
{
	struct check_ask *ask;
	uint64_t asked_ms;

	DL_FOREACH(k->asks, ask)
	{
		if (ask->seq == line->seq) {
			break;
		}
	}
	if (ask == NULL || ask->query != line->query) {
		check_violation(c,
				"connection %" PRIu64 " seq %" PRIu64
				" (answered %" PRId64
				"): %s answers nothing, or for the second time",
				line->connection, line->seq, line->wall_ms,
				line->status);
		return;
	}
	if (ask->activity->wanted || !ask->activity->known) {
		judge_answer(c, ask, line);
	}
	asked_ms = ask->mono_ms;
	forget(k, ask);
	judge_oldest(c, k, asked_ms, line->mono_ms);
}

static void take_closed(struct check_connection *k,
			const struct check_line *line)
{
	struct check_ask *ask;

	DL_FOREACH(k->asks, ask)
	{
		if (ask->seq == line->seq) {
			explain(ask, true, 0);
			forget(k, ask);
			return;
		}
	}
}

void check_log_line(struct check *c, const struct check_line *line)
{
	struct check_connection *k = connection_of(c, line->connection);

	c->lines++;
	switch (line->kind) {
	case CHECK_ASK:
		take_ask(c, k, line);
		break;
	case CHECK_ANSWER:
		take_answer(c, k, line);
		break;
	case CHECK_CLOSED:
		take_closed(k, line);
		break;
	case CHECK_END:
		if (k->asks == NULL) {
			HASH_DEL(c->connections, k);
			free(k);
		}
		break;
	}
}

void check_judge_asks(struct check *c)
{
	struct check_connection *k;
	struct check_connection *next;

	HASH_ITER(hh, c->connections, k, next)
	{
		while (k->asks != NULL) {
			explain(k->asks, true, 0);
			c->unanswered++;
			forget(k, k->asks);
		}
		HASH_DEL(c->connections, k);
		free(k);
	}
}
