#include "fault/faults.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

enum {
	/* A service may take drain.timeout and relay.flush until it has ended;
	 * more with sanitizers on a busy machine. */
	DRAIN_MS = 40000,
	AFTER_DRAIN_MS = 300, /* before a drained one is started again */
};

static void continue_cb(uv_timer_t *timer)
{
	struct world_process *p =
		container_of(timer, struct world_process, timer);

	if (p->state == PROCESS_STOPPED) {
		p->state = PROCESS_UP;
		child_signal(&p->child, SIGCONT);
	}
}

/* Send p a signal by which its state changes. */
static void move(struct world_process *p, enum process_state state, int signum,
		 uint64_t down_ms)
{
	p->state = state;
	p->down_ms = down_ms;
	p->since_ms = uv_now(&p->world->loop);
	child_signal(&p->child, signum);
}

static bool redis_command(struct faults *f, const char *const *words)
{
	char port[16];
	const char *args[10] = { "redis-cli", "-p", port };

	if (!child_ended(&f->redis_cli)) {
		return false;
	}
	snprintf(port, sizeof port, "%d",
		 f->world->processes[PROCESS_REDIS].port);
	for (size_t i = 3; *words != NULL; words++) {
		args[i++] = *words;
	}
	return child_start(&f->redis_cli, &f->world->loop, args, NULL, true,
			   NULL) == 0;
}

/* Whether it could be done: a process that is away, or has not begun to hear
 * the signal, can't be hit. */
static bool hit_process(struct faults *f, const struct fault *what)
{
	static const char *const flush[] = { "SCRIPT", "FLUSH", NULL };
	static const char *const kill_clients[] = { "CLIENT", "KILL", "TYPE",
						    "normal", NULL };
	struct world_process *p = &f->world->processes[what->target];

	if (p->state != PROCESS_UP) {
		return false;
	}
	switch (what->kind) {
	case FAULT_KILL:
		move(p, PROCESS_KILLED, SIGKILL, what->duration_ms);
		return true;
	case FAULT_STOP:
		move(p, PROCESS_STOPPED, SIGSTOP, 0);
		(void)uv_timer_start(&p->timer, continue_cb, what->duration_ms,
				     0);
		return true;
	case FAULT_DRAIN:
		if (!child_hears(&p->child, SIGTERM)) {
			return false;
		}
		move(p, PROCESS_DRAINING, SIGTERM, what->duration_ms);
		return true;
	case FAULT_HUP:
		if (!child_hears(&p->child, SIGHUP)) {
			return false;
		}
		child_signal(&p->child, SIGHUP);
		return true;
	case FAULT_CLIENT_KILL:
		return redis_command(f, kill_clients);
	default:
		check(what->kind == FAULT_SCRIPT_FLUSH);
		return redis_command(f, flush);
	}
}

static void heal_link(struct world_link *l)
{
	int rv = proxy_pass(&l->proxy);

	if (rv != 0) {
		world_violation(l->world, "the proxy %s lost its port: %s",
				link_name(l->id), uv_strerror(rv));
	}
}

static void heal_link_cb(uv_timer_t *timer)
{
	heal_link(container_of(timer, struct world_link, timer));
}

static bool hit_link(struct faults *f, const struct fault *what)
{
	struct world_link *l = &f->world->links[what->target];
	int rv = 0;

	switch (what->kind) {
	case FAULT_DELAY:
		rv = proxy_delay(&l->proxy, what->amount);
		break;
	case FAULT_CUT:
		proxy_cut(&l->proxy);
		break;
	case FAULT_STALL_UP:
		rv = proxy_stall(&l->proxy, PROXY_UP);
		break;
	case FAULT_STALL_DOWN:
		rv = proxy_stall(&l->proxy, PROXY_DOWN);
		break;
	case FAULT_RESET:
		rv = proxy_reset(&l->proxy);
		break;
	default:
		check(what->kind == FAULT_DROP);
		rv = proxy_drop_after(&l->proxy, what->amount);
		break;
	}
	if (what->duration_ms > 0) {
		(void)uv_timer_start(&l->timer, heal_link_cb, what->duration_ms,
				     0);
	}
	return rv == 0;
}

