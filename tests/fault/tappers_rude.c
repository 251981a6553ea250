/*
 * Apps that do what an app should not do.
 */
#include "fault/tappers.h"
#include "proto/frame.h"
#include "proto/proto_util.h"

enum { DEAF_MS = 5000, FINISH_MS = 500 };

/* What was sent shall arrive, and then the connection ends. */
static void finish(struct app *a)
{
	a->state = APP_CLOSING;
	stream_finish(&a->client.stream, 0, FINISH_MS);
}

/* Half of a grab that nobody ever finishes: it must not count as one. */
static void send_half(struct app *a)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Grab grab = RAIN__GRAB__INIT;
	struct buf frame;

	grab.activity_id = to_pb_str(a->t->options.activities[0]);
	m.seq = 1000000;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m.grab = &grab;
	buf_init(&frame);
	frame_put(&frame, &m.base);
	stream_send(&a->client.stream,
		    bytes_make(buf_live(&frame).p,
			       1 + tappers_below(a->t, buf_len(&frame) - 1)));
	buf_close(&frame);
}

void app_be_rude(struct app *a)
{
	if (a->role == ROLE_DEAF) {
		stream_pause(&a->client.stream);
		a->due_ms = uv_now(&a->t->loop) + DEAF_MS;
		return;
	}
	if (a->role == ROLE_HALF) {
		send_half(a);
	} else if (a->t->phase == PHASE_RUN) {
		app_grab(a, tappers_choose(a->t, a->user));
	}
	finish(a);
}
