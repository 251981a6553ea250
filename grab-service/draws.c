#include "draws.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"

#include "step.h"

/* Where things are in the rest of the reply. */
enum {
	REPLY_CLAIMS = 1,
	REPLY_SEED = 4,
	REPLY_ENTROPY,
	REPLY_PLAN,
	REPLY_COMMITMENT
};

enum {
	AHEAD = 128, /* places that others may take meanwhile, at first */
	AHEAD_MAX = 4096,
	HEAD_MAX = 24 + PLAN_COMMITMENT,
};

static bool read_hex(struct bytes hex, uint8_t *out, size_t n)
{
	return hex_decode((const char *)hex.p, hex.n, out, n) == 0;
}

bool draws_learn(struct draws *d, const struct step_reply *reply)
{
	struct bytes seed_hex = step_text(reply, REPLY_SEED);
	struct bytes hex = step_text(reply, REPLY_ENTROPY);
	struct bytes plan = step_text(reply, REPLY_PLAN);
	char commitment[PLAN_COMMITMENT];
	uint8_t seed[ALLOCATE_SEED], entropy[PLAN_ENTROPY_MAX];
	int64_t claims = 0;

	if (!step_number(reply, REPLY_CLAIMS, &claims) || claims < 0 ||
	    !read_hex(seed_hex, seed, sizeof seed) ||
	    hex.n / 2 > sizeof entropy || !read_hex(hex, entropy, hex.n / 2)) {
		return false;
	}
	/* An amount of another seed could be told before it is held against the
	 * plan. */
	if (plan.n > PLAN_TEXT_MAX) {
		return false;
	}
	plan_commit(seed, plan, commitment);
	if (!bytes_eq(step_text(reply, REPLY_COMMITMENT),
		      bytes_str(commitment))) {
		return false;
	}
	memcpy(d->commitment, commitment, sizeof commitment);
	plan_mix(seed, entropy, hex.n / 2, d->seed);
	d->claims = (uint64_t)claims;
	d->live = true;
	return true;
}

struct bytes draws_argument(const struct draws *d, size_t users, unsigned tries,
			    char **memory)
{
	size_t ahead = tries < 5 ? (size_t)AHEAD << tries : AHEAD_MAX;
	size_t count = users + ahead;
	int n;

	*memory = NULL;
	if (!d->live) {
		return BYTES("");
	}
	/* Text, and then the bytes of the draws. */
	*memory = xmalloc(HEAD_MAX + count * NUMBERS_DRAW);
	n = snprintf(*memory, HEAD_MAX, "%" PRIu64 " %s ", d->claims + 1,
		     d->commitment);
	numbers_draws(d->seed, d->claims, count, (uint8_t *)*memory + n);
	return bytes_make(*memory, (size_t)n + count * NUMBERS_DRAW);
}
