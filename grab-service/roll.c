#include "roll.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/check.h"
#include "base/rand.h"

#include "claim.h"
#include "id_hash.h"

/*
 * A tranche, and the next one. users[seq - first - 1] is a hash of the user, 0
 * while it is not known. index finds that place by the hash: open addressing,
 * 0 is empty, at most half full.
 */
struct roll {
	struct roll *next;
	uint64_t revision; /* of the first: as of when all tranches are here */
	uint32_t tranche;
	uint64_t first; /* packets before it */
	uint64_t count;
	uint64_t id_base;
	uint64_t key;       /* of the hashes, random */
	int64_t *amounts;   /* NULL for an adopted list */
	uint64_t *packets;  /* of an adopted list, see mark() */
	uint8_t secret[16]; /* of the marks, random */
	uint64_t *users;
	uint32_t *index;
	uint64_t mask; /* size of index - 1 */
};

static void no_users(struct roll *r)
{
	r->users = xcalloc(r->count, sizeof *r->users);
	r->index = xcalloc(r->mask + 1, sizeof *r->index);
}

static struct roll *new_roll(uint64_t count)
{
	struct roll *r = xcalloc(1, sizeof *r);
	uint64_t size = 4;

	r->tranche = 1;
	r->count = count;
	rand_bytes(&r->key, sizeof r->key);
	while (size < 2 * count) {
		size *= 2;
	}
	r->mask = size - 1;
	no_users(r);
	return r;
}

void roll_append(struct roll *r, struct roll *more)
{
	struct roll *last = r;

	while (last->next != NULL) {
		last = last->next;
	}
	last->next = more;
	for (; more != NULL; last = more, more = more->next) {
		more->tranche = last->tranche + 1;
		more->first = last->first + last->count;
		more->key = r->key;
	}
}

struct roll *roll_new(const uint8_t seed[ALLOCATE_SEED],
		      const struct allocate_rule *rule, uint64_t id_base)
{
	struct roll *r = new_roll(rule->count);

	r->id_base = id_base;
	r->amounts = xcalloc(r->count, sizeof *r->amounts);
	allocate(seed, rule, r->amounts);
	return r;
}

struct roll *roll_new_adopted(uint64_t count)
{
	struct roll *r = new_roll(count);

	rand_bytes(r->secret, sizeof r->secret);
	r->packets = xcalloc(count, sizeof *r->packets);
	return r;
}

/* What is kept of a packet: 8 bytes of SHA-256. The secret is in it, or whoever
 * edits Redis could look for a packet that has the mark of one of many. */
static uint64_t mark(const struct roll *r, const struct packet *p)
{
	uint8_t input[sizeof r->secret + PACKET_TEXT_MAX];
	uint8_t digest[32];
	uint64_t out;
	size_t n;

	memcpy(input, r->secret, sizeof r->secret);
	n = packet_format(p, (char *)input + sizeof r->secret);
	check(EVP_Digest(input, sizeof r->secret + n, digest, NULL,
			 EVP_sha256(), NULL) == 1);
	memcpy(&out, digest, sizeof out);
	return out;
}

void roll_add(struct roll *r, uint64_t seq, const struct packet *p)
{
	check(seq >= 1 && seq <= r->count);
	r->packets[seq - 1] = mark(r, p);
}

void roll_free(struct roll *r)
{
	while (r != NULL) {
		struct roll *next = r->next;

		free(r->amounts);
		free(r->packets);
		free(r->users);
		free(r->index);
		free(r);
		r = next;
	}
}

uint64_t roll_packets(const struct roll *r)
{
	uint64_t sum = 0;

	for (; r != NULL; r = r->next) {
		sum += r->count;
	}
	return sum;
}

size_t roll_tranches(const struct roll *r)
{
	size_t n = 0;

	for (; r != NULL; r = r->next) {
		n++;
	}
	return n;
}

uint64_t roll_revision(const struct roll *r)
{
	return r != NULL ? r->revision : 0;
}

void roll_as_of(struct roll *r, uint64_t revision)
{
	r->revision = revision;
}

bool roll_knows(const struct roll *r, uint64_t seq, uint64_t revision)
{
	return r == NULL || r->revision >= revision || seq <= roll_packets(r);
}

