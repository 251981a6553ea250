#include "fault/world.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "fault/schedule.h"
#include "fault/world_internal.h"

enum {
	TICK_MS = 20,
	/* A service may take drain.timeout and relay.flush; Kafka flushes its
	 * log. The sanitizers and a busy machine want their time, too. */
	END_MS = 45000,
	READY_S = 120,
	CTL_WORDS_MAX = 7,
};

void world_path(const struct world *w, const char *name, char *out)
{
	int n = snprintf(out, PATH_BYTES, "%s/%s", w->dir, name);

	check(n > 0 && n < PATH_BYTES); /* main() bounds dir */
}

void world_clock(void)
{
	int64_t ms = clock_wall_ms();
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	(void)gmtime_r(&seconds, &tm);
	printf("%02d:%02d:%02d.%03d ", tm.tm_hour, tm.tm_min, tm.tm_sec,
	       (int)(ms % 1000));
}

void world_violation(struct world *w, const char *fmt, ...)
{
	va_list ap;

	w->violations++;
	world_clock();
	printf("violation: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static void tick_cb(uv_timer_t *timer)
{
	(void)timer;
}

void world_turn(struct world *w)
{
	uv_run(&w->loop, UV_RUN_ONCE);
}

int world_run(struct world *w, struct child *c, const char *const *args,
	      uint64_t ms)
{
	uint64_t end = uv_now(&w->loop) + ms;
	bool late = false;

	if (child_start(c, &w->loop, args, NULL, true, NULL) != 0) {
		late = true;
	}
	while (!child_ended(c)) {
		world_turn(w);
		if (!late && uv_now(&w->loop) >= end) {
			late = true;
			child_signal(c, SIGKILL);
		}
	}
	return late ? -1 : c->code;
}

int world_ctl(struct world *w, struct child *c, uint64_t ms,
	      const char *const *words)
{
	char rainctl[PATH_BYTES];
	char config[PATH_BYTES];
	const char *args[CTL_WORDS_MAX + 4] = { rainctl, "--config", config };
	size_t n = 3;

	snprintf(rainctl, sizeof rainctl, "%s/rainctl", w->bin);
	world_path(w, "rainctl.ini", config);
	for (; *words != NULL; words++) {
		check(n < CTL_WORDS_MAX + 3);
		args[n++] = *words;
	}
	return world_run(w, c, args, ms);
}

static bool is_ours(enum process_id id)
{
	return id != PROCESS_REDIS && id != PROCESS_KAFKA;
}

/* Its end was asked for, or it is a violation. */
static void judge_end(struct world_process *p)
{
	int code = p->child.code;
	bool asked = p->state == PROCESS_KILLED || p->state == PROCESS_DRAINING;

	if (!asked) {
		world_violation(
			p->world,
			"%s ended unasked, code %d (its log: %s/%s.log)",
			process_name(p->id), code, p->world->dir,
			process_name(p->id));
	} else if (p->state == PROCESS_DRAINING && is_ours(p->id) &&
		   code != 0) {
		world_violation(p->world,
				"%s ended with %d after SIGTERM, not with 0",
				process_name(p->id), code);
	}
}

static void start_cb(uv_timer_t *timer)
{
	struct world_process *p =
		container_of(timer, struct world_process, timer);

	if (!p->world->ending && p->state == PROCESS_DOWN) {
		world_start_process(p);
	}
}

static void process_end_cb(struct child *c)
{
	struct world_process *p = container_of(c, struct world_process, child);

	judge_end(p);
	p->state = PROCESS_DOWN;
	if (!p->world->ending && p->down_ms > 0) {
		(void)uv_timer_start(&p->timer, start_cb, p->down_ms, 0);
	}
}

static int start_with(struct world_process *p, const char *const *args)
{
	char name[64];
	char log[PATH_BYTES];

	snprintf(name, sizeof name, "%s.log", process_name(p->id));
	world_path(p->world, name, log);
	return child_start(&p->child, &p->world->loop, args, log, false,
			   process_end_cb);
}

static int start_redis(struct world_process *p)
{
	const char *program = getenv("REDIS_SERVER");
	char dir[PATH_BYTES];
	char port[16];
	const char *args[] = { program != NULL ? program : "redis-server",
			       "--port",
			       port,
			       "--bind",
			       "127.0.0.1",
			       "--dir",
			       dir,
			       "--appendonly",
			       "yes",
			       "--appendfsync",
			       "always",
			       "--save",
			       "",
			       "--maxmemory-policy",
			       "noeviction",
			       NULL };

	world_path(p->world, "redis", dir);
	(void)mkdir(dir, 0755);
	snprintf(port, sizeof port, "%d", p->port);
	return start_with(p, args);
}

static int start_kafka(struct world_process *p)
{
	char script[PATH_BYTES];
	char dir[PATH_BYTES];
	char port[16];
	char controller[16];
	const char *args[] = {
		"sh", script, "run", dir, port, controller, NULL
	};

	snprintf(script, sizeof script, "%s/deploy/kafka/kafka.sh",
		 p->world->source);
	world_path(p->world, "kafka", dir);
	snprintf(port, sizeof port, "%d", p->port);
	snprintf(controller, sizeof controller, "%d", p->world->kafka_ports[1]);
	return start_with(p, args);
}

static int start_service(struct world_process *p)
{
	const char *name = process_name(p->id);
	size_t len = strlen(name);
	char program[PATH_BYTES];
	char file[64];
	char config[PATH_BYTES];
	const char *args[] = { program, "--config", config, NULL };

	/* "grab-service-2" is the second grab-service. */
	if (name[len - 2] == '-') {
		len -= 2;
	}
	snprintf(program, sizeof program, "%s/%.*s", p->world->bin, (int)len,
		 name);
	snprintf(file, sizeof file, "%s.ini", name);
	world_path(p->world, file, config);
	return start_with(p, args);
}

void world_start_process(struct world_process *p)
{
	int rv;

	check(p->state == PROCESS_DOWN);
	p->starts++;
	p->down_ms = 0;
	if (p->id == PROCESS_REDIS) {
		rv = start_redis(p);
	} else if (p->id == PROCESS_KAFKA) {
		rv = start_kafka(p);
	} else {
		rv = start_service(p);
	}
	if (rv != 0) {
		world_violation(p->world, "%s does not start: %s",
				process_name(p->id), uv_strerror(rv));
		return;
	}
	p->state = PROCESS_UP;
}

static void init_timers(struct world *w)
{
	int rv = 0;

	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		struct world_process *p = &w->processes[i];

		p->world = w;
		p->id = (enum process_id)i;
		rv |= uv_timer_init(&w->loop, &p->timer);
	}
	for (size_t i = 0; i < LINK_COUNT; i++) {
		w->links[i].world = w;
		w->links[i].id = (enum link_id)i;
		rv |= uv_timer_init(&w->loop, &w->links[i].timer);
	}
	rv |= uv_timer_init(&w->loop, &w->tick);
	rv |= uv_timer_start(&w->tick, tick_cb, TICK_MS, TICK_MS);
	check(rv == 0); /* timers need nothing of the system */
}

bool world_open(struct world *w, const char *bin, const char *source,
		const char *dir)
{
	int rv = uv_loop_init(&w->loop);

	if (rv != 0) {
		fprintf(stderr, "torture: %s\n", uv_strerror(rv));
		return false;
	}
	w->bin = bin;
	w->source = source;
	w->dir = dir;
	w->began_ms = uv_now(&w->loop);
	init_timers(w);
	return world_configure(w);
}

bool world_start(struct world *w)
{
	const char *const words[] = { "doctor", "--quiet", "--wait", "5",
				      NULL };
	struct child c = { 0 };
	uint64_t end = uv_now(&w->loop) + READY_S * 1000;
	bool ready = false;

	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		world_start_process(&w->processes[i]);
	}
	while (!ready && w->violations == 0 && uv_now(&w->loop) < end) {
		ready = world_ctl(w, &c, 20000, words) == 0;
	}
	if (!ready) {
		world_violation(w, "the stack did not become ready: %s",
				child_text(&c));
	}
	child_free(&c);
	return ready;
}

