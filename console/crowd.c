#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/err.h"
#include "console/crowd_internal.h"

void crowd_user_id(const struct crowd *crowd, uint64_t number, char *out)
{
	snprintf(out, ID_MAX + 1, "%.40s-%06" PRIu64, crowd->options.prefix,
		 number);
}

void crowd_unwait(struct user *u)
{
	if (u->waiting) {
		DL_DELETE2(u->st->wheel[u->slot], u, wheel_prev, wheel_next);
		u->waiting = false;
	}
}

void crowd_wait(struct user *u, uint64_t ms, enum next next)
{
	struct crowd_state *st = u->st;
	uint64_t ticks = ms / CROWD_TICK_MS + 1;

	crowd_unwait(u);
	if (ticks >= CROWD_WHEEL) {
		ticks = CROWD_WHEEL - 1;
	}
	u->slot = (unsigned)((st->now + ticks) % CROWD_WHEEL);
	u->next = next;
	u->waiting = true;
	DL_APPEND2(st->wheel[u->slot], u, wheel_prev, wheel_next);
}

void crowd_seat_free(struct user *u)
{
	struct crowd_state *st = u->st;

	if (st->started >= st->crowd->options.users) {
		st->seated--;
		st->over = st->seated == 0;
		return;
	}
	/* The user in this seat is new. */
	u->number = st->started++;
	u->gateway = u->number;
	u->taps = 0;
	u->attempt = 0;
	u->tapping = false;
	u->leaving = false;
	crowd_user_connect(u);
}

/* Nobody has answered for too long: everybody leaves. */
static void send_home(struct crowd_state *st)
{
	st->abandoned = true;
	st->started = st->crowd->options.users;
	for (uint64_t i = 0; i < st->seat_count; i++) {
		struct user *u = &st->seats[i];

		if (u->waiting && u->next == NEXT_CONNECT) {
			crowd_unwait(u);
			crowd_seat_free(u);
		} else if (!u->leaving) {
			crowd_unwait(u);
			u->leaving = true;
			app_client_close(&u->client);
		}
	}
}

static void timer_cb(uv_timer_t *timer)
{
	struct crowd_state *st = timer->data;
	struct crowd *crowd = st->crowd;
	uint64_t now = clock_mono_us();
	struct user *u;

	st->now = (st->now + 1) % CROWD_WHEEL;
	while ((u = st->wheel[st->now]) != NULL) {
		crowd_user_wake(u);
	}
	if (now - st->shown_us >= 1000000) {
		st->shown_us = now;
		crowd->elapsed_us = now - st->first_us;
		if (crowd->options.progress != NULL) {
			crowd->options.progress(crowd->options.ctx);
		}
	}
	if (!st->abandoned &&
	    now - st->last_us > crowd->options.patience_ms * 1000) {
		send_home(st);
	}
}

static void split_gateways(struct crowd_state *st, const char *list)
{
	while (*list != '\0' && st->gateway_count < CROWD_GATEWAYS_MAX) {
		size_t n = strcspn(list, ",");

		snprintf(st->gateways[st->gateway_count++],
			 sizeof st->gateways[0], "%.*s", (int)n, list);
		list += n + (list[n] == ',');
	}
}

int crowd_run(struct ctl *ctl, const struct crowd_options *options,
	      struct crowd *crowd)
{
	struct crowd_state *st = xcalloc(1, sizeof *st);
	uint64_t seats = options->at_once < options->users ? options->at_once
							   : options->users;

	*crowd = (struct crowd){ .options = *options, .state = st };
	crowd->packets = xcalloc(options->users, sizeof *crowd->packets);
	st->crowd = crowd;
	st->hub = ctl->hub;
	split_gateways(st, options->gateways);
	st->seats = xcalloc(seats, sizeof *st->seats);
	st->seated = st->seat_count = seats;
	st->first_us = st->last_us = st->shown_us = clock_mono_us();
	uv_timer_init(&ctl->loop, &st->timer);
	st->timer.data = st;
	uv_timer_start(&st->timer, timer_cb, CROWD_TICK_MS, CROWD_TICK_MS);
	for (uint64_t i = 0; i < seats; i++) {
		st->seats[i].st = st;
		crowd_seat_free(&st->seats[i]);
	}
	ctl_wait(ctl, &st->over);
	crowd->elapsed_us = st->last_us - st->first_us;
	uv_close((uv_handle_t *)&st->timer, NULL);
	uv_run(&ctl->loop, UV_RUN_NOWAIT);
	return st->abandoned ? CTL_UNKNOWN : CTL_OK;
}

void crowd_close(struct crowd *crowd)
{
	struct crowd_state *st = crowd->state;

	free(st->seats);
	free(st);
	free(crowd->packets);
}
