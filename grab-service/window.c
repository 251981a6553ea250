#include "window.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void window_init(struct window *w, size_t max)
{
	check(max > 0);
	*w = (struct window){ .max = max, .acked = xcalloc(max, 1) };
}

void window_close(struct window *w)
{
	free(w->acked);
	*w = (struct window){ 0 };
}

void window_reset(struct window *w, uint64_t at)
{
	w->done = at;
	w->sent = at;
	memset(w->acked, 0, w->max);
}

size_t window_room(const struct window *w)
{
	return w->max - (size_t)(w->sent - w->done);
}

uint64_t window_send(struct window *w)
{
	check(window_room(w) > 0);
	w->sent++;
	check(w->acked[w->sent % w->max] == 0);
	return w->sent;
}

void window_unsend(struct window *w)
{
	check(w->sent > w->done);
	check(w->acked[w->sent % w->max] == 0);
	w->sent--;
}

bool window_ack(struct window *w, uint64_t at)
{
	uint64_t before = w->done;

	check(at > w->done && at <= w->sent);
	check(w->acked[at % w->max] == 0);
	w->acked[at % w->max] = 1;
	while (w->done < w->sent && w->acked[(w->done + 1) % w->max] != 0) {
		w->done++;
		w->acked[w->done % w->max] = 0;
	}
	return w->done != before;
}
