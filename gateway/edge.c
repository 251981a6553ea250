#include "gateway/edge.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <uthash.h>
#include <utlist.h>

#include "base/check.h"
#include "base/id.h"
#include "gateway/edge_rule.h"
#include "gateway/told.h"
#include "proto/proto_util.h"

enum {
	TEXT_MAX = 512, /* as verdict_reply() cuts it */
};

/* An activity and the last word about it. */
struct place {
	UT_hash_handle hh;
	struct place *next; /* in edge->order, by the last news */
	struct place *prev;
	uint64_t word; /* 0: none, or it moved since */
	uint64_t revision;
	uint64_t packets;
	uint64_t asked_ms;
	uint64_t came_ms; /* the first answer of this revision and number */
	uint64_t until_ms;
	uint64_t moves;  /* edge->seen when the word was last confirmed */
	uint32_t number; /* never used again for another activity */
	uint32_t retry_ms;
	Rain__Status status;
	bool asking;
	bool told; /* somebody was told a word */
	uint8_t id_len;
	uint16_t text_len;
	char id[ID_MAX];
	uint8_t text[TEXT_MAX];
};

struct edge {
	uint64_t fresh_ms;
	struct place *places;
	struct place *order;
	struct place *last; /* the one looked up last: mostly there is one */
	size_t places_max;
	uint64_t words;
	uint32_t numbers;
	uint64_t seen; /* of edge_moves() */
	struct told_table *users;
};

static _Atomic uint64_t moves_of_all;

uint64_t edge_moves(void)
{
	return atomic_load(&moves_of_all);
}

struct edge *edge_new(const struct gateway_options *o)
{
	struct edge *e = xcalloc(1, sizeof(*e));

	e->fresh_ms = (uint64_t)o->edge_fresh_ms;
	e->places_max = (size_t)o->edge_activities_max;
	e->users = told_new((size_t)(o->edge_users_max / o->loops));
	return e;
}

/* ---- Activities ---- */

static struct place *find_place(struct edge *e, struct bytes activity)
{
	struct place *p = e->last;

	if (p == NULL || !bytes_eq(activity, bytes_make(p->id, p->id_len))) {
		HASH_FIND(hh, e->places, activity.p, (unsigned)activity.n, p);
		e->last = p != NULL ? p : e->last;
	}
	return p;
}

static void forget_place(struct edge *e, struct place *p)
{
	HASH_DELETE(hh, e->places, p);
	DL_DELETE(e->order, p);
	if (e->last == p) {
		e->last = NULL;
	}
	free(p);
}

static struct place *make_place(struct edge *e, struct bytes activity)
{
	struct place *p = xcalloc(1, sizeof(*p));

	check(activity.n > 0 && activity.n <= ID_MAX);
	if (HASH_COUNT(e->places) >= e->places_max) {
		forget_place(e, e->order);
	}
	p->number = ++e->numbers;
	p->id_len = (uint8_t)activity.n;
	memcpy(p->id, activity.p, activity.n);
	HASH_ADD(hh, e->places, id, p->id_len, p);
	DL_APPEND(e->order, p);
	return p;
}

/* The last word is no use while another loop knows that something has moved
 * since. Asking again brings mostly the same word, with those who know it. */
static void look_for_moves(struct edge *e)
{
	e->seen = edge_moves();
}

/* p has moved: tell the other loops; ours has just learnt it. */
static void moved(struct edge *e, struct place *p, const struct edge_news *n)
{
	uint64_t before = atomic_fetch_add(&moves_of_all, 1);

	p->revision = n->response->revision;
	p->packets = n->response->packets;
	p->word = 0;
	p->asking = false;
	p->came_ms = n->now_ms;
	if (*n->moves == before) {
		*n->moves = before + 1;
	}
	if (e->seen == before) {
		struct place *other;

		DL_FOREACH(e->order, other)
		{
			other->moves += other->moves == before;
		}
	}
	e->seen = before + 1;
}

/* -1, 0, 1: the answer is older than what is known, of the same, newer. */
static int compare(const struct place *p, const struct edge_news *n)
{
	const Rain__GrabResponse *r = n->response;

	if (r->revision != p->revision) {
		/* Asked after we had the higher one: so it is gone, as in an
		 * activity whose keys were removed. */
		return r->revision > p->revision || n->asked_ms > p->came_ms
			       ? 1
			       : -1;
	}
	if (r->packets != p->packets) {
		return r->packets > p->packets || n->asked_ms > p->came_ms ? 1
									   : -1;
	}
	return 0;
}

