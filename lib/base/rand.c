#include "base/rand.h"

#include <errno.h>
#include <sys/random.h>

#include "base/check.h"

void rand_bytes(void *p, size_t n)
{
	uint8_t *at = p;

	while (n > 0) {
		ssize_t got = getrandom(at, n, 0);

		if (got < 0) {
			check(errno == EINTR);
			continue;
		}
		at += got;
		n -= (size_t)got;
	}
}

uint64_t rand_below(uint64_t bound)
{
	uint64_t skip;
	uint64_t v;

	check(bound > 0);
	/* 2^64 mod bound: draws below it would make small results likelier. */
	skip = (UINT64_MAX - bound + 1) % bound;
	do {
		rand_bytes(&v, sizeof(v));
	} while (v < skip);
	return v % bound;
}

void hex_encode(const void *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[b[i] >> 4];
		*out++ = digits[b[i] & 15];
	}
	*out = '\0';
}

/* The value of a hex digit, -1 for any other character. */
static int digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int hex_decode(const char *text, size_t len, uint8_t *out, size_t n)
{
	if (len / 2 != n || len % 2 != 0) {
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		int high = digit(text[2 * i]);
		int low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0) {
			return -1;
		}
		out[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}