static void due_cb(uv_timer_t *timer);

static void wait_next(struct faults *f)
{
	uint64_t now = uv_now(&f->world->loop) - f->began_ms;
	uint64_t at;

	if (f->next < f->round->fault_count) {
		at = f->round->faults[f->next].at_ms;
		(void)uv_timer_start(&f->timer, due_cb, at > now ? at - now : 0,
				     0);
	}
}

static void due_cb(uv_timer_t *timer)
{
	struct faults *f = container_of(timer, struct faults, timer);
	const struct fault *what = &f->round->faults[f->next++];
	bool done;

	done = fault_target_of(what->kind) == TARGET_LINK
		       ? hit_link(f, what)
		       : hit_process(f, what);
	if (done) {
		f->done[what->kind][what->target]++;
		world_clock();
		fault_print(what, stdout);
	} else {
		f->missed++;
	}
	wait_next(f);
}

void faults_init(struct faults *f, struct world *w)
{
	int rv;

	*f = (struct faults){ .world = w };
	rv = uv_timer_init(&w->loop, &f->timer);
	check(rv == 0); /* timers need nothing of the system */
}

void faults_start(struct faults *f, const struct round *round)
{
	check(!f->running);
	f->running = true;
	f->round = round;
	f->next = 0;
	f->began_ms = uv_now(&f->world->loop);
	wait_next(f);
}

/* One step of a process on its way back; whether it is there. */
static bool bring_back(struct world_process *p)
{
	switch (p->state) {
	case PROCESS_UP:
		return true;
	case PROCESS_STOPPED:
		uv_timer_stop(&p->timer);
		continue_cb(&p->timer);
		return true;
	case PROCESS_DOWN:
		uv_timer_stop(&p->timer);
		world_start_process(p);
		return true;
	default:
		/* When it has ended, its timer would wait for its time. */
		p->down_ms = p->down_ms < AFTER_DRAIN_MS ? p->down_ms
							 : AFTER_DRAIN_MS;
		return false;
	}
}

bool faults_heal(struct faults *f)
{
	struct world *w = f->world;
	uint64_t end = uv_now(&w->loop) + DRAIN_MS;
	bool ok = true;

	f->running = false;
	uv_timer_stop(&f->timer);
	for (size_t i = 0; i < LINK_COUNT; i++) {
		uv_timer_stop(&w->links[i].timer);
		heal_link(&w->links[i]);
	}
	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		struct world_process *p = &w->processes[i];

		while (!bring_back(p) && uv_now(&w->loop) < end) {
			world_turn(w);
		}
		if (p->state != PROCESS_UP) {
			world_violation(w,
					"%s has not ended %" PRIu64
					" ms after SIGTERM",
					process_name(p->id),
					uv_now(&w->loop) - p->since_ms);
			ok = false;
		}
	}
	return ok && w->violations == 0;
}

void faults_close(struct faults *f)
{
	uv_close((uv_handle_t *)&f->timer, NULL);
	while (!child_ended(&f->redis_cli)) {
		world_turn(f->world);
	}
	child_free(&f->redis_cli);
}

uint64_t faults_done(const struct faults *f)
{
	uint64_t sum = 0;

	for (size_t kind = 0; kind < FAULT_COUNT; kind++) {
		for (size_t i = 0; i < LINK_COUNT; i++) {
			sum += f->done[kind][i];
		}
	}
	return sum;
}

void faults_print(const struct faults *f, FILE *out)
{
	for (size_t kind = 0; kind < FAULT_COUNT; kind++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < LINK_COUNT; i++) {
			sum += f->done[kind][i];
		}
		fprintf(out, "  %-12s %4" PRIu64 " ",
			fault_kind_name((enum fault_kind)kind), sum);
		for (unsigned i = 0; i < LINK_COUNT; i++) {
			if (f->done[kind][i] > 0) {
				fprintf(out, " %s:%" PRIu64,
					fault_target_name((enum fault_kind)kind,
							  i),
					f->done[kind][i]);
			}
		}
		fputc('\n', out);
	}
	fprintf(out, "  missed       %4" PRIu64 "  (their target was away)\n",
		f->missed);
}