static void set_word(struct edge *e, struct place *p, const struct edge_news *n,
		     uint64_t until_ms)
{
	if (p->word == 0 || p->status != n->told->status) {
		p->word = ++e->words;
		p->status = n->told->status;
	}
	check(n->told->message.len <= TEXT_MAX);
	p->text_len = (uint16_t)n->told->message.len;
	if (p->text_len > 0) {
		memcpy(p->text, n->told->message.data, p->text_len);
	}
	p->retry_ms = n->told->retry_after_ms;
	p->asked_ms = n->asked_ms;
	p->until_ms = until_ms;
	p->moves = e->seen;
	p->asking = false;
	DL_DELETE(e->order, p);
	DL_APPEND(e->order, p);
}

/* ---- For all ---- */

bool edge_answer(struct edge *e, struct bytes activity, struct bytes user,
		 uint64_t now_ms, Rain__GrabReply *reply)
{
	struct place *p = find_place(e, activity);
	struct edge_view v = { .now_ms = now_ms, .fresh_ms = e->fresh_ms };
	struct told *t;
	uint64_t age;

	look_for_moves(e);
	if (p == NULL || p->word == 0 || p->moves != e->seen) {
		return false;
	}
	t = told_find(e->users, p->number, user);
	v.word = p->word;
	v.asked_ms = p->asked_ms;
	v.until_ms = p->until_ms;
	v.asking = p->asking;
	v.told = t != NULL ? t->word : 0;
	v.told_until_ms = t != NULL ? t->until_ms : 0;
	if (!edge_may_answer(&v)) {
		return false;
	}
	t->used_ms = now_ms;
	rain__grab_reply__init(reply);
	reply->status = p->status;
	reply->message = to_pb(bytes_make(p->text, p->text_len));
	age = now_ms - p->asked_ms;
	if (p->retry_ms > 0) {
		reply->retry_after_ms =
			p->retry_ms > age ? p->retry_ms - (uint32_t)age : 1;
	}
	return true;
}

void edge_asks(struct edge *e, struct bytes activity, struct bytes user,
	       uint64_t now_ms)
{
	struct place *p = find_place(e, activity);

	if (p == NULL) {
		return;
	}
	if (p->told) {
		told_forget(e->users, p->number, user);
	}
	if (now_ms - p->asked_ms >= e->fresh_ms) {
		p->asking = true;
	}
}

void edge_learn(struct edge *e, const struct edge_news *n)
{
	const Rain__GrabResponse *r = n->response;
	struct place *p;
	struct told *t;
	uint64_t until_ms;
	int order;

	if (r->revision == 0 || e->fresh_ms == 0) {
		return;
	}
	look_for_moves(e);
	p = find_place(e, n->activity);
	order = p != NULL ? compare(p, n) : 1;
	if (order < 0) {
		return;
	}
	if (p == NULL) {
		p = make_place(e, n->activity);
	}
	if (order > 0) {
		moved(e, p, n);
	}
	/* What was asked for before something moved may be from before. */
	if (n->told == NULL || r->stands_ms == 0 ||
	    n->told->status != r->reply->status ||
	    n->told->red_packet != NULL || *n->moves != e->seen) {
		return;
	}
	if (p->word != 0 && n->asked_ms < p->asked_ms &&
	    n->told->status != p->status) {
		return; /* what it was, not what it is */
	}
	until_ms = r->stands_ms == UINT32_MAX ? EDGE_ALWAYS
					      : n->asked_ms + r->stands_ms;
	if (p->word == 0 || n->asked_ms >= p->asked_ms) {
		set_word(e, p, n, until_ms);
	}
	t = told_note(e->users, p->number, n->user);
	t->word = p->word;
	t->until_ms = until_ms;
	t->used_ms = n->now_ms;
	p->told = true;
}

void edge_free(struct edge *e)
{
	while (e->order != NULL) {
		forget_place(e, e->order);
	}
	told_free(e->users);
	free(e);
}
