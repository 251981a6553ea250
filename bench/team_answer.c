/* Answers in, and taps that have none. */
#include "base/clock.h"
#include "bench/team.h"

enum { AGAIN_MS = 500 /* who may have won, and was not told when to ask */ };

static bool due_in_window(const struct team *t, const struct tap *tap)
{
	return tap->due_us >= t->bench->count_from_us;
}

/* This user taps again in this activity. */
static void tap_later(struct connection *c, const struct tap *tap, bool unsure,
		      uint64_t ms)
{
	struct team *t = c->team;
	struct later l = { .user = tap->user,
			   .activity = tap->activity,
			   .unsure = unsure };

	if (t->bench->options->scope == SCOPE_USER) {
		l.connection = c;
		c->waiting++;
	}
	wheel_add(&t->wheel, ms, &l);
}

/* Whoever may have won and does not know asks until it does. */
static void doubt(struct team *t, const struct tap *tap, bool unsure)
{
	t->unsure += unsure;
	t->unsure -= tap->unsure;
}

static void decide(struct connection *c, const struct tap *tap,
		   const Rain__GrabReply *m)
{
	struct team *t = c->team;
	enum retry retry = t->bench->options->retry;
	bool final = tally_final((unsigned)m->status);
	bool unsure =
		m->status == RAIN__STATUS__PENDING || (tap->unsure && !final);

	doubt(t, tap, unsure);
	if (unsure || (!final && retry != RETRY_NEVER)) {
		tap_later(c, tap, unsure,
			  retry == RETRY_IGNORE ? 0 : m->retry_after_ms);
	}
}

static void feel_pulse(struct team *t, uint64_t us)
{
	struct pulse *p = &t->pulse;

	/* This thread alone adds; who takes the slowest may take it twice. */
	atomic_store_explicit(&p->answers, t->tally->answers,
			      memory_order_relaxed);
	if (us > atomic_load_explicit(&p->slowest_us, memory_order_relaxed)) {
		atomic_store_explicit(&p->slowest_us, us, memory_order_relaxed);
	}
}

void team_pulse(struct team *t)
{
	atomic_store_explicit(&t->pulse.open, t->open, memory_order_relaxed);
}

void team_on_grab(struct app_client *client, uint64_t seq,
		  const Rain__GrabReply *m)
{
	struct connection *c = client->ctx;
	struct team *t = c->team;
	uint64_t now = clock_mono_us();
	struct tally_answer a;
	struct tap tap;

	if (!taps_take(&c->taps, seq, &tap)) {
		t->tally->strange++;
		return;
	}
	t->open--;
	t->last_us = now;
	a = (struct tally_answer){
		.user = tap.user,
		.activity = tap.activity,
		.latency_us = now - tap.due_us,
		.due_in_window = due_in_window(t, &tap),
		.in_window =
			now >= t->bench->count_from_us && !team_over(t, now),
	};
	tally_count(t->tally, t->bench->winners, &a, m);
	feel_pulse(t, a.latency_us);
	decide(c, &tap, m);
	connection_go_on(c);
	connection_next_user(c);
}

bool team_on_tap_error(struct connection *c, uint64_t seq)
{
	struct team *t = c->team;
	struct tap tap;

	if (!taps_take(&c->taps, seq, &tap)) {
		return false;
	}
	t->open--;
	t->last_us = clock_mono_us();
	t->tally->errors++;
	tally_give_up(t->tally, t->last_us - tap.due_us,
		      due_in_window(t, &tap));
	if (tap.unsure) {
		tap_later(c, &tap, true, AGAIN_MS);
	}
	connection_go_on(c);
	connection_next_user(c);
	return true;
}

void connection_lose_taps(struct connection *c)
{
	struct team *t = c->team;
	uint64_t now = clock_mono_us();
	bool knows = t->bench->options->scope == SCOPE_ECHO;
	struct tap tap;
	size_t from = 0;

	while (taps_take_all(&c->taps, &from, &tap)) {
		t->open--;
		t->tally->lost++;
		tally_give_up(t->tally, now - tap.due_us,
			      due_in_window(t, &tap));
		if (!knows) {
			doubt(t, &tap, true);
			tap_later(c, &tap, true, 0);
		}
	}
}

void team_give_up(struct team *t)
{
	uint64_t now = clock_mono_us();
	struct tap tap;

	for (uint64_t i = 0; i < t->count; i++) {
		struct connection *c = &t->connections[i];
		size_t from = 0;

		while (taps_take_all(&c->taps, &from, &tap)) {
			t->open--;
			t->tally->unanswered++;
			tally_give_up(t->tally, now - tap.due_us,
				      due_in_window(t, &tap));
		}
	}
}
