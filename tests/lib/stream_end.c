#include "lib/stream_end.h"

uv_loop_t loop;
struct stream_hub *hub;

static size_t on_data(struct stream *s, struct bytes data)
{
	struct end *e = container_of(s, struct end, stream);
	size_t n = data.n;

	cr_assert(e->closed == 0);
	e->calls++;
	if (e->chunk > 0) {
		n = n / e->chunk * e->chunk;
		n = e->pause && n > e->chunk ? e->chunk : n;
	}
	buf_put(&e->got, data.p, n);
	if (e->echo) {
		stream_send(s, bytes_make(data.p, n));
	}
	if (e->pause) {
		stream_pause(s);
	}
	if (e->close_on_data != 0) {
		stream_close(s, e->close_on_data);
	}
	return n;
}

static void on_open(struct stream *s)
{
	struct end *e = container_of(s, struct end, stream);

	cr_assert(e->closed == 0);
	e->opened++;
}

static void on_close(struct stream *s, int why)
{
	struct end *e = container_of(s, struct end, stream);

	e->closed++;
	e->why = why;
	buf_close(&e->got);
}

const struct stream_ops ops = {
	.on_data = on_data,
	.on_open = on_open,
	.on_close = on_close,
};

void ends_setup(void)
{
	cr_assert(uv_loop_init(&loop) == 0);
	hub = stream_hub_new(&loop);
}

void ends_teardown(void)
{
	stream_hub_free(hub);
	turns_end(&loop);
}

void end_close(struct end *e)
{
	stream_close(&e->stream, 0);
	RUN_UNTIL(&loop, e->closed == 1);
}
