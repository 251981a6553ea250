#include "fault/tappers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rand.h"

enum {
	TICK_MS = 10,
	FLUSH_MS = 500,
	DRAIN_MS = 4000,
	ASK_AGAIN_MS = 200,
	RESOLVERS = 8,       /* fronts that ask for the outcomes */
	ASKS_A_TICK = 400,   /* of them all */
	TRIES = 8,           /* to find an app that is ready */
	RUDE_ONE_IN = 10,    /* apps */
	FRONT_ONE_IN = 5,    /* apps */
	QUERY_PERCENT = 8,   /* of the taps of those who have tapped before */
	NOWHERE_PERCENT = 1, /* of the taps, where there is no activity */
	WINNER_PERCENT = 30, /* of the taps of winners that go on */
	BURST_MS = 100,      /* what may be owed to the rate after a hang */
};

uint64_t tappers_below(struct tappers *t, uint64_t n)
{
	uint64_t z = (t->random += UINT64_C(0x9e3779b97f4a7c15));

	/* splitmix64: any seed is a good one. */
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % n;
}

const char *tappers_activity(const struct tappers *t, const struct person *p)
{
	return t->options
		.activities[(size_t)(p - t->persons) / t->options.users];
}

uint64_t tappers_user_of(const struct tappers *t, const struct person *p)
{
	return (uint64_t)(p - t->persons) % t->options.users;
}

void tappers_user_id(const struct tappers *t, uint64_t user, char *out)
{
	snprintf(out, ID_MAX + 1, "u%" PRIu64 "-%06" PRIu64, t->options.seed,
		 user);
}

/* The words that end the question what became of a grab, once its not_after_ms
 * has passed: there is no packet. */
static bool no_packet(Rain__Status status)
{
	switch (status) {
	case RAIN__STATUS__SOLD_OUT:
	case RAIN__STATUS__NOT_STARTED:
	case RAIN__STATUS__NOT_YET:
	case RAIN__STATUS__PAUSED:
	case RAIN__STATUS__ENDED:
	case RAIN__STATUS__NO_SUCH_ACTIVITY:
	case RAIN__STATUS__BUSY: /* docs/protocol.md: was not executed */
		return true;
	default:
		return false;
	}
}

void tappers_learn(struct tappers *t, const struct ask *ask,
		   Rain__Status status, uint32_t retry_ms)
{
	struct person *p = ask->person;

	if (status == RAIN__STATUS__WON ||
	    status == RAIN__STATUS__ALREADY_GRABBED) {
		t->counts.wins += p->won ? 0 : 1;
		p->won = true;
		p->resolved = true;
		return;
	}
	if (!ask->query) {
		p->uncertain |= status == RAIN__STATUS__PENDING;
		return;
	}
	if (t->phase != PHASE_RESOLVE) {
		return;
	}
	if (no_packet(status) && p->grabs_open == 0 &&
	    ask->not_after_ms == p->not_after_ms) {
		p->resolved = true;
		return;
	}
	p->due_ms = uv_now(&t->loop) + retry_ms + ASK_AGAIN_MS +
		    tappers_below(t, 2 * ASK_AGAIN_MS);
}

struct person *tappers_choose(struct tappers *t, uint64_t user)
{
	size_t real = t->options.activity_count - 1;
	size_t n = tappers_below(t, 100) < NOWHERE_PERCENT
			   ? real
			   : tappers_below(t, real);

	return &t->persons[n * t->options.users + user];
}

/* One tap of a random app: a winner taps on now and then, and some ask instead
 * of grabbing. */
static void tap(struct tappers *t)
{
	uint64_t user = tappers_below(t, t->options.users);
	struct app *a = NULL;
	struct person *p;

	for (int i = 0; i < TRIES && a == NULL; i++) {
		a = &t->apps[tappers_below(t, t->options.connections)];
		a = app_ready(a) ? a : NULL;
	}
	if (a == NULL || t->asks >= TAPPERS_ASKS_MAX) {
		t->counts.skipped++;
		return;
	}
	if (a->role != ROLE_FRONT) {
		user = a->user;
	}
	p = tappers_choose(t, user);
	if (p->won && tappers_below(t, 100) >= WINNER_PERCENT) {
		p = tappers_choose(t, user);
	}
	if (p->tapped && tappers_below(t, 100) < QUERY_PERCENT) {
		app_query(a, p);
	} else {
		app_grab(a, p);
	}
}

static void run(struct tappers *t, uint64_t now)
{
	uint64_t passed = now - t->last_ms;

	/* After a hang of this process the taps are not made up for. */
	t->credit += (passed > BURST_MS ? BURST_MS : passed) * t->options.rate;
	for (; t->credit >= 1000; t->credit -= 1000) {
		tap(t);
	}
}

/* The persons whose outcome is open, and the few connections that ask. */
static void begin_resolve(struct tappers *t)
{
	uint64_t all = t->options.users * t->options.activity_count;
	uint64_t fronts = 0;

	t->open = calloc(t->counts.persons + 1, sizeof *t->open);
	check(t->open != NULL);
	for (uint64_t i = 0; i < all; i++) {
		if (t->persons[i].tapped && !t->persons[i].resolved) {
			t->open[t->open_count++] = i;
		}
	}
	for (uint64_t i = 0; i < t->options.connections; i++) {
		if (fronts++ < RESOLVERS) {
			app_become_front(&t->apps[i]);
		} else {
			app_end(&t->apps[i]);
		}
	}
}

static struct app *resolver(struct tappers *t)
{
	uint64_t n = t->options.connections < RESOLVERS ? t->options.connections
							: RESOLVERS;
	struct app *a = &t->apps[tappers_below(t, n)];

	return a->role == ROLE_FRONT && app_ready(a) ? a : NULL;
}

