#include "console/wrap.h"

#include "base/check.h"

static size_t length(uint8_t first)
{
	return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static void drop_blanks(struct bytes *b)
{
	while (b->n > 0 && b->p[0] == ' ') {
		*b = bytes_make(b->p + 1, b->n - 1);
	}
}

struct bytes wrap_line(struct bytes *rest, size_t columns)
{
	struct bytes line;
	size_t used = 0;
	size_t end = 0;   /* of what fits */
	size_t blank = 0; /* the last one in it */

	check(columns >= 2); /* else a wide character has no line */
	drop_blanks(rest);
	while (end < rest->n) {
		size_t n = length(rest->p[end]);
		size_t width = n < 3 ? 1 : 2;

		if (rest->p[end] == ' ') {
			blank = end;
		}
		if (used + width > columns) {
			break;
		}
		used += width;
		end += n;
	}
	if (end < rest->n && blank > 0) {
		end = blank;
	}
	line = bytes_make(rest->p, end < rest->n ? end : rest->n);
	*rest = bytes_make(rest->p + line.n, rest->n - line.n);
	drop_blanks(rest);
	return line;
}
