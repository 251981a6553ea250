#include "base/bytes.h"

int bytes_cmp(struct bytes a, struct bytes b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int rv = n > 0 ? memcmp(a.p, b.p, n) : 0;

	if (rv != 0) {
		return rv;
	}
	return (a.n > b.n) - (a.n < b.n);
}

bool bytes_to_u64(struct bytes b, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (b.n == 0) {
		return false;
	}
	for (size_t i = 0; i < b.n; i++) {
		uint64_t digit = (uint64_t)b.p[i] - '0';

		if (b.p[i] < '0' || b.p[i] > '9' ||
		    v > (UINT64_MAX - digit) / 10) {
			return false;
		}
		v = v * 10 + digit;
	}
	if (v > max) {
		return false;
	}
	*out = v;
	return true;
}

size_t bytes_from_u64(uint64_t n, char out[U64_DIGITS])
{
	char digits[U64_DIGITS];
	size_t first = U64_DIGITS;

	/* Two at a time: half the divisions. */
	while (n >= 10) {
		unsigned two = (unsigned)(n % 100);

		digits[--first] = (char)('0' + two % 10);
		digits[--first] = (char)('0' + two / 10);
		n /= 100;
	}
	if (n > 0 || first == U64_DIGITS) {
		digits[--first] = (char)('0' + n);
	}
	memcpy(out, digits + first, U64_DIGITS - first);
	return U64_DIGITS - first;
}

/* What may follow a lead byte: how many bytes, and the range of the first of
 * them, which is where overlong forms and surrogates show. */
struct utf8_rule {
	uint8_t lead_min;
	uint8_t lead_max;
	uint8_t more;
	uint8_t next_min;
	uint8_t next_max;
};

static const struct utf8_rule utf8_rules[] = {
	{ 0x00, 0x7f, 0, 0x00, 0x00 }, { 0xc2, 0xdf, 1, 0x80, 0xbf },
	{ 0xe0, 0xe0, 2, 0xa0, 0xbf }, { 0xe1, 0xec, 2, 0x80, 0xbf },
	{ 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf },
	{ 0xf0, 0xf0, 3, 0x90, 0xbf }, { 0xf1, 0xf3, 3, 0x80, 0xbf },
	{ 0xf4, 0xf4, 3, 0x80, 0x8f },
};

/* Length of the well-formed character at the front of b, 0 if there is none. */
static size_t utf8_char(struct bytes b)
{
	const struct utf8_rule *r = utf8_rules;
	const struct utf8_rule *end =
		utf8_rules + sizeof(utf8_rules) / sizeof(utf8_rules[0]);

	while (r < end && (b.p[0] < r->lead_min || b.p[0] > r->lead_max)) {
		r++;
	}
	if (r == end || b.n < (size_t)r->more + 1) {
		return 0;
	}
	for (size_t i = 1; i <= r->more; i++) {
		uint8_t min = i == 1 ? r->next_min : 0x80;
		uint8_t max = i == 1 ? r->next_max : 0xbf;

		if (b.p[i] < min || b.p[i] > max) {
			return 0;
		}
	}
	return (size_t)r->more + 1;
}

/* How many bytes at the front are ASCII. */
static size_t ascii(struct bytes b)
{
	const uint64_t high = 0x8080808080808080U;
	uint64_t word = 0;
	size_t n = 0;

	while (b.n - n >= sizeof(word)) {
		(void)memcpy(&word, b.p + n, sizeof(word));
		if ((word & high) != 0) {
			break;
		}
		n += sizeof(word);
	}
	while (n < b.n && b.p[n] < 0x80) {
		n++;
	}
	return n;
}

bool bytes_ascii(struct bytes b)
{
	return ascii(b) == b.n;
}

bool bytes_utf8(struct bytes b)
{
	size_t plain = ascii(b);

	while (plain < b.n) {
		size_t n = utf8_char(bytes_make(b.p + plain, b.n - plain));

		if (n == 0) {
			return false;
		}
		plain += n;
	}
	return true;
}

size_t bytes_readable(struct bytes b, char *out, size_t size)
{
	size_t used = 0;

	while (b.n > 0) {
		size_t n = utf8_char(b);
		bool good =
			n > 1 || (n == 1 && b.p[0] >= ' ' && b.p[0] != 0x7f);
		size_t taken = n > 0 ? n : 1;

		n = good ? n : 1;
		if (n >= size - used) {
			break;
		}
		(void)memcpy(out + used, good ? (const char *)b.p : "?", n);
		used += n;
		b = bytes_make(b.p + taken, b.n - taken);
	}
	out[used] = '\0';
	return used;
}