static void resolve(struct tappers *t, uint64_t now)
{
	int64_t wall_ms = clock_wall_ms();
	size_t looked = 0;

	for (int asked = 0; asked < ASKS_A_TICK && looked < t->open_count;) {
		struct person *p;
		struct app *a;

		t->open_next = t->open_next < t->open_count ? t->open_next : 0;
		p = &t->persons[t->open[t->open_next]];
		if (p->resolved) {
			t->open[t->open_next] = t->open[--t->open_count];
			continue;
		}
		t->open_next++;
		looked++;
		if (p->asking || p->grabs_open > 0 || p->due_ms > now ||
		    p->not_after_ms > wall_ms) {
			continue; /* now it could only be PENDING */
		}
		a = resolver(t);
		if (a != NULL) {
			p->due_ms = now + ASK_AGAIN_MS;
			app_query(a, p);
		}
		asked++;
	}
}

static void enter(struct tappers *t, enum phase phase)
{
	t->phase = phase;
	t->phase_ms = uv_now(&t->loop);
	if (phase == PHASE_RESOLVE) {
		begin_resolve(t);
	}
	if (phase == PHASE_OVER) {
		t->counts.unresolved = t->open_count;
		for (uint64_t i = 0; i < t->options.connections; i++) {
			if (t->apps[i].state != APP_OVER) {
				app_end(&t->apps[i]);
			}
		}
	}
}

static void timer_cb(uv_timer_t *timer)
{
	struct tappers *t = timer->data;
	uint64_t now = uv_now(&t->loop);
	uint64_t lasted = now - t->phase_ms;

	if (t->phase != PHASE_OVER) {
		for (uint64_t i = 0; i < t->options.connections; i++) {
			app_tick(&t->apps[i], now);
		}
	}
	if (t->phase == PHASE_RUN) {
		run(t, now);
	} else if (t->phase == PHASE_DRAIN) {
		if (t->asks == 0 || lasted > DRAIN_MS) {
			enter(t, PHASE_RESOLVE);
		}
	} else if (t->phase == PHASE_RESOLVE) {
		resolve(t, now);
		if (t->open_count == 0 || lasted > t->options.patience_ms) {
			enter(t, PHASE_OVER);
		}
	}
	t->last_ms = now;
	if (now - t->flushed_ms >= FLUSH_MS) {
		t->flushed_ms = now;
		(void)fflush(t->log);
	}
}

static void signal_cb(uv_signal_t *signal, int number)
{
	struct tappers *t = signal->data;

	(void)number;
	if (t->phase == PHASE_RUN) {
		enter(t, PHASE_DRAIN);
	}
}

static bool prepare(struct tappers *t)
{
	struct token_claims claims;
	const char *why_not = "";
	struct buf token;
	struct buf why;
	bool ok;

	buf_init(&token);
	buf_init(&why);
	t->keys = token_keys_load(t->options.keys, &why);
	ok = t->keys != NULL &&
	     token_sign(t->keys, NULL, BYTES("u"), true,
			clock_wall_ms() + 60000, &token, &why) == 0 &&
	     token_verify(t->keys, buf_live(&token), clock_wall_ms(), &claims,
			  &why_not) == 0;
	if (ok && !claims.front) {
		buf_printf(&why, "the key must have the scope front");
		ok = false;
	}
	if (!ok) {
		fprintf(stderr, "fault_tappers: %s: %.*s%s\n", t->options.keys,
			BYTES_FMT(buf_live(&why)), why_not);
	}
	buf_close(&token);
	buf_close(&why);
	t->log = ok ? fopen(t->options.log, "w") : NULL;
	if (ok && t->log == NULL) {
		perror(t->options.log);
	}
	return t->log != NULL;
}

static void start(struct tappers *t)
{
	const struct tappers_options *o = &t->options;

	t->apps = calloc(o->connections, sizeof *t->apps);
	t->persons = calloc(o->activity_count * o->users, sizeof *t->persons);
	check(t->apps != NULL && t->persons != NULL);
	t->random = o->seed;
	uv_loop_init(&t->loop);
	t->hub = stream_hub_new(&t->loop);
	uv_timer_init(&t->loop, &t->timer);
	uv_signal_init(&t->loop, &t->sigterm);
	uv_signal_init(&t->loop, &t->sigint);
	t->timer.data = t->sigterm.data = t->sigint.data = t;
	uv_timer_start(&t->timer, timer_cb, TICK_MS, TICK_MS);
	uv_signal_start(&t->sigterm, signal_cb, SIGTERM);
	uv_signal_start(&t->sigint, signal_cb, SIGINT);
	t->last_ms = t->phase_ms = uv_now(&t->loop);
	t->alive = o->connections;
	for (uint64_t i = 0; i < o->connections; i++) {
		app_start(&t->apps[i], t, i % RUDE_ONE_IN == 3,
			  i % FRONT_ONE_IN == 0);
	}
}

int tappers_run(struct tappers *t)
{
	if (!prepare(t)) {
		token_keys_free(t->keys);
		return 2;
	}
	start(t);
	while (t->alive > 0) {
		uv_run(&t->loop, UV_RUN_ONCE);
	}
	uv_close((uv_handle_t *)&t->timer, NULL);
	uv_close((uv_handle_t *)&t->sigterm, NULL);
	uv_close((uv_handle_t *)&t->sigint, NULL);
	stream_hub_free(t->hub);
	uv_run(&t->loop, UV_RUN_DEFAULT);
	uv_loop_close(&t->loop);
	token_keys_free(t->keys);
	free(t->apps);
	free(t->persons);
	free(t->open);
	if (fclose(t->log) != 0) {
		perror(t->options.log);
		return 2; /* a log with holes proves nothing */
	}
	return 0;
}
