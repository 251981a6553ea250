#include "lib/turns.h"

#include <stdio.h>
#include <stdlib.h>

static void late_cb(uv_timer_t *timer)
{
	struct turns *t = container_of(timer, struct turns, timer);

	t->late = true;
}

static void closed_cb(uv_handle_t *handle)
{
	free(container_of(handle, struct turns, timer));
}

struct turns *turns_start(uv_loop_t *loop, uint64_t ms)
{
	struct turns *t = xcalloc(1, sizeof(*t));

	cr_assert(uv_timer_init(loop, &t->timer) == 0);
	cr_assert(uv_timer_start(&t->timer, late_cb, ms, 0) == 0);
	return t;
}

void turns_stop(struct turns *t)
{
	uv_close((uv_handle_t *)&t->timer, closed_cb);
}

static void name_cb(uv_handle_t *handle, void *arg)
{
	(void)arg;
	fprintf(stderr, "still open: %s%s\n",
		uv_handle_type_name(uv_handle_get_type(handle)),
		uv_is_closing(handle) ? " (closing)" : "");
}

void turns_end(uv_loop_t *loop)
{
	struct turns *t = turns_start(loop, 30000);
	bool late;
	int rv;

	/* Only what is left may keep the loop alive, not the watch itself. */
	uv_unref((uv_handle_t *)&t->timer);
	while (!t->late && uv_run(loop, UV_RUN_ONCE) != 0) {
	}
	late = t->late;
	turns_stop(t);
	(void)uv_run(loop, UV_RUN_NOWAIT);
	rv = uv_loop_close(loop);
	if (rv != 0) {
		uv_walk(loop, name_cb, NULL);
	}
	cr_assert(!late && rv == 0, "the loop is not at its end");
}
