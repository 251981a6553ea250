/**
 * A view of bytes that somebody else owns. Passed by value; valid as long as
 * its owner says. Never NUL-terminated by contract.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *p; /* first byte; may be NULL if n is 0 */
	size_t n;         /* length in bytes */
};

/** A view of a string literal, without its NUL. */
#define BYTES(literal) \
	((struct bytes){ (const uint8_t *)("" literal), sizeof(literal) - 1 })

/** For printf: "%.*s", BYTES_FMT(b). */
#define BYTES_FMT(b) (int)(b).n, (const char *)(b).p

static inline struct bytes bytes_make(const void *p, size_t n)
{
	return (struct bytes){ p, n };
}

/** A view of a C string, without its NUL. NULL gives an empty view. */
static inline struct bytes bytes_str(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, s != NULL ? strlen(s) : 0 };
}

static inline bool bytes_eq(struct bytes a, struct bytes b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/** Byte order, the shorter one first when one is a prefix of the other. */
int bytes_cmp(struct bytes a, struct bytes b);

/** Decimal digits only, no sign, no leading or trailing space, at most max. */
bool bytes_to_u64(struct bytes b, uint64_t max, uint64_t *out);

enum { U64_DIGITS = 20 };

/** Write n as decimal digits, without a NUL; returns how many. For what is
 * written a million times: elsewhere snprintf() says more. */
size_t bytes_from_u64(uint64_t n, char out[U64_DIGITS]);

/** No byte above 0x7f. */
bool bytes_ascii(struct bytes b);

/** Well-formed UTF-8 (RFC 3629), without surrogates and overlong forms. */
bool bytes_utf8(struct bytes b);

/** Copy text of a stranger for people to read: as many whole characters as fit,
 * control characters and what is not UTF-8 as '?', and a NUL. Returns the
 * length without it; size is at least 1. */
size_t bytes_readable(struct bytes b, char *out, size_t size);

#endif
