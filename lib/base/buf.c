#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE_MIN_BYTES = 64 };

static void check_invariant(const struct buf *b)
{
	check(b->head <= b->tail);
	check(b->tail <= b->size);
	check((b->mem != NULL) == (b->size > 0));
}

void buf_init(struct buf *b)
{
	*b = (struct buf){ 0 };
}

void buf_close(struct buf *b)
{
	check_invariant(b);
	free(b->mem);
	buf_init(b);
}

struct bytes buf_live(const struct buf *b)
{
	check_invariant(b);
	return b->mem != NULL ? bytes_make(b->mem + b->head, b->tail - b->head)
			      : bytes_make(NULL, 0);
}

size_t buf_len(const struct buf *b)
{
	return b->tail - b->head;
}

uint8_t *buf_room(struct buf *b, size_t n)
{
	size_t len = buf_len(b);
	size_t size = b->size;

	check_invariant(b);
	if (b->mem != NULL && b->size - b->tail >= n) {
		return b->mem + b->tail;
	}
	check(n <= SIZE_MAX / 4 && len <= SIZE_MAX / 4);
	/* Moving to the front is worth it only while at least half is gone:
	 * so every byte moves at most once on average. */
	if (b->mem != NULL && size - len >= n && b->head >= len) {
		(void)memmove(b->mem, b->mem + b->head, len);
	} else {
		uint8_t *mem;

		size = size < SIZE_MIN_BYTES ? SIZE_MIN_BYTES : size;
		while (size < len + n) {
			size *= 2;
		}
		mem = xmalloc(size);
		if (len > 0) {
			(void)memcpy(mem, b->mem + b->head, len);
		}
		free(b->mem);
		b->mem = mem;
		b->size = size;
	}
	b->head = 0;
	b->tail = len;
	check_invariant(b);
	return b->mem + b->tail;
}

void buf_wrote(struct buf *b, size_t n)
{
	check(n <= b->size - b->tail);
	b->tail += n;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	if (n > 0) {
		(void)memcpy(buf_room(b, n), p, n);
		buf_wrote(b, n);
	}
}

void buf_put_bytes(struct buf *b, struct bytes v)
{
	buf_put(b, v.p, v.n);
}

void buf_put_u8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

static void put_be(struct buf *b, uint64_t v, size_t n)
{
	uint8_t *p = buf_room(b, n);

	for (size_t i = 0; i < n; i++) {
		p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
	}
	buf_wrote(b, n);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	put_be(b, v, 4);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	put_be(b, v, 8);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;
	va_list again;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	check(n >= 0); /* our formats are valid */
	/* One more than is kept: vsnprintf() ends with a NUL. */
	(void)vsnprintf((char *)buf_room(b, (size_t)n + 1), (size_t)n + 1, fmt,
			again);
	va_end(again);
	buf_wrote(b, (size_t)n);
}

void buf_take(struct buf *b, size_t n)
{
	check(n <= buf_len(b));
	b->head += n;
	if (b->head == b->tail) {
		b->head = 0;
		b->tail = 0;
	}
}

void buf_shrink(struct buf *b)
{
	if (buf_len(b) == 0) {
		buf_close(b);
	}
}
