#include <criterion/criterion.h>
#include <signal.h>

#include "console/wrap.h"

static void expect(struct bytes *rest, size_t columns, const char *line)
{
	struct bytes got = wrap_line(rest, columns);

	cr_assert(bytes_eq(got, bytes_str(line)), "\"%.*s\", not \"%s\"",
		  BYTES_FMT(got), line);
}

Test(wrap, at_blanks)
{
	struct bytes rest = BYTES("  one two  three four");

	expect(&rest, 7, "one two");
	expect(&rest, 7, "three");
	expect(&rest, 7, "four");
	expect(&rest, 7, "");
	cr_assert_eq(rest.n, 0);
}

Test(wrap, in_a_word_that_is_longer)
{
	struct bytes rest = BYTES("abcdefgh ij");

	expect(&rest, 4, "abcd");
	expect(&rest, 4, "efgh");
	expect(&rest, 4, "ij");
	cr_assert_eq(rest.n, 0);
}

Test(wrap, between_whole_characters)
{
	/* Three wide ones, and one of two bytes that is not. */
	struct bytes rest = BYTES("\xe7\xba\xa2\xe5\x8c\x85\xe7\xba\xa2\xc3\xa9"
				  "\xf0\x9f\xa7\xa7");

	expect(&rest, 5, "\xe7\xba\xa2\xe5\x8c\x85");
	expect(&rest, 5, "\xe7\xba\xa2\xc3\xa9\xf0\x9f\xa7\xa7");
	cr_assert_eq(rest.n, 0);
}

Test(wrap, not_in_one_column, .signal = SIGABRT, .timeout = 10)
{
	struct bytes rest = BYTES("\xe7\xba\xa2");

	(void)wrap_line(&rest, 1);
}
