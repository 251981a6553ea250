#include "plan/plan.h"

#include <inttypes.h>
#include <stdio.h>

#include <openssl/evp.h>

#include "base/rand.h"

void plan_tiers_message(const struct allocate_rule *rule,
			struct plan_tiers *memory, Rain__Plan *m)
{
	for (size_t i = 0; i < rule->tier_count; i++) {
		Rain__Tier *t = &memory->tiers[i];

		rain__tier__init(t);
		t->amount_cents = rule->tiers[i].amount_cents;
		t->packets = rule->tiers[i].count;
		memory->list[i] = t;
	}
	m->n_tiers = rule->tier_count;
	m->tiers = memory->list;
}

void plan_tiers_text(const struct allocate_rule *rule,
		     char out[PLAN_TIERS_TEXT])
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < rule->tier_count; i++) {
		int written = snprintf(
			out + n, PLAN_TIERS_TEXT - n, "%s%" PRId64 "x%" PRIu64,
			i > 0 ? "," : "", rule->tiers[i].amount_cents,
			rule->tiers[i].count);

		check(written > 0 && (size_t)written < PLAN_TIERS_TEXT - n);
		n += (size_t)written;
	}
}

/* Up to where: and what is behind it. */
static struct bytes cut_at(struct bytes *text, char mark)
{
	struct bytes head = *text;
	const uint8_t *at = text->n > 0 ? memchr(text->p, mark, text->n) : NULL;

	if (at == NULL) {
		*text = (struct bytes){ 0 };
		return head;
	}
	head.n = (size_t)(at - text->p);
	*text = bytes_make(at + 1, text->n - head.n - 1);
	return head;
}

bool plan_tiers_read(struct bytes text, struct allocate_rule *out)
{
	struct bytes rest = text;
	char again[PLAN_TIERS_TEXT];

	out->tier_count = 0;
	while (rest.n > 0) {
		struct bytes count = cut_at(&rest, ',');
		struct bytes amount = cut_at(&count, 'x');
		uint64_t cents = 0, packets = 0;

		if (out->tier_count == ALLOCATE_TIERS_MAX ||
		    !bytes_to_u64(amount, AMOUNT_MAX_CENTS, &cents) ||
		    !bytes_to_u64(count, ALLOCATE_COUNT_MAX, &packets)) {
			return false;
		}
		out->tiers[out->tier_count++] =
			(struct allocate_tier){ (int64_t)cents, packets };
	}
	plan_tiers_text(out, again);
	return bytes_eq(text, bytes_str(again));
}

uint64_t plan_memory(uint64_t packets, uint64_t loaded)
{
	uint64_t there = loaded < packets ? loaded : packets;

	return packets * PLAN_CLAIM_BYTES - there * PLAN_PACKET_BYTES;
}

size_t plan_text(const struct plan *p, char out[PLAN_TEXT_MAX])
{
	char tiers[PLAN_TIERS_TEXT], release[40] = "";
	const char *mode = p->rule.live ? "mode=live\n" : "";
	int n;

	plan_tiers_text(&p->rule, tiers);
	if (p->release_ms != 0) {
		(void)snprintf(release, sizeof(release),
			       "release_ms=%" PRId64 "\n", p->release_ms);
	}
	n = snprintf(out, PLAN_TEXT_MAX,
		     "activity_id=%s\ntitle=%s\nsponsor=%s\ncurrency=%s\n"
		     "total_cents=%" PRId64 "\npackets=%" PRIu64
		     "\nalgorithm=%s\nmin_cents=%" PRId64 "\nmax_cents=%" PRId64
		     "\nstart_ms=%" PRId64 "\nend_ms=%" PRId64
		     "\nack=%s\nkeep_days=%" PRIu32 "\n%s%s%s%s%s",
		     p->activity_id, p->title, p->sponsor, p->currency,
		     p->rule.total_cents, p->rule.count,
		     allocate_name(p->rule.algorithm), p->rule.min_cents,
		     p->rule.max_cents, p->start_ms, p->end_ms, PLAN_ACK,
		     p->keep_days, tiers[0] != '\0' ? "tiers=" : "", tiers,
		     tiers[0] != '\0' ? "\n" : "", release, mode);
	check(n > 0 && n < PLAN_TEXT_MAX); /* every text in it is bounded */
	return (size_t)n;
}

/* SHA-256 over the seed and then n bytes. */
static void hash_with(const uint8_t seed[ALLOCATE_SEED], const void *bytes,
		      size_t n, uint8_t out[32])
{
	uint8_t input[ALLOCATE_SEED + PLAN_TEXT_MAX];
	int ok;

	check(n <= PLAN_TEXT_MAX);
	memcpy(input, seed, ALLOCATE_SEED);
	memcpy(input + ALLOCATE_SEED, bytes, n);
	ok = EVP_Digest(input, ALLOCATE_SEED + n, out, NULL, EVP_sha256(),
			NULL);
	check(ok == 1);
}

void plan_mix(const uint8_t seed[ALLOCATE_SEED], const uint8_t *entropy,
	      size_t n, uint8_t out[ALLOCATE_SEED])
{
	check(n <= PLAN_ENTROPY_MAX);
	if (n == 0) {
		memcpy(out, seed, ALLOCATE_SEED);
	} else {
		hash_with(seed, entropy, n, out);
	}
}

void plan_commit(const uint8_t seed[ALLOCATE_SEED], struct bytes text,
		 char out[PLAN_COMMITMENT])
{
	uint8_t digest[32];

	hash_with(seed, text.p, text.n, digest);
	hex_encode(digest, sizeof(digest), out);
}

void plan_commitment(const uint8_t seed[ALLOCATE_SEED], const struct plan *p,
		     char out[PLAN_COMMITMENT])
{
	char text[PLAN_TEXT_MAX];

	plan_commit(seed, bytes_make(text, plan_text(p, text)), out);
}
