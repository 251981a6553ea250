#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"

Test(bytes, orders_by_bytes_then_length)
{
	cr_assert(bytes_cmp(BYTES("a"), BYTES("b")) < 0);
	cr_assert(bytes_cmp(BYTES("ab"), BYTES("a")) > 0);
	cr_assert(bytes_cmp(BYTES(""), BYTES("a")) < 0);
	cr_assert(bytes_cmp(BYTES("\xff"), BYTES("a")) > 0);
	cr_assert_eq(bytes_cmp(bytes_str(NULL), BYTES("")), 0);
	cr_assert(bytes_eq(bytes_str(NULL), BYTES("")));
	cr_assert(!bytes_eq(BYTES("a"), BYTES("ab")));
}

Test(bytes, reads_a_number_of_digits_only)
{
	static const char *const bad[] = { "",    " 1",
					   "1 ",  "-1",
					   "+1",  "1a",
					   "0x1", "18446744073709551616",
					   "101" };
	uint64_t v = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert(!bytes_to_u64(bytes_str(bad[i]), 100, &v), "%s",
			  bad[i]);
	}
	cr_assert_eq(v, 42, "a refused text leaves the result alone");
	cr_assert(bytes_to_u64(BYTES("100"), 100, &v));
	cr_assert_eq(v, 100);
	cr_assert(bytes_to_u64(BYTES("007"), 100, &v));
	cr_assert_eq(v, 7);
	cr_assert(bytes_to_u64(BYTES("18446744073709551615"), UINT64_MAX, &v));
	cr_assert_eq(v, UINT64_MAX);
	cr_assert(!bytes_to_u64(BYTES("18446744073709551616"), UINT64_MAX, &v));
	cr_assert(!bytes_to_u64(BYTES("99999999999999999999"), UINT64_MAX, &v));
}

Test(bytes, writes_a_number_as_printf_does)
{
	char out[U64_DIGITS], expected[U64_DIGITS + 1];
	uint64_t n = 1;

	for (int i = 0; i < 64; i++, n *= 2) {
		for (uint64_t v = n - 1; v <= n + 1; v++) {
			int digits = snprintf(expected, sizeof(expected),
					      "%" PRIu64, v);

			cr_assert_eq(bytes_from_u64(v, out), (size_t)digits);
			cr_assert_arr_eq(out, expected, (size_t)digits);
		}
	}
	cr_assert_eq(bytes_from_u64(UINT64_MAX, out), U64_DIGITS);
	cr_assert_arr_eq(out, "18446744073709551615", U64_DIGITS);
}

Test(bytes, knows_utf8)
{
	static const char *const good[] = { "",
					    "plain",
					    "plain text of 2 words.",
					    "longer t\xc3\xa9xt",
					    "\xc3\xa9",
					    "\xe7\xba\xa2\xe5\x8c\x85",
					    "\xf0\x9f\xa7\xa7",
					    "\xed\x9f\xbf",
					    "\xee\x80\x80",
					    "\xf4\x8f\xbf\xbf" };
	static const char *const bad[] = {
		"\x80",
		"\xc0\xaf",
		"\xc1\xbf",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xc3",
		"\xe7\xba",
		"\xf0\x9f\xa7",
		"a\xffz",
		"eight of\xc3",
		"eight o\xc3 and more",
		"\xc3(",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert(bytes_utf8(bytes_str(good[i])), "good %zu", i);
		cr_assert_eq(bytes_ascii(bytes_str(good[i])), i < 3);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert(!bytes_utf8(bytes_str(bad[i])), "bad %zu", i);
		cr_assert(!bytes_ascii(bytes_str(bad[i])), "bad %zu", i);
	}
}

static const char *readable(struct bytes b, size_t size)
{
	static char out[64];
	size_t n;

	memset(out, 'x', sizeof(out));
	n = bytes_readable(b, out, size);
	cr_assert_eq(n, strlen(out));
	cr_assert_lt(n, size);
	cr_assert(bytes_utf8(bytes_make(out, n)));
	return out;
}

Test(bytes, makes_readable_what_a_stranger_wrote)
{
	cr_assert_str_eq(readable(BYTES("plain"), 6), "plain");
	cr_assert_str_eq(readable(BYTES("plain"), 5), "plai");
	cr_assert_str_eq(readable(BYTES("plain"), 1), "");
	cr_assert_str_eq(readable(BYTES(""), 9), "");
	cr_assert_str_eq(readable(BYTES("a\0b\x1b[1m\x7f\n"), 20), "a?b?[1m??");
	cr_assert_str_eq(readable(BYTES("caf\xe9!"), 20), "caf?!");
	cr_assert_str_eq(readable(BYTES("\xff\xfe\xfd"), 3), "??");
	/* A character that does not fit is left out, all of it. */
	cr_assert_str_eq(readable(BYTES("ab\xe7\xba\xa2"), 6),
			 "ab\xe7\xba\xa2");
	cr_assert_str_eq(readable(BYTES("ab\xe7\xba\xa2"), 5), "ab");
	cr_assert_str_eq(readable(BYTES("ab\xe7\xba"), 5), "ab??");
}
