#include "allocate.h"

#include <inttypes.h>
#include <stdio.h>

#include <openssl/evp.h>

/* Any number of cents as the amount that a plan would have. */
struct money {
	char text[32];
};

static struct money money(int64_t cents)
{
	uint64_t size = cents < 0 ? -(uint64_t)cents : (uint64_t)cents;
	struct money m;

	(void)snprintf(m.text, sizeof(m.text), "%s%" PRIu64 ".%02u",
		       cents < 0 ? "-" : "", size / 100,
		       (unsigned)(size % 100));
	return m;
}

/* The bounds of one packet against each other and against the total. */
static void check_bounds(const struct allocate_rule *rule,
			 char why[ALLOCATE_WHY])
{
	int64_t total = rule->total_cents;
	int64_t count = (int64_t)rule->count;

	if (rule->min_cents < 1) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a minimum of %s: a packet has at least 0.01",
			       money(rule->min_cents).text);
	} else if (rule->max_cents != 0 && rule->max_cents < rule->min_cents) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a maximum of %s is below the minimum of %s "
			       "(0 means no maximum)",
			       money(rule->max_cents).text,
			       money(rule->min_cents).text);
	} else if (rule->min_cents > total / count) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%" PRId64 " packets of at least %s need more "
			       "than the total of %s",
			       count, money(rule->min_cents).text,
			       money(total).text);
	} else if (rule->max_cents != 0 &&
		   rule->max_cents < total / count + (total % count != 0)) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%" PRId64 " packets of at most %s hold less "
			       "than the total of %s",
			       count, money(rule->max_cents).text,
			       money(total).text);
	}
}

bool allocate_possible(const struct allocate_rule *rule, char why[ALLOCATE_WHY])
{
	why[0] = '\0';
	if (rule->count < 1 || rule->count > ALLOCATE_COUNT_MAX) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%" PRIu64 " packets: 1 to %d are allowed",
			       rule->count, ALLOCATE_COUNT_MAX);
	} else if (rule->total_cents < 1 ||
		   rule->total_cents > AMOUNT_MAX_CENTS) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a total of %s: 0.01 to %s are allowed",
			       money(rule->total_cents).text,
			       money(AMOUNT_MAX_CENTS).text);
	} else {
		check_bounds(rule, why);
	}
	return why[0] == '\0';
}

enum { STREAM_BYTES = 4096 };

/* The keystream, read in order. */
struct numbers {
	EVP_CIPHER_CTX *cipher;
	uint8_t bytes[STREAM_BYTES];
	size_t used;
};

static void numbers_init(struct numbers *n, const uint8_t seed[ALLOCATE_SEED])
{
	static const uint8_t counter_and_nonce[16];
	int ok;

	n->cipher = EVP_CIPHER_CTX_new();
	check(n->cipher != NULL);
	ok = EVP_EncryptInit_ex(n->cipher, EVP_chacha20(), NULL, seed,
				counter_and_nonce);
	check(ok == 1);
	n->used = STREAM_BYTES;
}

static uint64_t numbers_next(struct numbers *n)
{
	static const uint8_t zeros[STREAM_BYTES];
	uint64_t x = 0;

	if (n->used == STREAM_BYTES) {
		int written = 0;
		int ok = EVP_EncryptUpdate(n->cipher, n->bytes, &written, zeros,
					   STREAM_BYTES);

		check(ok == 1 && written == STREAM_BYTES);
		n->used = 0;
	}
	for (size_t i = 0; i < sizeof(x); i++) {
		x |= (uint64_t)n->bytes[n->used + i] << (8 * i);
	}
	n->used += sizeof(x);
	return x;
}

static uint64_t numbers_below(struct numbers *n, uint64_t bound)
{
	uint64_t surplus; /* 2^64 mod bound: what would be favoured */
	uint64_t x;

	if (bound == 1) {
		return 0;
	}
	surplus = (UINT64_MAX - bound + 1) % bound;
	do {
		x = numbers_next(n);
	} while (x < surplus);
	return x % bound;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* One share of rest, so that left - 1 shares within bounds remain possible. */
static int64_t share(struct numbers *n, int64_t rest, int64_t left, int64_t min,
		     int64_t max)
{
	int64_t others = left - 1;
	int64_t lo = min;
	int64_t hi;

	/* Divided rather than multiplied: others * max may not fit. */
	if (others == 0) {
		lo = rest;
	} else if (max <= rest / others && rest - others * max > min) {
		lo = rest - others * max;
	}
	hi = smaller(max, rest - others * min);
	hi = smaller(hi, 2 * (rest / left) - min);
	if (hi < lo) {
		hi = lo;
	}
	return lo + (int64_t)numbers_below(n, (uint64_t)(hi - lo) + 1);
}

void allocate(const uint8_t seed[ALLOCATE_SEED],
	      const struct allocate_rule *rule, int64_t *amounts)
{
	int64_t max =
		rule->max_cents != 0 ? rule->max_cents : rule->total_cents;
	int64_t rest = rule->total_cents;
	char why[ALLOCATE_WHY];
	struct numbers n;

	check(allocate_possible(rule, why));
	numbers_init(&n, seed);
	for (uint64_t i = 0; i < rule->count; i++) {
		amounts[i] = share(&n, rest, (int64_t)(rule->count - i),
				   rule->min_cents, max);
		check(amounts[i] >= rule->min_cents && amounts[i] <= max);
		rest -= amounts[i];
	}
	check(rest == 0); /* the last share is what was left */
	for (uint64_t i = rule->count - 1; i > 0; i--) {
		uint64_t j = numbers_below(&n, i + 1);
		int64_t kept = amounts[i];

		amounts[i] = amounts[j];
		amounts[j] = kept;
	}
	EVP_CIPHER_CTX_free(n.cipher);
}
