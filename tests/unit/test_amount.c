#include <criterion/criterion.h>
#include <signal.h>

#include "base/amount.h"
#include "base/rand.h"

Test(amount, reads_what_redis_and_people_write)
{
	static const struct {
		const char *text;
		int64_t cents;
	} cases[] = {
		{ "12.21", 1221 },
		{ "12.2", 1220 },
		{ "12", 1200 },
		{ "0", 0 },
		{ "0.00", 0 },
		{ "0.01", 1 },
		{ "90071992547409.91", AMOUNT_MAX_CENTS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t cents = -1;

		cr_assert(amount_parse(bytes_str(cases[i].text), &cents), "%s",
			  cases[i].text);
		cr_assert_eq(cents, cases[i].cents, "%s", cases[i].text);
	}
}

Test(amount, refuses_all_else)
{
	static const char *const bad[] = {
		"",
		".",
		".5",
		"5.",
		"1.234",
		"-1",
		"+1",
		"1e2",
		" 1",
		"1 ",
		"1,00",
		"1.2.3",
		"1.-1",
		"1. 1",
		"\xef\xbc\x91",
		"NaN",
		"0x10",
		"90071992547409.92",
		"90071992547410",
		"99999999999999999999",
		"184467440737095516.17",
	};
	int64_t cents = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert(!amount_parse(bytes_str(bad[i]), &cents), "%s",
			  bad[i]);
	}
	cr_assert_eq(cents, 42);
}

Test(amount, formats_two_decimals)
{
	char out[AMOUNT_TEXT_MAX];

	cr_assert_eq(amount_format(0, out), 4);
	cr_assert_str_eq(out, "0.00");
	(void)amount_format(5, out);
	cr_assert_str_eq(out, "0.05");
	(void)amount_format(1221, out);
	cr_assert_str_eq(out, "12.21");
	(void)amount_format(AMOUNT_MAX_CENTS, out);
	cr_assert_str_eq(out, "90071992547409.91");
}

Test(amount, reads_what_it_formats)
{
	char out[AMOUNT_TEXT_MAX];

	for (int i = 0; i < 10000; i++) {
		int64_t cents = (int64_t)rand_below(AMOUNT_MAX_CENTS);
		int64_t back = -1;
		size_t n = amount_format(cents, out);

		cr_assert(amount_parse(bytes_make(out, n), &back));
		cr_assert_eq(back, cents);
	}
}

Test(amount, no_negative_money, .signal = SIGABRT)
{
	char out[AMOUNT_TEXT_MAX];

	(void)amount_format(-1, out);
}

Test(amount, any_cents_in_a_sentence)
{
	cr_assert_str_eq(amount_text(0).text, "0.00");
	cr_assert_str_eq(amount_text(7).text, "0.07");
	cr_assert_str_eq(amount_text(-7).text, "-0.07");
	cr_assert_str_eq(amount_text(-150).text, "-1.50");
	cr_assert_str_eq(amount_text(AMOUNT_MAX_CENTS + 1).text,
			 "90071992547409.92");
	cr_assert_str_eq(amount_text(INT64_MAX).text, "92233720368547758.07");
	cr_assert_str_eq(amount_text(INT64_MIN).text, "-92233720368547758.08");
}
