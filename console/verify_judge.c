/* Verification: the judging. Pure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "console/output.h"
#include "console/verify.h"

/* Claims and credits by the packet that they must be, and what it holds. */
struct judge {
	struct verify *v;
	uint64_t count; /* packets of all tranches */
	uint64_t last;  /* the highest packet that was claimed */
	int64_t *amounts;
	const struct verify_entry **claims; /* NULL: there is none */
	const struct verify_entry **credits;
};

/* The id of packet k as text. */
struct packet_id {
	char text[24];
};

static struct packet_id id_of(const struct verify *v, uint64_t k)
{
	struct packet_id id;

	(void)snprintf(id.text, sizeof(id.text), "%" PRIu64, verify_id(v, k));
	return id;
}

/* Which packet of the plan has the id, or 0. */
static uint64_t packet_of(const struct judge *j, const char *id)
{
	uint64_t n, k;

	if (!bytes_to_u64(bytes_str(id), UINT64_MAX, &n)) {
		return 0;
	}
	k = verify_packet(j->v, n);
	return k > 0 && strcmp(id_of(j->v, k).text, id) == 0 ? k : 0;
}

/* Give each its place by its seq. */
static void place(struct judge *j, const char *what,
		  const struct verify_list *list,
		  const struct verify_entry **places)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct verify_entry *e = &list->entries[i];

		if (e->seq == 0 || e->seq > j->count) {
			verify_differ(j->v,
				      "%s %" PRIu64 " of user %s: the plan has "
				      "packets 1 to %" PRIu64,
				      what, e->seq, e->user, j->count);
		} else if (places[e->seq - 1] != NULL) {
			verify_differ(
				j->v,
				"%s %" PRIu64 " is there twice: packet %s to "
				"user %s, and packet %s to user %s",
				what, e->seq, places[e->seq - 1]->packet,
				places[e->seq - 1]->user, e->packet, e->user);
		} else {
			places[e->seq - 1] = e;
		}
	}
}

/* What has its place must be the packet of that place. */
static void judge_packet(struct judge *j, const char *what,
			 const struct verify_entry *e)
{
	struct packet_id id = id_of(j->v, e->seq);
	int64_t cents = j->amounts[e->seq - 1];

	if (strcmp(e->packet, id.text) != 0) {
		verify_differ(j->v,
			      "%s %" PRIu64
			      " of user %s: packet %s with %s, in the "
			      "plan it is packet %s with %s",
			      what, e->seq, e->user, e->packet,
			      amount_text(e->amount_cents).text, id.text,
			      amount_text(cents).text);
	} else if (e->amount_cents != cents) {
		verify_differ(j->v,
			      "%s %" PRIu64
			      " of user %s: packet %s has %s, %s in "
			      "the plan",
			      what, e->seq, e->user, e->packet,
			      amount_text(e->amount_cents).text,
			      amount_text(cents).text);
	}
}

struct user_seen {
	const struct verify_entry *entry;
	UT_hash_handle hh;
};

static void judge_users(struct judge *j, const char *what,
			const struct verify_list *list)
{
	struct user_seen *table = NULL;
	struct user_seen *all = xcalloc(list->count + 1, sizeof(*all));

	for (size_t i = 0; i < list->count; i++) {
		const struct verify_entry *e = &list->entries[i];
		struct user_seen *old = NULL;

		all[i].entry = e;
		HASH_FIND_STR(table, e->user, old);
		if (old != NULL) {
			verify_differ(j->v,
				      "user %s has %ss %" PRIu64
				      " and %" PRIu64,
				      e->user, what, old->entry->seq, e->seq);
			continue;
		}
		HASH_ADD_KEYPTR(hh, table, e->user, strlen(e->user), &all[i]);
	}
	HASH_CLEAR(hh, table);
	free(all);
}

/* Whoever asks again is told what is in the hash of users. */
static void judge_told(struct judge *j)
{
	for (size_t i = 0; i < j->v->claims.count; i++) {
		const struct verify_entry *e = &j->v->claims.entries[i];

		if (e->told == NULL) {
			continue;
		}
		verify_differ(j->v,
			      "user %s is told %.200s instead of claim %" PRIu64
			      ", packet %s with %s",
			      e->user, e->told[0] != '\0' ? e->told : "nothing",
			      e->seq, e->packet,
			      amount_text(e->amount_cents).text);
	}
}

