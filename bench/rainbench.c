/*
 * rainbench: taps on a gateway as an audience does, and measures what comes
 * back.
 *
 *   rainbench.c        threads, times, signals
 *   options.c          what is asked for (options_check.c: whether it makes
 *                      sense, options_help.c)
 *   team.c             a thread with its connections (team_connect.c), taps
 *                      (team_tap.c) and answers (team_answer.c)
 *   schedule.c, walk.c when the next tap is due, and of whom it is
 *   tally.c, winners.c what came of it
 *   report.c           what is told of it (_text, _json, _hgrm)
 *   watch.c            what other processes use meanwhile
 *   progress.c         how it goes
 *   echo.c             rain-echo, to compare with
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/team.h"

enum {
	EXIT_NOTHING = 1,
	EXIT_USAGE = 2,
	FILES_BESIDE = 64, /* that are not connections, and some a thread */
	TOKEN_MS = 24 * 3600 * 1000,
};

struct run {
	struct bench bench;
	struct team *teams;
	uv_loop_t loop;
	uv_async_t news;
	uv_timer_t progress;
	uv_timer_t phase; /* the next look at the processors */
	bool measuring;
	struct watch watch;
	uv_signal_t term;
	uv_signal_t interrupt;
	struct progress shown;
};

/* ---- Preparations ---- */

static void need_files(const struct options *o)
{
	struct rlimit files;
	uint64_t need = o->conns + FILES_BESIDE + 8 * o->threads;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
		return;
	}
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < need) {
		bench_stop("--conns %" PRIu64
			   ": a process here may have %" PRIu64
			   " files, so at most %" PRIu64 " connections",
			   o->conns, (uint64_t)files.rlim_cur,
			   (uint64_t)files.rlim_cur - (need - o->conns));
	}
}

