#include "gateway/window.h"

void window_init(struct window *w, size_t most)
{
	*w = (struct window){
		.size = most < WINDOW_FIRST ? most : WINDOW_FIRST,
		.most = most,
	};
}

static void narrow(struct window *w, uint64_t now_ms, uint64_t took_ms,
		   size_t in_flight)
{
	size_t from = in_flight < w->size ? in_flight : w->size;
	size_t least = w->most < WINDOW_LEAST ? w->most : WINDOW_LEAST;

	/* What is out was taken before the last cut: let it show first. */
	if (w->cut_ms != 0 && now_ms - w->cut_ms < took_ms) {
		return;
	}
	w->cut_ms = now_ms;
	w->size = from - from / 4;
	if (w->size < least) {
		w->size = least;
	}
}

void window_done(struct window *w, uint64_t now_ms, uint64_t took_ms,
		 uint64_t slow_ms, size_t in_flight, size_t count)
{
	if (took_ms > slow_ms) {
		narrow(w, now_ms, took_ms, in_flight);
	} else if (in_flight >= w->size / 2) {
		/* It is used. Twice as wide after some turns of all of it. */
		w->size += count / 8 + 1;
		if (w->size > w->most) {
			w->size = w->most;
		}
	}
}
