#include "adopt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"

#include "id_hash.h"

/*
 * ids[n - 1] is the hash of the id of packet n. index finds n by that hash:
 * open addressing, 0 is empty, at most half full. Packets with equal hashes
 * stand one behind the other.
 */
struct adopt {
	struct allocate_rule rule;
	uint64_t key; /* of the hashes, random */
	uint64_t hash_mask;
	uint64_t *ids;
	uint32_t *index;
	uint64_t index_mask; /* size of index - 1 */
	uint64_t done;       /* packets that are good */
	int64_t cents;       /* that they hold */
	bool more;           /* they hold more than can be counted */
	struct list_digest digest;
	/* After ADOPT_LOOK: the id, whose it may be, and where the search for
	 * others goes on. */
	char looking[ID_MAX + 1];
	uint32_t like;
	uint64_t from;
	bool resume;
};

struct adopt *adopt_new(const struct allocate_rule *rule, uint64_t mask)
{
	struct adopt *a = xcalloc(1, sizeof *a);
	uint64_t size = 4;

	a->rule = *rule;
	a->hash_mask = mask;
	rand_bytes(&a->key, sizeof a->key);
	while (size < 2 * rule->count) {
		size *= 2;
	}
	a->index_mask = size - 1;
	a->ids = xcalloc(rule->count, sizeof *a->ids);
	a->index = xcalloc(size, sizeof *a->index);
	list_digest_init(&a->digest);
	return a;
}

void adopt_free(struct adopt *a)
{
	if (a != NULL) {
		list_digest_close(&a->digest);
		free(a->ids);
		free(a->index);
		free(a);
	}
}

static bool within_bounds(const struct adopt *a, const struct packet *p,
			  char why[ADOPT_WHY])
{
	char has[AMOUNT_TEXT_MAX];

	if (p->amount_cents >= a->rule.min_cents &&
	    (a->rule.max_cents == 0 || p->amount_cents <= a->rule.max_cents)) {
		return true;
	}
	(void)amount_format(p->amount_cents, has);
	(void)snprintf(why, ADOPT_WHY,
		       "packet %" PRIu64 " in Redis has %s, which is out of "
		       "the plan's bounds",
		       a->done + 1, has);
	return false;
}

static void take(struct adopt *a, const struct packet *p, uint64_t hash,
		 uint64_t at)
{
	a->ids[a->done++] = hash;
	a->index[at] = (uint32_t)a->done;
	if (p->amount_cents > AMOUNT_MAX_CENTS - a->cents) {
		a->more = true;
	} else {
		a->cents += p->amount_cents;
	}
	list_digest_add(&a->digest, p);
}

enum adopt_result adopt_next(struct adopt *a, struct bytes element,
			     char why[ADOPT_WHY])
{
	const char *wrong = NULL;
	struct packet p;
	uint64_t hash, at;

	check(a->done < a->rule.count);
	if (!packet_parse(element, &p, &wrong)) {
		(void)snprintf(why, ADOPT_WHY,
			       "packet %" PRIu64 " in Redis is no packet: %s",
			       a->done + 1, wrong);
		return ADOPT_WRONG;
	}
	if (!within_bounds(a, &p, why)) {
		return ADOPT_WRONG;
	}
	hash = id_hash(a->key, p.red_packet_id) & a->hash_mask;
	at = a->resume ? a->from : hash & a->index_mask;
	a->resume = false;
	while (a->index[at] != 0 && a->ids[a->index[at] - 1] != hash) {
		at = (at + 1) & a->index_mask;
	}
	if (a->index[at] == 0) {
		take(a, &p, hash, at);
		return ADOPT_GOOD;
	}
	a->like = a->index[at];
	a->from = (at + 1) & a->index_mask;
	(void)snprintf(a->looking, sizeof a->looking, "%.*s",
		       BYTES_FMT(p.red_packet_id));
	return ADOPT_LOOK;
}

uint64_t adopt_like(const struct adopt *a)
{
	return a->like;
}

enum adopt_result adopt_look(struct adopt *a, struct bytes element,
			     char why[ADOPT_WHY])
{
	const char *wrong = NULL;
	struct packet p;

	if (packet_parse(element, &p, &wrong) &&
	    bytes_eq(p.red_packet_id, bytes_str(a->looking))) {
		(void)snprintf(why, ADOPT_WHY,
			       "packets %" PRIu32 " and %" PRIu64
			       " in Redis have the same id %s",
			       a->like, a->done + 1, a->looking);
		return ADOPT_WRONG;
	}
	a->resume = true;
	return ADOPT_GOOD;
}

bool adopt_whole(struct adopt *a, char digest[LIST_DIGEST_TEXT],
		 char why[ADOPT_WHY])
{
	char is[AMOUNT_TEXT_MAX], planned[AMOUNT_TEXT_MAX];

	check(a->done == a->rule.count);
	if (!a->more && a->cents == a->rule.total_cents) {
		list_digest_hex(&a->digest, digest);
		return true;
	}
	(void)amount_format(a->cents, is);
	(void)amount_format(a->rule.total_cents, planned);
	(void)snprintf(why, ADOPT_WHY,
		       "the packets in Redis hold %s%s, %s in the plan",
		       a->more ? "more than " : "", is, planned);
	return false;
}
