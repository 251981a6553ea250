#include "base/amount.h"

#include <inttypes.h>
#include <stdio.h>

bool amount_parse(struct bytes text, int64_t *cents)
{
	const uint8_t *dot = text.n > 0 ? memchr(text.p, '.', text.n) : NULL;
	size_t whole_len = dot != NULL ? (size_t)(dot - text.p) : text.n;
	size_t part_len = dot != NULL ? text.n - whole_len - 1 : 0;
	uint64_t whole;
	uint64_t part = 0;

	if (!bytes_to_u64(bytes_make(text.p, whole_len), AMOUNT_MAX_CENTS / 100,
			  &whole)) {
		return false;
	}
	if (dot != NULL) {
		if (part_len < 1 || part_len > 2 ||
		    !bytes_to_u64(bytes_make(dot + 1, part_len), 99, &part)) {
			return false;
		}
		if (part_len == 1) {
			part *= 10;
		}
	}
	if (whole * 100 + part > AMOUNT_MAX_CENTS) {
		return false;
	}
	*cents = (int64_t)(whole * 100 + part);
	return true;
}

size_t amount_format(int64_t cents, char out[AMOUNT_TEXT_MAX])
{
	size_t n;

	check(cents >= 0 && cents <= AMOUNT_MAX_CENTS);
	n = bytes_from_u64((uint64_t)cents / 100, out);
	out[n++] = '.';
	out[n++] = (char)('0' + cents % 100 / 10);
	out[n++] = (char)('0' + cents % 10);
	out[n] = '\0';
	return n;
}

struct amount_text amount_text(int64_t cents)
{
	/* The lowest has no positive one. */
	uint64_t size = cents < 0 ? -(uint64_t)cents : (uint64_t)cents;
	struct amount_text t;
	int n = snprintf(t.text, sizeof(t.text), "%s%" PRIu64 ".%02u",
			 cents < 0 ? "-" : "", size / 100,
			 (unsigned)(size % 100));

	check(n > 0 && n < AMOUNT_TEXT_MAX);
	return t;
}
