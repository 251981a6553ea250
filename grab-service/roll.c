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
 * users[seq - 1] is a hash of the user, 0 while it is not known. index finds
 * the seq by that hash: open addressing, 0 is empty, at most half full.
 */
struct roll {
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

	r->count = count;
	rand_bytes(&r->key, sizeof r->key);
	while (size < 2 * count) {
		size *= 2;
	}
	r->mask = size - 1;
	no_users(r);
	return r;
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
	if (r != NULL) {
		free(r->amounts);
		free(r->packets);
		free(r->users);
		free(r->index);
		free(r);
	}
}

uint64_t roll_packets(const struct roll *r)
{
	return r->count;
}

/* What was never written takes no memory and no time, unless it is cleared. */
void roll_forget_users(struct roll *r)
{
	if (r != NULL) {
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

bool roll_has_user(const struct roll *r, struct bytes user)
{
	return r != NULL && r->index[slot_of(r, id_hash(r->key, user))] != 0;
}

static bool is_adopted(const struct roll *r, const struct roll_entry *e,
		       char why[ROLL_WHY])
{
	const struct packet p = { .red_packet_id = e->red_packet_id,
				  .amount_cents = e->amount_cents };
	char is[AMOUNT_TEXT_MAX];

	if (mark(r, &p) == r->packets[e->seq - 1]) {
		return true;
	}
	(void)amount_format(e->amount_cents, is);
	(void)snprintf(why, ROLL_WHY,
		       "it is packet %.*s with %s, and another lay there when "
		       "the list was opened",
		       BYTES_FMT(e->red_packet_id), is);
	return false;
}

static bool is_planned(const struct roll *r, const struct roll_entry *e,
		       char why[ROLL_WHY])
{
	char id[24], is[AMOUNT_TEXT_MAX], planned[AMOUNT_TEXT_MAX];
	int n;

	if (e->seq < 1 || e->seq > r->count || e->tranche > 1) {
		(void)snprintf(why, ROLL_WHY,
			       "there is no packet %" PRIu64
			       " of tranche %" PRIu32 " in the plan",
			       e->seq, e->tranche);
		return false;
	}
	if (r->packets != NULL) {
		return is_adopted(r, e, why);
	}
	n = snprintf(id, sizeof id, "%" PRIu64, r->id_base + e->seq - 1);
	if (bytes_eq(e->red_packet_id, bytes_make(id, (size_t)n)) &&
	    e->amount_cents == r->amounts[e->seq - 1]) {
		return true;
	}
	(void)amount_format(e->amount_cents, is);
	(void)amount_format(r->amounts[e->seq - 1], planned);
	(void)snprintf(why, ROLL_WHY,
		       "it is packet %.*s with %s, and packet %s with %s in "
		       "the plan",
		       BYTES_FMT(e->red_packet_id), is, id, planned);
	return false;
}

bool roll_fits(struct roll *r, const struct roll_entry *e, char why[ROLL_WHY])
{
	uint64_t user;
	uint64_t at;

	if (r == NULL) {
		return true;
	}
	if (!is_planned(r, e, why)) {
		return false;
	}
	user = id_hash(r->key, e->user);
	if (r->users[e->seq - 1] == user) {
		return true;
	}
	if (r->users[e->seq - 1] != 0) {
		(void)snprintf(why, ROLL_WHY, "it was another user's");
		return false;
	}
	at = slot_of(r, user);
	if (r->index[at] != 0) {
		(void)snprintf(why, ROLL_WHY,
			       "the user has claim %" PRIu32 " already",
			       r->index[at]);
		return false;
	}
	r->users[e->seq - 1] = user;
	r->index[at] = (uint32_t)e->seq;
	return true;
}
