/* One command in RESP: "*<arguments>", then "$<length>" and the bytes of each.
 *
 *   wire of a command:  $3 GET $1 k
 *   wire of a script:                          $1 1 $1 k $4 args
 *   written before it:  *2       or  *5 $7 EVALSHA $40 <sha1>
 *                                or  *5 $4 EVAL $n <source>
 *
 * A transaction is "*1 $5 MULTI", a script, whole commands, "*1 $4 EXEC". Its
 * replies are +OK, +QUEUED for each, and an array of theirs.
 */
#include <stdlib.h>

#include "client/redis_internal.h"

static size_t digits(size_t n)
{
	size_t d = 1;

	while (n >= 10) {
		n /= 10;
		d++;
	}
	return d;
}

static size_t bulk_size(size_t n)
{
	return 1 + digits(n) + 2 + n + 2;
}

static uint8_t *put(uint8_t *at, const void *p, size_t n)
{
	if (n > 0) {
		memcpy(at, p, n);
	}
	return at + n;
}

static uint8_t *put_bulk(uint8_t *at, struct bytes v)
{
	*at++ = '$';
	at += bytes_from_u64(v.n, (char *)at);
	at = put(at, "\r\n", 2);
	at = put(at, v.p, v.n);
	return put(at, "\r\n", 2);
}

static uint8_t *put_bulks(uint8_t *at, size_t argc, const struct bytes *argv)
{
	for (size_t i = 0; i < argc; i++) {
		at = put_bulk(at, argv[i]);
	}
	return at;
}

static uint8_t *put_command(uint8_t *at, const struct redis_words *w)
{
	*at++ = '*';
	at += bytes_from_u64(w->argc, (char *)at);
	at = put(at, "\r\n", 2);
	return put_bulks(at, w->argc, w->argv);
}

static struct redis_call *allocate(size_t n)
{
	struct redis_call *c = xmalloc(sizeof(*c) + n);

	*c = (struct redis_call){ .n = n };
	return c;
}

struct redis_call *redis_call_new_empty(redis_cb done, void *ctx)
{
	struct redis_call *c = allocate(0);

	c->done = done;
	c->ctx = ctx;
	return c;
}

static size_t bulks_size(size_t argc, const struct bytes *argv)
{
	size_t n = 0;

	for (size_t i = 0; i < argc; i++) {
		n += bulk_size(argv[i].n);
	}
	return n;
}

struct redis_call *redis_call_new(size_t argc, const struct bytes *argv)
{
	struct redis_call *c = allocate(bulks_size(argc, argv));
	uint8_t *at;

	check(argc > 0);
	c->argc = argc;
	at = put_bulks(c->wire, argc, argv);
	check(at == c->wire + c->n);
	return c;
}

struct redis_call *redis_call_new_script(const struct redis_script *script,
					 size_t key_count, size_t argc,
					 const struct bytes *argv,
					 size_t then_count,
					 const struct redis_words *then)
{
	char number[U64_DIGITS];
	struct bytes keys =
		bytes_make(number, bytes_from_u64(key_count, number));
	size_t n = bulk_size(keys.n) + bulks_size(argc, argv);
	struct redis_call *c;
	uint8_t *at;

	check(key_count <= argc);
	check(strlen(script->sha1) == 40);
	for (size_t i = 0; i < then_count; i++) {
		check(then[i].argc > 0);
		n += 1 + digits(then[i].argc) + 2;
		n += bulks_size(then[i].argc, then[i].argv);
	}
	c = allocate(n);
	c->script = script;
	c->argc = argc + 3;
	c->then = then_count;
	at = put_bulks(put_bulk(c->wire, keys), argc, argv);
	for (size_t i = 0; i < then_count; i++) {
		at = put_command(at, &then[i]);
	}
	check(at == c->wire + c->n);
	return c;
}

void redis_call_free(struct redis_call *c)
{
	if (c->reply != NULL) {
		freeReplyObject(c->reply);
	}
	if (c->refused != NULL) {
		freeReplyObject(c->refused);
	}
	free(c);
}

void redis_call_write(const struct redis_call *c, struct buf *out)
{
	if (c->then > 0) {
		buf_printf(out, "*1\r\n$5\r\nMULTI\r\n");
	}
	buf_printf(out, "*%zu\r\n", c->argc);
	if (c->script != NULL && c->eval) {
		buf_printf(out, "$4\r\nEVAL\r\n$%zu\r\n", c->script->source.n);
		buf_put_bytes(out, c->script->source);
		buf_put(out, "\r\n", 2);
	} else if (c->script != NULL) {
		buf_printf(out, "$7\r\nEVALSHA\r\n$40\r\n%s\r\n",
			   c->script->sha1);
	}
	buf_put(out, c->wire, c->n);
	if (c->then > 0) {
		buf_printf(out, "*1\r\n$4\r\nEXEC\r\n");
	}
}

size_t redis_call_replies(const struct redis_call *c)
{
	return c->then > 0 ? c->then + 3 : 1; /* MULTI, the script, EXEC */
}

void redis_call_take(struct redis_call *c, redisReply *reply)
{
	check(c->due > 1);
	c->due--;
	if (c->refused == NULL && reply->type == REDIS_REPLY_ERROR) {
		c->refused = reply; /* EXEC only says that there was one */
	} else {
		freeReplyObject(reply);
	}
}

redisReply *redis_call_verdict(struct redis_call *c, redisReply *last)
{
	redisReply *error = NULL;

	if (c->then == 0) {
		return last;
	}
	if (last->type == REDIS_REPLY_ERROR) {
		error = c->refused;
		c->refused = NULL;
	} else if (last->type == REDIS_REPLY_ARRAY && last->elements > 0 &&
		   last->element[0]->type == REDIS_REPLY_ERROR) {
		error = last->element[0];
		last->element[0] = NULL;
	}
	if (error == NULL) {
		return last;
	}
	freeReplyObject(last);
	return error;
}
