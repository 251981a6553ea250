#include "proto/proto_util.h"

#include <stdalign.h>
#include <stdlib.h>

enum { CHUNK_MIN = 512 };

/*
 * Memory of one message: chunks, each twice the one before, given back at
 * once. The message itself is the first thing allocated, right behind the head
 * of the first chunk, so that proto_free() finds the arena.
 */
struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	alignas(max_align_t) uint8_t mem[];
};

struct arena {
	struct chunk *first;
	struct chunk *last;
	size_t left; /* bytes that may still be taken */
	size_t grow; /* size of the next chunk */
};

static struct chunk *add_chunk(struct arena *a, size_t need)
{
	size_t n = a->grow > need ? a->grow : need;
	struct chunk *c;

	if (n > a->left) {
		n = a->left;
	}
	if (n < need) {
		return NULL;
	}
	c = xmalloc(sizeof *c + n);
	*c = (struct chunk){ .size = n };
	a->left -= n;
	a->grow = n * 2;
	if (a->last != NULL) {
		a->last->next = c;
	} else {
		a->first = c;
	}
	a->last = c;
	return c;
}

static void *arena_alloc(void *ctx, size_t n)
{
	struct arena *a = ctx;
	struct chunk *c = a->last;
	void *p;

	if (n > SIZE_MAX / 2) {
		return NULL;
	}
	n = (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (c == NULL || c->size - c->used < n) {
		c = add_chunk(a, n);
		if (c == NULL) {
			return NULL;
		}
	}
	p = c->mem + c->used;
	c->used += n;
	return p;
}

static void arena_free(void *ctx, void *p)
{
	(void)ctx;
	(void)p;
}

static void free_chunks(struct chunk *c)
{
	while (c != NULL) {
		struct chunk *next = c->next;

		free(c);
		c = next;
	}
}

static bool check_message(const ProtobufCMessage *m);

/* One value of a field: text, or a message with text in it. */
static bool check_value(const ProtobufCFieldDescriptor *f, const void *at)
{
	if (f->type == PROTOBUF_C_TYPE_BYTES) {
		return bytes_utf8(from_pb(*(const ProtobufCBinaryData *)at));
	} else {
		const ProtobufCMessage *sub =
			*(const ProtobufCMessage *const *)at;

		return sub == NULL || check_message(sub);
	}
}

static bool check_field(const ProtobufCMessage *m,
			const ProtobufCFieldDescriptor *f)
{
	const uint8_t *base = (const uint8_t *)m;
	const void *at = base + f->offset;
	const void *quantifier = base + f->quantifier_offset;
	size_t size = f->type == PROTOBUF_C_TYPE_BYTES
			      ? sizeof(ProtobufCBinaryData)
			      : sizeof(ProtobufCMessage *);

	if (f->type != PROTOBUF_C_TYPE_BYTES &&
	    f->type != PROTOBUF_C_TYPE_MESSAGE) {
		return true;
	}
	if (f->label == PROTOBUF_C_LABEL_REPEATED) {
		size_t n = *(const size_t *)quantifier;
		const uint8_t *items = *(const uint8_t *const *)at;

		for (size_t i = 0; i < n; i++) {
			if (!check_value(f, items + i * size)) {
				return false;
			}
		}
		return true;
	}
	/* The members of a oneof share their place: only one is there. */
	if ((f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
	    *(const uint32_t *)quantifier != f->id) {
		return true;
	}
	return check_value(f, at);
}

static bool check_message(const ProtobufCMessage *m)
{
	if (m->n_unknown_fields > PROTO_UNKNOWN_MAX) {
		return false;
	}
	/* There is no field 0. protobuf-c refuses it in its short form only. */
	for (size_t i = 0; i < m->n_unknown_fields; i++) {
		if (m->unknown_fields[i].tag == 0) {
			return false;
		}
	}
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		if (!check_field(m, &m->descriptor->fields[i])) {
			return false;
		}
	}
	return true;
}

void *proto_unpack(const ProtobufCMessageDescriptor *d, struct bytes data,
		   size_t arena_max)
{
	struct arena arena = { .left = arena_max,
			       .grow = d->sizeof_message + data.n * 2 };
	ProtobufCAllocator allocator = { .alloc = arena_alloc,
					 .free = arena_free,
					 .allocator_data = &arena };
	ProtobufCMessage *m;

	if (arena.grow < CHUNK_MIN) {
		arena.grow = CHUNK_MIN;
	}
	m = protobuf_c_message_unpack(d, &allocator, data.n, data.p);
	if (m == NULL || !check_message(m)) {
		free_chunks(arena.first);
		return NULL;
	}
	check((uint8_t *)m == arena.first->mem);
	return m;
}

void proto_free(void *message)
{
	if (message != NULL) {
		free_chunks(container_of(message, struct chunk, mem));
	}
}
