#include "lib/redis_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <utlist.h>

const char *fake_word(const redisReply *command, size_t i)
{
	return i < command->elements ? command->element[i]->str : "";
}

void fake_say(struct fake_conn *c, const char *text)
{
	stream_send(&c->stream, bytes_str(text));
}

void fake_say_bytes(struct fake_conn *c, struct bytes data)
{
	stream_send(&c->stream, data);
}

void fake_hang_up(struct fake_conn *c)
{
	stream_finish(&c->stream, 0, 1000);
}

static void note(struct fake *f, const redisReply *command)
{
	char *line;
	size_t n = 0;

	if (f->seen_count == FAKE_SEEN) {
		return;
	}
	line = f->seen[f->seen_count++];
	for (size_t i = 0; i < command->elements && n < FAKE_WORD; i++) {
		int k = snprintf(line + n, FAKE_WORD - n, "%s%s",
				 i > 0 ? " " : "", fake_word(command, i));

		n += (size_t)k;
	}
}

static void handle(struct fake_conn *c, const redisReply *command)
{
	struct fake *f = c->fake;
	const char *word = fake_word(command, 0);

	note(f, command);
	if (strcasecmp(word, "PING") == 0) {
		fake_say(c, f->ping != NULL ? f->ping : "+PONG\r\n");
	} else if (strcasecmp(word, "AUTH") == 0) {
		fake_say(c, f->auth != NULL ? f->auth : "+OK\r\n");
	} else if (strcasecmp(word, "SELECT") == 0 ||
		   strcasecmp(word, "CLIENT") == 0) {
		fake_say(c, "+OK\r\n");
	} else {
		f->commands++;
		if (f->on_command != NULL) {
			f->on_command(c, command);
		}
	}
}

static size_t on_data(struct stream *s, struct bytes data)
{
	struct fake_conn *c = container_of(s, struct fake_conn, stream);
	void *command;

	cr_assert_eq(redisReaderFeed(c->reader, (const char *)data.p, data.n),
		     REDIS_OK);
	while (!s->closing) {
		cr_assert_eq(redisReaderGetReply(c->reader, &command), REDIS_OK,
			     "the client sends no RESP: %s", c->reader->errstr);
		if (command == NULL) {
			break;
		}
		handle(c, command);
		freeReplyObject(command);
	}
	return data.n;
}

static void on_close(struct stream *s, int why)
{
	struct fake_conn *c = container_of(s, struct fake_conn, stream);

	(void)why;
	if (c->fake != NULL) {
		DL_DELETE(c->fake->conns, c);
	}
	redisReaderFree(c->reader);
	free(c);
}

static const struct stream_ops ops = {
	.on_data = on_data,
	.on_close = on_close,
};

static void accept_cb(void *ctx, int fd)
{
	struct fake *f = ctx;
	struct fake_conn *c = xcalloc(1, sizeof(*c));

	f->accepted++;
	c->fake = f;
	c->reader = redisReaderCreate();
	DL_PREPEND(f->conns, c);
	stream_start(&c->stream, f->hub, fd, &ops, 1 << 20, SIZE_MAX);
	if (f->deaf) {
		stream_pause(&c->stream);
	}
	if (f->on_accept != NULL) {
		fake_say(c, f->on_accept);
		fake_hang_up(c);
	}
}

void fake_open(struct fake *f, struct stream_hub *hub)
{
	memset(f, 0, sizeof(*f));
	f->hub = hub;
	snprintf(f->dir, sizeof(f->dir), "/tmp/rain-fake-XXXXXX");
	cr_assert_not_null(mkdtemp(f->dir));
	snprintf(f->url, sizeof(f->url), "unix:%s/sock", f->dir);
	cr_assert_eq(listener_new(stream_hub_loop(hub), f->url, accept_cb, f,
				  &f->listener),
		     0);
}

void fake_close(struct fake *f)
{
	struct fake_conn *c;

	DL_FOREACH(f->conns, c)
	{
		c->fake = NULL;
		stream_close(&c->stream, 0);
	}
	listener_free(f->listener);
	(void)unlink(f->url + strlen("unix:"));
	(void)rmdir(f->dir);
}

void fake_repeat(struct fake_conn *c, const redisReply *command)
{
	for (size_t i = 1; i < command->elements; i++) {
		fake_say(c, i > 1 ? " " : "");
		fake_say(c, fake_word(command, i));
	}
	fake_say(c, "\r\n");
}
