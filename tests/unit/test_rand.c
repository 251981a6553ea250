#include <criterion/criterion.h>
#include <string.h>

#include "base/rand.h"

Test(rand, stays_below_the_bound_and_reaches_all)
{
	int seen[7] = { 0 };

	for (int i = 0; i < 7000; i++) {
		uint64_t v = rand_below(7);

		cr_assert_lt(v, 7);
		seen[v]++;
	}
	for (int i = 0; i < 7; i++) {
		/* 1000 expected; 13 standard deviations of room. */
		cr_assert(seen[i] > 600 && seen[i] < 1400, "%d: %d", i,
			  seen[i]);
	}
	cr_assert_eq(rand_below(1), 0);
}

Test(rand, two_draws_differ)
{
	uint8_t a[32];
	uint8_t b[32];

	rand_bytes(a, sizeof(a));
	rand_bytes(b, sizeof(b));
	cr_assert_neq(memcmp(a, b, sizeof(a)), 0);
}

Test(hex, reads_what_it_writes)
{
	const uint8_t in[] = { 0x00, 0x0f, 0xa5, 0xff };
	uint8_t back[sizeof(in)];
	char text[2 * sizeof(in) + 1];

	hex_encode(in, sizeof(in), text);
	cr_assert_str_eq(text, "000fa5ff");
	cr_assert_eq(hex_decode(text, strlen(text), back, sizeof(back)), 0);
	cr_assert_eq(memcmp(in, back, sizeof(in)), 0);
	cr_assert_eq(hex_decode("000FA5FF", 8, back, sizeof(back)), 0);
}

Test(hex, refuses_other_text)
{
	uint8_t out[2];

	cr_assert_eq(hex_decode("00f", 3, out, 2), -1);
	cr_assert_eq(hex_decode("00ff0", 5, out, 2), -1);
	cr_assert_eq(hex_decode("00fg", 4, out, 2), -1);
	cr_assert_eq(hex_decode("00ff00", 6, out, 2), -1);
	cr_assert_eq(hex_decode("", 0, out, 0), 0);
}
