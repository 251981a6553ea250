#include "lib/random_rule.h"

__extension__ typedef __int128 wide;

/* splitmix64. */
uint64_t random_rule_roll(uint64_t *dice)
{
	uint64_t z = (*dice += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 to most, small ones as often as large ones. */
static int64_t some(uint64_t *dice, int64_t most)
{
	uint64_t bound = ((uint64_t)most >> random_rule_roll(dice) % 53) + 1;

	return (int64_t)(random_rule_roll(dice) % bound);
}

/* 8 on average; now and then many. */
static int64_t some_count(uint64_t *dice)
{
	int64_t most =
		random_rule_roll(dice) % 512 == 0 ? RANDOM_RULE_PACKETS : 15;

	return 1 + (int64_t)(random_rule_roll(dice) % (uint64_t)most);
}

static struct allocate_rule possible(uint64_t *dice)
{
	int kind = (int)(random_rule_roll(dice) % 8);
	int64_t n = kind == 4 ? 1 : some_count(dice);
	int64_t min = 1 + some(dice, AMOUNT_MAX_CENTS / n - 1);
	int64_t max = min + some(dice, AMOUNT_MAX_CENTS / n - min);
	int64_t room = n * (max - min);
	struct allocate_rule rule = { .total_cents = n * min + some(dice, room),
				      .count = (uint64_t)n,
				      .min_cents = min,
				      .max_cents = max };

	switch (kind) {
	case 0:
		rule.total_cents = n * min;
		break;
	case 1:
		rule.total_cents = n * max;
		break;
	case 2:
		rule.total_cents = n * min + (room > 0);
		break;
	case 3:
		rule.total_cents = n * max - (room > 0);
		break;
	case 5:
		rule.min_cents = 1;
		rule.max_cents = 0;
		rule.total_cents = n + (int64_t)(random_rule_roll(dice) % 2);
		break;
	case 6:
		rule.max_cents = 0;
		break;
	default:
		break;
	}
	return rule;
}

/* 3 tiers on average, of 2 packets each. */
static struct allocate_rule possible_tiers(uint64_t *dice)
{
	struct allocate_rule rule = { .algorithm = ALLOCATE_TIERS,
				      .min_cents = AMOUNT_MAX_CENTS };

	rule.tier_count =
		1 + random_rule_roll(dice) %
			    (random_rule_roll(dice) % 512 == 0 ? 32 : 5);
	for (size_t i = 0; i < rule.tier_count; i++) {
		struct allocate_tier t = { 1 + some(dice,
						    AMOUNT_MAX_CENTS / 100 - 1),
					   1 + random_rule_roll(dice) % 3 };

		rule.tiers[i] = t;
		rule.count += t.count;
		rule.total_cents += t.amount_cents * (int64_t)t.count;
		if (t.amount_cents < rule.min_cents) {
			rule.min_cents = t.amount_cents;
		}
		if (t.amount_cents > rule.max_cents) {
			rule.max_cents = t.amount_cents;
		}
	}
	if (random_rule_roll(dice) % 2 == 0) {
		rule.min_cents = 1;
	}
	if (random_rule_roll(dice) % 2 == 0) {
		rule.max_cents = 0;
	}
	return rule;
}

static int64_t clamp(wide cents)
{
	return cents > INT64_MAX ? INT64_MAX : (int64_t)cents;
}

/* What is refused of these is mostly just not possible. */
static struct allocate_rule any(uint64_t *dice)
{
	static const uint64_t counts[] = { 0, ALLOCATE_COUNT_MAX,
					   ALLOCATE_COUNT_MAX + 1, UINT64_MAX };
	static const int64_t totals[] = {
		0,         -150,     1, AMOUNT_MAX_CENTS, AMOUNT_MAX_CENTS + 1,
		INT64_MAX, INT64_MIN
	};
	static const int64_t bounds[] = { 0,
					  -1,
					  INT64_MIN,
					  INT64_MAX,
					  1,
					  AMOUNT_MAX_CENTS,
					  AMOUNT_MAX_CENTS + 1 };
	struct allocate_rule rule = possible(dice);
	wide n;

	if (random_rule_roll(dice) % 16 == 0) {
		rule.count = counts[random_rule_roll(dice) % 4];
	}
	n = rule.count;
	switch (random_rule_roll(dice) % 8) {
	case 0:
		rule.total_cents = clamp(n * rule.min_cents - 1);
		break;
	case 1:
		rule.total_cents = clamp(n * rule.max_cents + 1);
		break;
	case 2:
		rule.total_cents = totals[random_rule_roll(dice) % 7];
		break;
	case 3:
		rule.min_cents = bounds[random_rule_roll(dice) % 7];
		break;
	case 4:
		rule.max_cents = bounds[random_rule_roll(dice) % 7];
		break;
	case 5:
		rule.max_cents = rule.min_cents - 1;
		break;
	default:
		break;
	}
	if (random_rule_roll(dice) % 16 == 0) {
		rule.tier_count = 1 + random_rule_roll(dice) % 40;
	}
	return rule;
}

/* The same of tiers. */
static struct allocate_rule any_tiers(uint64_t *dice)
{
	struct allocate_rule rule = possible_tiers(dice);
	struct allocate_tier *t =
		&rule.tiers[random_rule_roll(dice) % rule.tier_count];
	int64_t one = random_rule_roll(dice) % 2 == 0 ? 1 : -1;

	switch (random_rule_roll(dice) % 16) {
	case 0:
		rule.total_cents += one;
		break;
	case 1:
		rule.count += (uint64_t)one;
		break;
	case 2:
		t->count += (uint64_t)one;
		break;
	case 3:
		t->amount_cents += one;
		break;
	case 4:
		t->amount_cents *= -1;
		break;
	case 5:
		t->count = random_rule_roll(dice) % 2 == 0
				   ? 0
				   : ALLOCATE_COUNT_MAX + 1;
		break;
	case 6: /* the sum is more than any integer holds */
		t->count = ALLOCATE_COUNT_MAX;
		t->amount_cents = AMOUNT_MAX_CENTS;
		rule.max_cents = 0;
		break;
	case 7:
		rule.tier_count = random_rule_roll(dice) % 2 == 0 ? 0 : 33;
		break;
	default:
		break;
	}
	return rule;
}

struct allocate_rule random_rule_possible(uint64_t *dice,
					  enum allocate_algorithm algorithm)
{
	struct allocate_rule rule = algorithm == ALLOCATE_TIERS
					    ? possible_tiers(dice)
					    : possible(dice);

	rule.algorithm = algorithm;
	return rule;
}

struct allocate_rule random_rule_any(uint64_t *dice,
				     enum allocate_algorithm algorithm)
{
	struct allocate_rule rule =
		algorithm == ALLOCATE_TIERS ? any_tiers(dice) : any(dice);

	rule.algorithm = algorithm;
	return rule;
}
