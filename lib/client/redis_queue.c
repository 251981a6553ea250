/* The queues: when a command leaves, when it ends, and how. */
#include <utlist.h>

#include "client/redis_internal.h"

static void timer_cb(uv_timer_t *timer);

static uint64_t now_ms(const struct redis *r)
{
	return uv_now(stream_hub_loop(r->hub));
}

void redis_count(struct redis *r, int64_t delta)
{
	r->count += delta;
	check(r->count >= 0);
	redis_metrics_in_flight(delta);
}

/* ---- Out ---- */

void redis_send(struct redis *r, struct redis_call *c)
{
	struct buf *out = stream_out(&r->stream);

	/* A closing stream takes nothing; on_close ends what is sent. */
	if (out != NULL) {
		redis_call_write(c, out);
		stream_wrote(&r->stream);
	}
	c->sent_ms = now_ms(r);
	c->due = redis_call_replies(c);
	DL_APPEND(r->sent, c);
}

void redis_pump(struct redis *r)
{
	/* Bytes that can't leave are held back here, where a command that
	 * expires is surely not executed. Once all is answered all has left. */
	while (r->waiting != NULL && r->state == REDIS_READY &&
	       stream_out(&r->stream) != NULL &&
	       (r->sent == NULL || r->stream.queued < REDIS_QUEUED_MAX)) {
		struct redis_call *c = r->waiting;

		DL_DELETE(r->waiting, c);
		redis_send(r, c);
	}
}

void redis_send_eval(struct redis *r, struct redis_call *c)
{
	check(c->script != NULL && !c->eval);
	c->eval = true;
	/* Usually it leaves at once, behind what was sent meanwhile. If the
	 * connection is no longer for commands it waits like a new one. */
	DL_APPEND(r->waiting, c);
	redis_count(r, 1);
	redis_pump(r);
}

struct redis_call *redis_take_first(struct redis *r)
{
	struct redis_call *c = r->sent;

	check(c != NULL);
	DL_DELETE(r->sent, c);
	if (!c->own) {
		redis_count(r, -1);
	}
	return c;
}

/* ---- The end of a command ---- */

void redis_finish(struct redis *r, struct redis_call *c,
		  enum redis_outcome outcome, redisReply *reply)
{
	check(c->reply == NULL);
	c->reply = reply;
	c->outcome = outcome;
	if (c->own || c->abandoned) {
		redis_call_free(c);
		return;
	}
	DL_APPEND(r->finished, c);
}

void redis_run_finished(struct redis *r)
{
	/* One at a time from the head: a callback may add to any list, and
	 * redis_free() in a callback runs this loop itself. */
	while (r->finished != NULL) {
		struct redis_call *c = r->finished;

		DL_DELETE(r->finished, c);
		redis_metrics_outcome(c->outcome);
		if (c->done != NULL) {
			c->done(c->ctx, c->outcome, c->reply);
		}
		redis_call_free(c);
	}
}

void redis_finish_sent(struct redis *r)
{
	while (r->sent != NULL) {
		redis_finish(r, redis_take_first(r), REDIS_UNKNOWN, NULL);
	}
}

/* Its reply will come, and must be told from the next one's: the call stays
 * where it is, and another takes its callback. */
static void abandon(struct redis *r, struct redis_call *c)
{
	redis_finish(r, redis_call_new_empty(c->done, c->ctx), REDIS_UNKNOWN,
		     NULL);
	c->abandoned = true;
	c->deadline_ms = UINT64_MAX;
}

/* End what is overdue and find the next deadline. The whole of the lists is
 * looked at, but only when a deadline has come that was the earliest when it
 * was set: under load about once in the shortest timeout. */
static void expire(struct redis *r)
{
	uint64_t now = now_ms(r);
	uint64_t next = UINT64_MAX;
	struct redis_call *c;
	struct redis_call *tmp;

	DL_FOREACH_SAFE(r->waiting, c, tmp)
	{
		if (c->deadline_ms <= now) {
			DL_DELETE(r->waiting, c);
			redis_count(r, -1);
			redis_finish(r, c, REDIS_NOT_EXECUTED, NULL);
		} else if (c->deadline_ms < next) {
			next = c->deadline_ms;
		}
	}
	DL_FOREACH(r->sent, c)
	{
		if (c->deadline_ms <= now) {
			abandon(r, c);
		} else if (c->deadline_ms < next) {
			next = c->deadline_ms;
		}
	}
	r->deadline_ms = next;
	redis_run_finished(r);
}

/* ---- Time ---- */

void redis_arm(struct redis *r)
{
	uint64_t now = now_ms(r);
	uint64_t due =
		r->step_ms < r->deadline_ms ? r->step_ms : r->deadline_ms;

	if (r->freed) {
		return;
	}
	if (due == UINT64_MAX) {
		(void)uv_timer_stop(&r->timer);
		return;
	}
	(void)uv_timer_start(&r->timer, timer_cb, due > now ? due - now : 0, 0);
}

static void timer_cb(uv_timer_t *timer)
{
	struct redis *r = container_of(timer, struct redis, timer);

	if (r->deadline_ms <= now_ms(r)) {
		expire(r);
	}
	if (!r->freed && r->step_ms <= now_ms(r)) {
		redis_conn_step(r);
	}
	redis_arm(r);
}