/* SIGTERM to processes first to last, and wait for their ends. */
static void stop_some(struct world *w, size_t first, size_t last)
{
	uint64_t end = uv_now(&w->loop) + END_MS;
	bool late = false;

	for (size_t i = first; i <= last; i++) {
		struct world_process *p = &w->processes[i];

		if (p->state == PROCESS_STOPPED) {
			child_signal(&p->child, SIGCONT);
		}
		while (is_ours(p->id) && p->child.running &&
		       !child_hears(&p->child, SIGTERM) &&
		       uv_now(&w->loop) < end) {
			world_turn(w); /* it has only just been started */
		}
		if (p->child.running && p->state != PROCESS_KILLED) {
			p->state = PROCESS_DRAINING;
			child_signal(&p->child, SIGTERM);
		}
	}
	for (size_t i = first; i <= last; i++) {
		struct world_process *p = &w->processes[i];

		while (!child_ended(&p->child)) {
			world_turn(w);
			if (!late && uv_now(&w->loop) >= end) {
				late = true;
				world_violation(w, "%s does not end",
						process_name(p->id));
			}
			if (late) {
				p->state = PROCESS_KILLED;
				child_signal(&p->child, SIGKILL);
			}
		}
	}
}

void world_stop(struct world *w)
{
	w->ending = true;
	stop_some(w, PROCESS_GATEWAY_1, PROCESS_GATEWAY_2);
	stop_some(w, PROCESS_GRAB_1, PROCESS_GRAB_2);
	stop_some(w, PROCESS_WORKER, PROCESS_WORKER);
	stop_some(w, PROCESS_REDIS, PROCESS_KAFKA);
}

void world_close(struct world *w)
{
	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		uv_close((uv_handle_t *)&w->processes[i].timer, NULL);
		child_free(&w->processes[i].child);
	}
	for (size_t i = 0; i < LINK_COUNT; i++) {
		proxy_close(&w->links[i].proxy);
		uv_close((uv_handle_t *)&w->links[i].timer, NULL);
	}
	uv_close((uv_handle_t *)&w->tick, NULL);
	(void)uv_run(&w->loop, UV_RUN_DEFAULT);
	check(uv_loop_close(&w->loop) == 0); /* nothing is left */
}
