/**
 * A growing buffer that owns its bytes: written at the end, read from the
 * front. An empty buffer owns no memory after buf_close() or buf_shrink().
 *
 *   mem:  | read, gone | live bytes ......... | free |
 *         0            head                   tail   size
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/bytes.h"
#include "base/check.h"

struct buf {
	uint8_t *mem; /* NULL when nothing is owned */
	size_t head;  /* first live byte */
	size_t tail;  /* one past the last live byte */
	size_t size;  /* bytes owned */
};

/** Start empty. No memory is taken yet. */
void buf_init(struct buf *b);

/** Give the memory back. The buffer is empty and usable again. */
void buf_close(struct buf *b);

/** The live bytes; valid until the next call that changes the buffer. */
struct bytes buf_live(const struct buf *b);

/** Live length in bytes. */
size_t buf_len(const struct buf *b);

/** Make room for n more bytes and return where they go; then buf_wrote(). */
uint8_t *buf_room(struct buf *b, size_t n);
void buf_wrote(struct buf *b, size_t n);

/** Append copies. */
void buf_put(struct buf *b, const void *p, size_t n);
void buf_put_bytes(struct buf *b, struct bytes v);
void buf_put_u8(struct buf *b, uint8_t v);
/** Big-endian. */
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
void printf_like(2, 3) buf_printf(struct buf *b, const char *fmt, ...);

/** Drop n bytes from the front; n is at most buf_len(). */
void buf_take(struct buf *b, size_t n);

/** Give memory back if nothing is live. */
void buf_shrink(struct buf *b);

#endif