/* What was appended to why, a line, without its end. */
static const char *line_of(struct buf *why)
{
	char *text;

	buf_put_u8(why, '\0');
	text = (char *)(why->mem + why->head);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static struct token_keys *load_keys(const struct options *o, struct bench *b)
{
	struct token_keys *keys = NULL;
	struct buf why;

	buf_init(&why);
	if (o->scope != SCOPE_ECHO) {
		keys = token_keys_load(o->keys, &why);
		if (keys == NULL) {
			bench_stop("--keys: %s", line_of(&why));
		}
	}
	if (o->scope == SCOPE_FRONT &&
	    token_sign(keys, NULL, BYTES("rainbench"), true,
		       clock_wall_ms() + TOKEN_MS, &b->front_token,
		       &why) != 0) {
		bench_stop("--keys: no token could be signed: %s",
			   line_of(&why));
	}
	buf_close(&why);
	return keys;
}

/* ---- While it runs ---- */

static void wake_all(struct run *r)
{
	for (uint64_t i = 0; i < r->bench.options->threads; i++) {
		team_wake(&r->teams[i]);
	}
}

/* The window begins, and ends. */
static void phase_cb(uv_timer_t *timer)
{
	struct run *r = timer->data;
	const struct options *o = r->bench.options;

	if (r->measuring) {
		r->measuring = false;
		watch_look(o, &r->watch.to);
		return;
	}
	r->measuring = true;
	watch_look(o, &r->watch.from);
	if (o->duration_ms > 0) {
		(void)uv_timer_start(timer, phase_cb,
				     o->duration_ms - o->warmup_ms, 0);
	}
}

/* It ends before its time. */
static void end_phase(struct run *r)
{
	(void)uv_timer_stop(&r->phase);
	if (r->measuring) {
		phase_cb(&r->phase);
	}
}

/* All connections stand: the first tap may leave. */
static void begin(struct run *r)
{
	const struct options *o = r->bench.options;
	uint64_t now = clock_mono_us();

	r->bench.count_from_us = now + o->warmup_ms * 1000;
	atomic_store(&r->bench.ends_us, o->duration_ms > 0
						? now + o->duration_ms * 1000
						: UINT64_MAX / 2);
	atomic_store(&r->bench.began_us, now);
	progress_began(&r->shown);
	uv_update_time(&r->loop);
	(void)uv_timer_start(&r->phase, phase_cb, o->warmup_ms, 0);
	wake_all(r);
}

static void close_all(struct run *r)
{
	uv_close((uv_handle_t *)&r->news, NULL);
	uv_close((uv_handle_t *)&r->progress, NULL);
	uv_close((uv_handle_t *)&r->phase, NULL);
	uv_close((uv_handle_t *)&r->term, NULL);
	uv_close((uv_handle_t *)&r->interrupt, NULL);
}

static void news_cb(uv_async_t *async)
{
	struct run *r = async->data;
	uint64_t threads = r->bench.options->threads;

	if (atomic_load(&r->bench.began_us) == 0 &&
	    atomic_load(&r->bench.standing) == threads) {
		begin(r);
	}
	if (atomic_load(&r->bench.ended) == threads &&
	    !uv_is_closing((uv_handle_t *)async)) {
		end_phase(r);
		close_all(r);
	}
}

static void news(struct bench *b)
{
	struct run *r = container_of(b, struct run, bench);

	(void)uv_async_send(&r->news);
}

static void signal_cb(uv_signal_t *handle, int signum)
{
	struct run *r = handle->data;
	uint64_t now = clock_mono_us();

	(void)signum;
	if (atomic_load(&r->bench.began_us) == 0) {
		bench_stop("ended before all connections were up");
	}
	if (now < atomic_load(&r->bench.ends_us)) {
		atomic_store(&r->bench.ends_us, now);
		end_phase(r);
		wake_all(r);
	}
}

static void progress_cb(uv_timer_t *timer)
{
	struct run *r = timer->data;

	progress_show(&r->shown, &r->bench, r->teams);
}

static void run_all(struct run *r)
{
	const struct options *o = r->bench.options;

	check(uv_loop_init(&r->loop) == 0);
	check(uv_async_init(&r->loop, &r->news, news_cb) == 0);
	check(uv_timer_init(&r->loop, &r->progress) == 0);
	check(uv_timer_init(&r->loop, &r->phase) == 0);
	check(uv_signal_init(&r->loop, &r->term) == 0);
	check(uv_signal_init(&r->loop, &r->interrupt) == 0);
	r->phase.data = r->news.data = r->progress.data = r->term.data =
		r->interrupt.data = r;
	(void)uv_signal_start(&r->term, signal_cb, SIGTERM);
	(void)uv_signal_start(&r->interrupt, signal_cb, SIGINT);
	(void)uv_timer_start(&r->progress, progress_cb, 1000, 1000);
	progress_init(&r->shown, o);
	r->bench.news = news;
	for (uint64_t i = 0; i < o->threads; i++) {
		team_start(&r->teams[i], &r->bench, (unsigned)i);
	}
	(void)uv_run(&r->loop, UV_RUN_DEFAULT);
	for (uint64_t i = 0; i < o->threads; i++) {
		team_join(&r->teams[i]);
	}
	progress_end(&r->shown);
	check(uv_loop_close(&r->loop) == 0);
}

/* ---- Afterwards ---- */

/* Until the time was over, or the last answer when all have tapped before. */
static uint64_t window(const struct run *r)
{
	uint64_t from = r->bench.count_from_us;
	uint64_t ends = atomic_load(&r->bench.ends_us);
	uint64_t last = 0;
	bool tapped_out = !r->bench.options->idle;

	for (uint64_t i = 0; i < r->bench.options->threads; i++) {
		tapped_out = tapped_out && team_tapped_out(&r->teams[i]);
		if (r->teams[i].last_us > last) {
			last = r->teams[i].last_us;
		}
	}
	if (tapped_out && last < ends) {
		ends = last;
	}
	return ends > from ? ends - from : 0;
}

static void collect(const struct run *r, struct report *report,
		    struct tally *sum)
{
	report->options = r->bench.options;
	report->tally = sum;
	report->watch = &r->watch;
	report->window_us = window(r);
	for (uint64_t i = 0; i < r->bench.options->threads; i++) {
		const struct team *t = &r->teams[i];

		tally_merge(sum, t->tally);
		report->held += t->held;
		report->refused += t->refused;
		report->unresolved += t->unsure;
		if (t->front_max > 0) {
			report->front_max = t->front_max;
		}
		if (report->refusal[0] == '\0') {
			memcpy(report->refusal, t->refusal,
			       sizeof report->refusal);
		}
		if (report->window_us > 0) {
			report->cpu[i] =
				(double)t->cpu_us / (double)report->window_us;
		}
	}
}

static void write_hgrm(const struct options *o, const struct tally *t)
{
	FILE *out = fopen(o->hgrm, "w");

	if (out == NULL) {
		bench_stop("--hgrm %s: %s", o->hgrm, strerror(errno));
	}
	report_hgrm(&t->all, out);
	if (fclose(out) != 0) {
		bench_stop("--hgrm %s: %s", o->hgrm, strerror(errno));
	}
}

/* The exit code. */
static int tell(const struct run *r)
{
	const struct options *o = r->bench.options;
	struct report report = { 0 };
	struct tally *sum = tally_new(o->activity_count);
	bool good;

	collect(r, &report, sum);
	if (o->json) {
		report_json(&report, stdout);
	} else {
		report_text(&report, stdout);
	}
	if (o->hgrm != NULL) {
		write_hgrm(o, sum);
	}
	good = sum->wrong == 0 &&
	       (o->idle ? report.held > 0 : sum->in_window > 0);
	if (sum->wrong == 0 && !good) {
		(void)fprintf(stderr, "rainbench: nothing was measured: %s\n",
			      o->idle ? "no connection was up at the end"
				      : "no answer came in the time that "
					"counts");
	}
	tally_free(sum);
	return good ? 0 : EXIT_NOTHING;
}

static int bench(const struct options *o)
{
	struct run *r = xcalloc(1, sizeof *r);
	struct token_keys *keys;
	int code;

	need_files(o);
	buf_init(&r->bench.front_token);
	keys = load_keys(o, &r->bench);
	r->bench.options = o;
	r->bench.keys = keys;
	if (o->scope != SCOPE_ECHO && !o->idle) {
		r->bench.winners = winners_new(o->users, o->activity_count);
	}
	r->teams = xcalloc(o->threads, sizeof r->teams[0]);
	run_all(r);
	code = tell(r);
	for (uint64_t i = 0; i < o->threads; i++) {
		team_free(&r->teams[i]);
	}
	free(r->teams);
	if (r->bench.winners != NULL) {
		winners_free(r->bench.winners);
	}
	if (keys != NULL) {
		token_keys_free(keys);
	}
	buf_close(&r->bench.front_token);
	free(r);
	return code;
}

int main(int argc, char **argv)
{
	struct options o;
	struct buf why;
	int code = 0;

	buf_init(&why);
	switch (options_take(&o, argc, argv, &why)) {
	case OPTIONS_HELP:
		options_help(stdout);
		break;
	case OPTIONS_WRONG:
		(void)fprintf(stderr, "rainbench: %.*s\n",
			      BYTES_FMT(buf_live(&why)));
		code = EXIT_USAGE;
		break;
	case OPTIONS_RUN:
		code = bench(&o);
		break;
	}
	buf_close(&why);
	options_free(&o);
	return code;
}