static void judge_claims(struct judge *j)
{
	uint64_t count = j->v->claims.count + j->v->claims.unreadable;

	if (!j->v->cancelled && count != j->v->final_claims) {
		verify_differ(j->v,
			      "claims: Redis has %" PRIu64
			      ", it was closed with %" PRIu64,
			      count, j->v->final_claims);
	}
	judge_told(j);
	place(j, "claim", &j->v->claims, j->claims);
	j->last = j->count;
	while (j->last > 0 && j->claims[j->last - 1] == NULL) {
		j->last--;
	}
	/* Whoever has the newest claim may be the one that can't be read. */
	if (j->v->claims.unreadable > 0 && j->last < count) {
		j->last = count < j->count ? count : j->count;
	}
	for (uint64_t k = 1; k <= j->last; k++) {
		if (j->claims[k - 1] != NULL) {
			judge_packet(j, "claim", j->claims[k - 1]);
		} else {
			verify_differ(j->v,
				      "claim %" PRIu64
				      " is missing: packet %s with "
				      "%s in the plan",
				      k, id_of(j->v, k).text,
				      amount_text(j->amounts[k - 1]).text);
		}
	}
	judge_users(j, "claim", &j->v->claims);
}

/* Packets from..to are in neither list. */
static void lost(struct judge *j, uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k <= to; k++) {
		verify_differ(
			j->v,
			"packet %s with %s in the plan is neither claimed nor "
			"left",
			id_of(j->v, k).text,
			amount_text(j->amounts[k - 1]).text);
	}
}

static void judge_left(struct judge *j)
{
	const struct verify_list *left = &j->v->left;
	uint64_t next = j->last + 1;

	for (size_t i = 0; i < left->count; i++) {
		const struct verify_entry *e = &left->entries[i];
		uint64_t k = packet_of(j, e->packet);

		if (k == 0) {
			verify_differ(
				j->v,
				"left: packet %s with %s is not in the plan",
				e->packet, amount_text(e->amount_cents).text);
		} else if (k <= j->last) {
			verify_differ(
				j->v,
				"left: packet %s is that of claim %" PRIu64,
				e->packet, k);
		} else if (k < next) {
			verify_differ(
				j->v,
				"left: packet %s is there twice, or not in its "
				"place",
				e->packet);
		} else {
			lost(j, next, k - 1);
			next = k + 1;
		}
		if (k > 0 && e->amount_cents != j->amounts[k - 1]) {
			verify_differ(
				j->v, "left: packet %s has %s, %s in the plan",
				e->packet, amount_text(e->amount_cents).text,
				amount_text(j->amounts[k - 1]).text);
		}
	}
	/* One that was cancelled may have been loaded in part. */
	if (!j->v->cancelled) {
		lost(j, next, j->count - j->v->unloaded);
	}
}

static int64_t cents_after(const struct judge *j, uint64_t k)
{
	int64_t cents = 0;

	while (k < j->count) {
		cents += j->amounts[k++];
	}
	return cents;
}

/* What is left of a live one are two numbers. */
static void judge_undrawn(struct judge *j)
{
	const struct verify *v = j->v;
	uint64_t left = j->count - j->last;
	int64_t cents = cents_after(j, j->last);

	for (size_t i = 0; i < v->left.count; i++) {
		verify_differ(j->v,
			      "left: packet %s is in a list, a live activity "
			      "has none",
			      v->left.entries[i].packet);
	}
	if (v->cancelled && v->undrawn == 0 && v->undrawn_cents == 0) {
		return; /* it was never loaded */
	}
	if (v->undrawn != left || v->undrawn_cents != cents) {
		verify_differ(j->v,
			      "left: Redis has %" PRIu64
			      " packet%s with %s, in the plan it is %" PRIu64
			      " with %s",
			      v->undrawn, v->undrawn == 1 ? "" : "s",
			      amount_text(v->undrawn_cents).text, left,
			      amount_text(cents).text);
	}
}

