/*
 * Rules of the states: revisions without a gap, legal transitions, and the
 * same events in Redis, in the topic and in the ledger.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "fault/check.h"

#define STATE(name)  (1u << RAIN__STATE__##name)
#define CHANGE(name) RAIN__ACTIVITY_EVENT__CHANGE_##name

static const struct transition {
	int kind;
	unsigned from; /* states */
	int to;        /* 0: stays */
} transitions[] = {
	{ CHANGE(CREATED), STATE(STATE_UNSPECIFIED), RAIN__STATE__CREATED },
	{ CHANGE(ENTROPY), STATE(CREATED), 0 },
	{ CHANGE(LOADED), STATE(CREATED), RAIN__STATE__LOADED },
	{ CHANGE(TOPPED_UP), STATE(OPEN) | STATE(STATE_PAUSED), 0 },
	{ CHANGE(OPENED), STATE(LOADED), RAIN__STATE__OPEN },
	{ CHANGE(PAUSED), STATE(OPEN), RAIN__STATE__STATE_PAUSED },
	{ CHANGE(RESUMED), STATE(STATE_PAUSED), RAIN__STATE__OPEN },
	{ CHANGE(RESUMED), STATE(HALTED), RAIN__STATE__STATE_PAUSED },
	{ CHANGE(HALTED), STATE(OPEN) | STATE(STATE_PAUSED) | STATE(CLOSED),
	  RAIN__STATE__HALTED },
	{ CHANGE(CLOSED), STATE(OPEN) | STATE(STATE_PAUSED) | STATE(HALTED),
	  RAIN__STATE__CLOSED },
	{ CHANGE(COUNTED), STATE(CLOSED), 0 },
	{ CHANGE(CANCELLED), STATE(CREATED) | STATE(LOADED),
	  RAIN__STATE__CANCELLED },
	{ CHANGE(SETTLED), STATE(CLOSED) | STATE(CANCELLED),
	  RAIN__STATE__SETTLED },
};

/* The state after an event, or -1 if it cannot happen in this one. */
static int state_after(int state, int kind)
{
	for (size_t i = 0; i < sizeof transitions / sizeof transitions[0];
	     i++) {
		const struct transition *t = &transitions[i];

		if (t->kind == kind && (t->from & 1u << state) != 0) {
			return t->to != 0 ? t->to : state;
		}
	}
	return -1;
}

static const char *kind_name(int kind)
{
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field(
			&rain__activity_event__descriptor, (unsigned)kind);

	return f != NULL ? f->name : "?";
}

bool check_state_within(const struct check_activity *a, int64_t from_ms,
			int64_t to_ms, unsigned states)
{
	const struct check_event *e = a->events[CHECK_REDIS];
	size_t n = a->event_count[CHECK_REDIS];
	int state = RAIN__STATE__STATE_UNSPECIFIED;
	int64_t since_ms = INT64_MIN;

	for (size_t i = 0; i <= n; i++) {
		int64_t until_ms = i < n ? e[i].at_ms : INT64_MAX;
		int next = i < n ? state_after(state, e[i].kind) : state;

		if ((states & 1u << state) != 0 && since_ms <= to_ms &&
		    until_ms >= from_ms) {
			return true;
		}
		if (next < 0) {
			return true; /* an illegal one is told elsewhere */
		}
		if (i < n) {
			state = next;
			since_ms = until_ms;
		}
	}
	return false;
}

static int by_revision(const void *left, const void *right)
{
	const struct check_event *a = left;
	const struct check_event *b = right;

	return (a->revision > b->revision) - (a->revision < b->revision);
}

static bool same(const struct check_event *a, const struct check_event *b)
{
	return a->kind == b->kind && a->at_ms == b->at_ms &&
	       strcmp(a->what, b->what) == 0;
}

/* Messages come more than once: sort, and keep each once. */
static void put_in_order(struct check *c, struct check_activity *a,
			 enum check_place place)
{
	struct check_event *e = a->events[place];
	size_t kept = 0;

	if (a->event_count[place] == 0) {
		return;
	}
	qsort(e, a->event_count[place], sizeof *e, by_revision);
	for (size_t i = 0; i < a->event_count[place]; i++) {
		if (kept == 0 || e[i].revision != e[kept - 1].revision) {
			e[kept++] = e[i];
		} else if (!same(&e[i], &e[kept - 1])) {
			check_violation(
				c,
				"%s: revision %" PRIu64 " is %s %s and %s %s",
				a->id, e[i].revision,
				kind_name(e[kept - 1].kind), e[kept - 1].what,
				kind_name(e[i].kind), e[i].what);
		}
	}
	a->event_count[place] = kept;
}