/* What was never written takes no memory and no time, unless it is cleared. */
void roll_forget_users(struct roll *r)
{
	for (; r != NULL; r = r->next) {
		free(r->users);
		free(r->index);
		no_users(r);
	}
}

/* Where the user is in the index, or would be. */
static uint64_t slot_of(const struct roll *r, uint64_t user)
{
	uint64_t at = user & r->mask;

	while (r->index[at] != 0 && r->users[r->index[at] - 1] != user) {
		at = (at + 1) & r->mask;
	}
	return at;
}

/* The seq of the user's claim in any tranche, 0 without one. */
static uint64_t seq_of(const struct roll *r, uint64_t user)
{
	for (; r != NULL; r = r->next) {
		uint32_t place = r->index[slot_of(r, user)];

		if (place != 0) {
			return r->first + place;
		}
	}
	return 0;
}

static bool is_adopted(const struct roll *r, const struct roll_entry *e,
		       char why[ROLL_WHY])
{
	const struct packet p = { .red_packet_id = e->red_packet_id,
				  .amount_cents = e->amount_cents };
	char is[AMOUNT_TEXT_MAX];

	if (mark(r, &p) == r->packets[e->seq - r->first - 1]) {
		return true;
	}
	(void)amount_format(e->amount_cents, is);
	(void)snprintf(why, ROLL_WHY,
		       "it is packet %.*s with %s, and another lay there when "
		       "the list was opened",
		       BYTES_FMT(e->red_packet_id), is);
	return false;
}

bool roll_has_user(const struct roll *r, struct bytes user)
{
	return r != NULL && seq_of(r, id_hash(r->key, user)) != 0;
}

/* The tranche that has the packet, or NULL. */
static struct roll *tranche_of(struct roll *r, uint64_t seq)
{
	while (r != NULL && (seq <= r->first || seq > r->first + r->count)) {
		r = r->next;
	}
	return r;
}

/* r is the tranche, NULL if there is none with such a packet. */
static bool is_planned(const struct roll *r, const struct roll_entry *e,
		       char why[ROLL_WHY])
{
	char id[U64_DIGITS], is[AMOUNT_TEXT_MAX], planned[AMOUNT_TEXT_MAX];
	struct bytes planned_id;
	uint64_t place;

	if (r == NULL || e->tranche != r->tranche) {
		(void)snprintf(why, ROLL_WHY,
			       "there is no packet %" PRIu64
			       " of tranche %" PRIu32 " in the plan",
			       e->seq, e->tranche);
		return false;
	}
	if (r->packets != NULL) {
		return is_adopted(r, e, why);
	}
	place = e->seq - r->first - 1;
	planned_id = bytes_make(id, bytes_from_u64(r->id_base + place, id));
	if (bytes_eq(e->red_packet_id, planned_id) &&
	    e->amount_cents == r->amounts[place]) {
		return true;
	}
	(void)amount_format(e->amount_cents, is);
	(void)amount_format(r->amounts[place], planned);
	(void)snprintf(why, ROLL_WHY,
		       "it is packet %.*s with %s, and packet %.*s with %s in "
		       "the plan",
		       BYTES_FMT(e->red_packet_id), is, BYTES_FMT(planned_id),
		       planned);
	return false;
}

bool roll_fits(struct roll *r, const struct roll_entry *e, char why[ROLL_WHY])
{
	struct roll *t = tranche_of(r, e->seq);
	uint64_t user, place, other;

	if (r == NULL) {
		return true;
	}
	if (!is_planned(t, e, why)) {
		return false;
	}
	user = id_hash(r->key, e->user);
	place = e->seq - t->first - 1;
	if (t->users[place] == user) {
		return true;
	}
	if (t->users[place] != 0) {
		(void)snprintf(why, ROLL_WHY, "it was another user's");
		return false;
	}
	other = seq_of(r, user);
	if (other != 0) {
		(void)snprintf(why, ROLL_WHY,
			       "the user has claim %" PRIu64 " already", other);
		return false;
	}
	t->users[place] = user;
	t->index[slot_of(t, user)] = (uint32_t)(place + 1);
	return true;
}