static void judge_credit(struct judge *j, const struct verify_entry *e)
{
	const struct verify_entry *claim = j->claims[e->seq - 1];

	judge_packet(j, "credit for claim", e);
	if (j->v->lists_gone && e->seq > j->last) {
		verify_differ(j->v,
			      "credit for claim %" PRIu64
			      " of user %s: there were "
			      "%" PRIu64 " claims",
			      e->seq, e->user, j->last);
	} else if (!j->v->lists_gone && claim == NULL) {
		verify_differ(j->v,
			      "credit for claim %" PRIu64
			      " of user %s: Redis does "
			      "not have the claim",
			      e->seq, e->user);
	} else if (claim != NULL && strcmp(claim->user, e->user) != 0) {
		verify_differ(j->v,
			      "credit for claim %" PRIu64
			      " of user %s: the claim is "
			      "of user %s",
			      e->seq, e->user, claim->user);
	}
}

static void judge_credits(struct judge *j)
{
	struct verify *v = j->v;

	place(j, "credit for claim", &v->credits, j->credits);
	for (uint64_t k = 1; k <= j->count; k++) {
		if (j->credits[k - 1] != NULL) {
			v->credited++;
			judge_credit(j, j->credits[k - 1]);
		} else if (k > j->last ||
			   (!v->lists_gone && j->claims[k - 1] == NULL)) {
			continue; /* nobody has it, or it is told already */
		} else if (v->settled) {
			verify_differ(v,
				      "claim %" PRIu64
				      ": packet %s with %s is not "
				      "credited",
				      k, id_of(v, k).text,
				      amount_text(j->amounts[k - 1]).text);
		} else {
			v->uncredited++;
		}
	}
	judge_users(j, "credit", &v->credits);
}

static void judge_leftover(struct judge *j)
{
	int64_t cents = cents_after(j, j->last);

	if (!j->v->cancelled && j->v->leftover_cents >= 0 &&
	    j->v->leftover_cents != cents) {
		verify_differ(
			j->v,
			"left: the ledger heard of %s in all, it is %s in the "
			"plan",
			amount_text(j->v->leftover_cents).text,
			amount_text(cents).text);
	}
}

static bool is_empty(const struct verify_list *list)
{
	return list->count + list->unreadable == 0;
}

/* Then only the ledger is left, as if Redis had given them up. */
static void judge_emptiness(struct verify *v)
{
	bool none = v->plan.rule.live && v->final_claims == 0;

	if (!v->lists_gone && !v->cancelled && !none && is_empty(&v->claims) &&
	    is_empty(&v->left) && v->undrawn == 0) {
		verify_differ(v, "lists: both are empty, and Redis has not "
				 "given them up");
		v->lists_gone = true;
	} else if (v->lists_gone && !v->settled) {
		verify_differ(v, "lists: Redis has given them up, and it is "
				 "not settled");
	}
}

void verify_judge(struct verify *v)
{
	uint64_t count = verify_packets(v);
	struct judge j = {
		.v = v,
		.count = count,
		.amounts = xcalloc(count, sizeof(*j.amounts)),
		.claims = xcalloc(count, sizeof(*j.claims)),
		.credits = xcalloc(count, sizeof(*j.credits)),
	};

	verify_amounts(v, j.amounts);
	verify_judge_published(v);
	verify_judge_topups(v);
	judge_emptiness(v);
	if (v->lists_gone) {
		j.last = v->final_claims < count ? v->final_claims : count;
		v->claimed = j.last;
		v->unclaimed = v->cancelled ? 0 : count - v->unloaded - j.last;
	} else {
		judge_claims(&j);
		v->claimed = v->claims.count;
		if (v->plan.rule.live) {
			judge_undrawn(&j);
			v->unclaimed = v->undrawn;
		} else {
			judge_left(&j);
			v->unclaimed = v->left.count;
		}
	}
	judge_credits(&j);
	judge_leftover(&j);
	free(j.credits);
	free(j.claims);
	free(j.amounts);
}
