/* What a claim must be, and what is remembered of its users. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "grab-service/claim.h"
#include "grab-service/roll.h"

enum { COUNT = 1000, BASE = 5000, CENTS = 100 };

static struct roll *r;
static char why[ROLL_WHY];

static void setup(void)
{
	static const uint8_t seed[ALLOCATE_SEED] = { 7 };
	const struct allocate_rule rule = {
		.total_cents = COUNT * CENTS,
		.count = COUNT,
		.min_cents = CENTS,
		.max_cents = CENTS,
	};

	r = roll_new(seed, &rule, BASE);
}

static void teardown(void)
{
	roll_free(r);
}

TestSuite(roll, .init = setup, .fini = teardown);

/* The packet of seq, as it is planned. */
static bool fits(uint64_t seq, const char *user)
{
	char id[24];
	struct roll_entry e = {
		.seq = seq,
		.amount_cents = CENTS,
		.tranche = 1,
		.user = bytes_str(user),
	};

	(void)snprintf(id, sizeof id, "%llu",
		       (unsigned long long)(BASE + seq - 1));
	e.red_packet_id = bytes_str(id);
	return roll_fits(r, &e, why);
}

Test(roll, a_claim_has_one_user_and_a_user_one_claim)
{
	cr_assert(fits(1, "u"));
	cr_assert(fits(1, "u"), "as often as it is asked for");
	cr_assert_not(fits(1, "v"));
	cr_assert_str_eq(why, "it was another user's");
	cr_assert_not(fits(2, "u"));
	cr_assert_str_eq(why, "the user has claim 1 already");
	cr_assert(fits(2, "v"), "what was refused is not remembered");
	cr_assert(roll_has_user(r, BYTES("u")));
	cr_assert_not(roll_has_user(r, BYTES("w")));
}

Test(roll, a_claim_is_a_packet_of_the_plan)
{
	struct roll_entry e = {
		.seq = 1,
		.red_packet_id = BYTES("5000"),
		.amount_cents = CENTS + 1,
		.tranche = 1,
		.user = BYTES("u"),
	};

	cr_assert_not(roll_fits(r, &e, why));
	cr_assert_str_eq(why, "it is packet 5000 with 1.01, and packet 5000 "
			      "with 1.00 in the plan");
	e.amount_cents = CENTS;
	e.red_packet_id = BYTES("5001");
	cr_assert_not(roll_fits(r, &e, why));
	e.red_packet_id = BYTES("5000");
	e.tranche = 2;
	cr_assert_not(roll_fits(r, &e, why));
	cr_assert_not(fits(0, "u"));
	cr_assert_not(fits(COUNT + 1, "u"));
	cr_assert(fits(COUNT, "u"));
}

Test(roll, all_of_them_have_room)
{
	char user[16];

	for (unsigned i = 1; i <= COUNT; i++) {
		(void)snprintf(user, sizeof user, "u%u", i);
		cr_assert(fits(i, user), "%s", why);
	}
	for (unsigned i = 1; i <= COUNT; i++) {
		(void)snprintf(user, sizeof user, "u%u", i);
		cr_assert(roll_has_user(r, bytes_str(user)));
	}
	cr_assert_not(roll_has_user(r, BYTES("u0")));
}

/* Whoever leads on after a halt says that the claims are right. */
Test(roll, what_a_person_accepts_is_not_held_against_what_was_before)
{
	cr_assert(fits(1, "u"));
	cr_assert(fits(2, "v"));
	roll_forget_users(r);
	cr_assert_not(roll_has_user(r, BYTES("u")));
	cr_assert(fits(1, "w"));
	cr_assert(fits(2, "u"));
	cr_assert_not(fits(3, "w"));
}

/* The packet of seq, of the second tranche. */
static bool fits_second(uint64_t seq, const char *user, uint32_t tranche)
{
	char id[24];
	struct roll_entry e = {
		.seq = seq,
		.amount_cents = 2 * CENTS,
		.tranche = tranche,
		.user = bytes_str(user),
	};

	(void)snprintf(id, sizeof id, "%llu",
		       (unsigned long long)(9 * BASE + seq - COUNT - 1));
	e.red_packet_id = bytes_str(id);
	return roll_fits(r, &e, why);
}