/* The step to LOADING, which only these are before, and the unlink add to the
 * revision without an event. */
static bool revision_follows(const struct check_event *before,
			     const struct check_event *e)
{
	uint64_t last = before != NULL ? before->revision : 0;

	return e->revision == last + 1 || (before != NULL &&
					   (before->kind == CHANGE(CREATED) ||
					    before->kind == CHANGE(ENTROPY)) &&
					   e->revision == last + 2);
}

static void judge_chain(struct check *c, const struct check_activity *a)
{
	const struct check_event *e = a->events[CHECK_REDIS];
	size_t n = a->event_count[CHECK_REDIS];
	int state = RAIN__STATE__STATE_UNSPECIFIED;
	uint64_t silent;

	for (size_t i = 0; i < n && state >= 0; i++) {
		int next = state_after(state, e[i].kind);

		if (!revision_follows(i > 0 ? &e[i - 1] : NULL, &e[i])) {
			check_violation(c,
					"%s: revision %" PRIu64
					" (%s) follows on %" PRIu64,
					a->id, e[i].revision,
					kind_name(e[i].kind),
					i > 0 ? e[i - 1].revision : 0);
		}
		if (next < 0) {
			check_violation(
				c,
				"%s: revision %" PRIu64
				": %s cannot follow on %s",
				a->id, e[i].revision, kind_name(e[i].kind),
				i > 0 ? kind_name(e[i - 1].kind) : "nothing");
		}
		state = next;
	}
	if (state < 0 || n == 0) {
		return;
	}
	silent = a->state == RAIN__STATE__LOADING || a->lists_gone ? 1 : 0;
	if (a->revision != e[n - 1].revision + silent ||
	    (a->state != state && !(a->state == RAIN__STATE__LOADING &&
				    state == RAIN__STATE__CREATED))) {
		check_violation(c,
				"%s: meta has state %d, revision %" PRIu64
				", and its events lead to state %d, revision "
				"%" PRIu64,
				a->id, a->state, a->revision, state,
				e[n - 1].revision);
	}
}

/* Each event of one place in the other. */
static void judge_missing(struct check *c, const struct check_activity *a,
			  enum check_place there, enum check_place here)
{
	static const char *const names[CHECK_PLACES] = { "Redis", "the topic",
							 "the ledger" };
	const struct check_event *e = a->events[there];

	for (size_t i = 0; i < a->event_count[there]; i++) {
		const struct check_event *f =
			a->event_count[here] == 0
				? NULL
				: bsearch(&e[i], a->events[here],
					  a->event_count[here], sizeof *e,
					  by_revision);

		if (f == NULL) {
			check_violation(c,
					"%s: revision %" PRIu64
					" (%s) is in %s and not in %s",
					a->id, e[i].revision,
					kind_name(e[i].kind), names[there],
					names[here]);
		} else if (there == CHECK_REDIS && !same(f, &e[i])) {
			check_violation(
				c,
				"%s: revision %" PRIu64 " is %s at %" PRId64
				" %s in Redis, and %s at %" PRId64 " %s in %s",
				a->id, e[i].revision, kind_name(e[i].kind),
				e[i].at_ms, e[i].what, kind_name(f->kind),
				f->at_ms, f->what, names[here]);
		}
	}
}

void check_judge_events(struct check *c, struct check_activity *a)
{
	enum check_place first = a->lists_gone ? CHECK_TOPIC : CHECK_REDIS;

	put_in_order(c, a, CHECK_TOPIC);
	put_in_order(c, a, CHECK_LEDGER);
	if (!a->lists_gone) {
		if (a->known && a->event_count[CHECK_REDIS] == 0) {
			check_violation(c, "%s: has no event in Redis", a->id);
		}
		judge_chain(c, a);
		judge_missing(c, a, CHECK_REDIS, CHECK_TOPIC);
		judge_missing(c, a, CHECK_TOPIC, CHECK_REDIS);
	}
	judge_missing(c, a, first, CHECK_LEDGER);
	judge_missing(c, a, CHECK_LEDGER, first);
}