static void grow(void)
{
	static const uint8_t seed[ALLOCATE_SEED] = { 8 };
	const struct allocate_rule rule = {
		.total_cents = 10 * 2 * CENTS,
		.count = 10,
		.min_cents = 2 * CENTS,
		.max_cents = 2 * CENTS,
	};

	roll_append(r, roll_new(seed, &rule, 9 * BASE));
	roll_as_of(r, 5);
}

Test(roll, what_it_does_not_know_yet)
{
	roll_as_of(r, 4);
	cr_assert(roll_knows(r, COUNT, 5));
	cr_assert(roll_knows(r, COUNT + 1, 4), "so it is a stranger's");
	cr_assert_not(roll_knows(r, COUNT + 1, 5), "of a tranche to come");
	cr_assert_not(fits_second(COUNT + 1, "v", 2));
	grow();
	cr_assert_eq(roll_packets(r), COUNT + 10);
	cr_assert_eq(roll_tranches(r), 2);
	cr_assert(roll_knows(r, COUNT + 11, 5));
}

Test(roll, grows_by_a_tranche_and_forgets_nobody)
{
	cr_assert(fits(1, "u"));
	grow();
	cr_assert(fits_second(COUNT + 1, "v", 2), "%s", why);
	cr_assert_not(fits_second(COUNT + 1, "v", 0));
	cr_assert_not(fits_second(COUNT + 2, "x", 1));
	cr_assert_not(fits_second(COUNT + 2, "u", 2));
	cr_assert_str_eq(why, "the user has claim 1 already");
	cr_assert_not(fits(2, "v"));
	cr_assert_str_eq(why, "the user has claim 1001 already");
	cr_assert(fits_second(COUNT + 10, "w", 2));
	cr_assert_not(fits_second(COUNT + 11, "x", 2));
	cr_assert(roll_has_user(r, BYTES("w")));
	roll_forget_users(r);
	cr_assert_not(roll_has_user(r, BYTES("w")));
	cr_assert_not(roll_has_user(r, BYTES("u")));
}

Test(roll, without_one_everything_can_be)
{
	const struct roll_entry e = { .seq = 9, .user = BYTES("u") };

	cr_assert(roll_fits(NULL, &e, why));
	cr_assert_not(roll_has_user(NULL, BYTES("u")));
	cr_assert(roll_knows(NULL, 9, 9));
	cr_assert_eq(roll_packets(NULL), 0);
	roll_forget_users(NULL);
}

static struct packet adopted(uint64_t seq, char id[24])
{
	const size_t n = (size_t)snprintf(id, 24, "x%llu",
					  (unsigned long long)(seq * seq));

	return (struct packet){ bytes_make(id, n), (int64_t)seq };
}

Test(roll, a_claim_of_an_adopted_list_is_what_lay_there)
{
	struct roll *list = roll_new_adopted(COUNT);
	char id[24];

	for (uint64_t seq = 1; seq <= COUNT; seq++) {
		struct packet p = adopted(seq, id);

		roll_add(list, seq, &p);
	}
	for (uint64_t seq = COUNT; seq >= 1; seq--) {
		char user[16];
		struct packet p = adopted(seq, id);
		struct roll_entry e = { seq, p.red_packet_id, p.amount_cents, 1,
					BYTES("thief") };

		e.amount_cents++;
		cr_assert_not(roll_fits(list, &e, why));
		e.amount_cents--;
		e.red_packet_id = BYTES("x0");
		cr_assert_not(roll_fits(list, &e, why));
		e.red_packet_id = p.red_packet_id;
		(void)snprintf(user, sizeof user, "u%u", (unsigned)seq);
		e.user = bytes_str(user);
		cr_assert(roll_fits(list, &e, why), "%s", why);
		e.seq = seq % COUNT + 1;
		e.user = BYTES("thief");
		cr_assert_not(roll_fits(list, &e, why), "another's place");
	}
	cr_assert_str_eq(why, "it is packet x1 with 0.01, and another lay "
			      "there when the list was opened");
	roll_free(list);
}
