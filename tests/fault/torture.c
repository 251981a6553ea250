/*
 * The whole path under faults: real processes with proxies between them, kills
 * and stops at random moments chosen by a seed, people who tap all the while,
 * an operator who works, and a checker in whose eyes nothing may be wrong.
 *
 *   torture.c     options, the run, what it says at its end
 *   schedule.c    what will happen, from a seed (targets.h: to whom)
 *   rounds.c      one round: prepare, rain, heal, settle, compare
 *   activities.c  the operator; foreign.c a console of somebody else
 *   faults.c      faults done and undone
 *   world.c       the processes, child.c how they run, proxy.c what is between
 *   watch.c       memory, open files, logs
 *
 * Exit: 0 no violation, 1 violations, 2 usage or no stack.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/rand.h"
#include "fault/rounds.h"
#include "fault/summary.h"

enum {
	MINUTES_MAX = 24 * 60,
	DIR_BYTES = 160,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	RATE = 250, /* of taps a second: the sanitizers are slow */
#else
	RATE = 800,
#endif
};

struct options {
	uint64_t seed;
	uint64_t minutes;
	uint64_t rate;
	const char *dir;
	const char *target; /* only what has this in its name; NULL: all */
	bool print;         /* only the schedule */
	bool keep;          /* the directory of a good run */
	bool hold; /* everything running after a violation, until Ctrl-C */
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: fault_torture [--seed N] [--minutes M] [--rate N] "
		"[--target TEXT] [--dir DIR] [--keep] [--hold] [--print]\n"
		"RAIN_BIN names the folder of the programs, RAIN_SOURCE the "
		"source tree\n");
}

static bool number(const char *text, uint64_t max, uint64_t *out)
{
	return text != NULL && bytes_to_u64(bytes_str(text), max, out);
}

static bool parse(struct options *o, int argc, char **argv)
{
	bool ok = true;

	rand_bytes(&o->seed, sizeof o->seed);
	o->seed %= 1000000000;
	o->minutes = 5;
	o->rate = RATE;
	for (int i = 1; i < argc && ok; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--print") == 0) {
			o->print = true;
			continue;
		}
		if (strcmp(argv[i], "--keep") == 0) {
			o->keep = true;
			continue;
		}
		if (strcmp(argv[i], "--hold") == 0) {
			o->hold = true;
			continue;
		}
		if (strcmp(argv[i], "--seed") == 0) {
			ok = number(value, UINT64_MAX, &o->seed);
		} else if (strcmp(argv[i], "--minutes") == 0) {
			ok = number(value, MINUTES_MAX, &o->minutes) &&
			     o->minutes > 0;
		} else if (strcmp(argv[i], "--rate") == 0) {
			ok = number(value, 100000, &o->rate) && o->rate > 0;
		} else if (strcmp(argv[i], "--target") == 0) {
			o->target = value;
			ok = value != NULL;
		} else if (strcmp(argv[i], "--dir") == 0) {
			o->dir = value;
			ok = value != NULL && strlen(value) < DIR_BYTES;
		} else {
			ok = false;
		}
		i++;
	}
	return ok;
}

/* Leave only the faults of what has text in its name; whether there are any. */
static bool narrow(struct schedule *s, const char *text)
{
	size_t left = 0;

	for (size_t i = 0; i < s->round_count; i++) {
		struct round *r = &s->rounds[i];
		size_t kept = 0;

		for (size_t k = 0; k < r->fault_count; k++) {
			const struct fault *f = &r->faults[k];

			if (text == NULL ||
			    strstr(fault_target_name(f->kind, f->target),
				   text) != NULL) {
				r->faults[kept++] = *f;
			}
		}
		r->fault_count = kept;
		left += kept;
	}
	return left > 0;
}

static void print_schedule(const struct schedule *s)
{
	for (size_t i = 0; i < s->round_count; i++) {
		printf("round %zu, %" PRIu64 " s\n", i,
		       s->rounds[i].length_ms / 1000);
		for (size_t k = 0; k < s->rounds[i].fault_count; k++) {
			fault_print(&s->rounds[i].faults[k], stdout);
		}
	}
}

static void print_summary(const struct schedule *s, const struct rounds *r,
			  uint64_t seconds)
{
	printf("\nseed %" PRIu64 ", %" PRIu64
	       " minutes of rain in %zu of %zu rounds, %" PRIu64
	       " s in all\nfaults: %" PRIu64 "\n",
	       s->seed, s->minutes, r->played, s->round_count, seconds,
	       faults_done(&r->faults));
	faults_print(&r->faults, stdout);
	printf("activities: %zu, of these %zu live, %zu adopted, %zu topped up\n",
	       r->made.all, r->made.live, r->made.adopted, r->made.topped_up);
	printf("tappers:");
	summary_print(r->tapped, stdout);
	printf("checker:");
	summary_print(r->checked, stdout);
	printf("memory and open files at the ends of rounds\n");
	watch_print(&r->watch, stdout);
}

/* Where nothing was hit, or not everything compared, that nothing was found
 * means nothing. */
static void judge_worth(const struct rounds *r, struct world *w)
{
	const char *doubt = summary_doubt(r->tapped, r->checked);

	if (faults_done(&r->faults) == 0) {
		world_violation(w, "no fault hit anything");
	}
	if (doubt != NULL) {
		world_violation(w, "%s", doubt);
	}
	if (r->made.drawn > 0 && summary_of(r->checked, "live") == 0) {
		world_violation(w, "nobody won in a live activity");
	}
}

/* All rounds, until one fails; then the stop of everything. */
static unsigned run(const struct options *o, const struct schedule *s,
		    struct world *w)
{
	static struct rounds r;
	unsigned violations;
	bool ok = world_start(w);

	rounds_init(&r, w, s->seed, o->rate);
	for (size_t i = 0; ok && i < s->round_count; i++) {
		printf("\nround %zu of %zu: %" PRIu64 " s, %zu faults\n", i + 1,
		       s->round_count, s->rounds[i].length_ms / 1000,
		       s->rounds[i].fault_count);
		ok = rounds_play(&r, &s->rounds[i]);
	}
	if (!ok && o->hold) {
		printf("held in %s: look at it, then Ctrl-C\n", w->dir);
		for (;;) {
			world_turn(w);
		}
	}
	world_stop(w);
	if (ok) {
		judge_worth(&r, w);
	}
	watch_logs(&r.watch, w);
	print_summary(s, &r, (uv_now(&w->loop) - w->began_ms) / 1000);
	rounds_close(&r);
	violations = w->violations;
	world_close(w);
	return violations;
}

/* A directory of its own, unless one was named. */
static const char *directory(const char *named)
{
	static char dir[DIR_BYTES];
	const char *temp = getenv("TMPDIR");

	if (named != NULL) {
		return named;
	}
	snprintf(dir, sizeof dir, "%s/torture.XXXXXX",
		 temp != NULL ? temp : "/tmp");
	return mkdtemp(dir);
}

/* Remove the directory of a run without violations. */
static void remove_directory(const char *dir)
{
	const char *const args[] = { "rm", "-rf", dir, NULL };
	struct child c = { 0 };
	uv_loop_t loop;

	check(uv_loop_init(&loop) == 0);
	if (child_start(&c, &loop, args, NULL, true, NULL) != 0) {
		printf("%s is left\n", dir);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	child_free(&c);
	(void)uv_loop_close(&loop);
}

int main(int argc, char **argv)
{
	static struct world w;
	const char *bin = getenv("RAIN_BIN");
	const char *source = getenv("RAIN_SOURCE");
	struct options o = { 0 };
	struct schedule s;
	unsigned violations;
	const char *dir;

	child_become(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)signal(SIGPIPE, SIG_IGN); /* the proxies write to the dead */
	if (!parse(&o, argc, argv)) {
		usage(stderr);
		return 2;
	}
	schedule_make(&s, o.seed, o.minutes);
	if (!narrow(&s, o.target)) {
		fprintf(stderr, "no fault of this seed hits '%s'\n",
			o.target != NULL ? o.target : "anything");
		schedule_free(&s);
		return 2;
	}
	if (o.print) {
		print_schedule(&s);
		schedule_free(&s);
		return 0;
	}
	dir = directory(o.dir);
	if (bin == NULL || source == NULL || dir == NULL) {
		usage(stderr);
		schedule_free(&s);
		return 2;
	}
	printf("torture: seed %" PRIu64 ", %" PRIu64
	       " minutes of rain, %zu rounds, logs and data in %s\n",
	       s.seed, s.minutes, s.round_count, dir);
	if (!world_open(&w, bin, source, dir)) {
		return 2;
	}
	violations = run(&o, &s, &w);
	printf("violations %u\n", violations);
	if (violations > 0) {
		printf("kept: %s\nsee it again: ./rain torture --seed %" PRIu64
		       " --minutes %" PRIu64 " (this was --rate %" PRIu64
		       "%s%s)\n",
		       dir, s.seed, s.minutes, o.rate,
		       o.target != NULL ? " --target " : "",
		       o.target != NULL ? o.target : "");
	} else if (!o.keep) {
		remove_directory(dir);
	}
	schedule_free(&s);
	return violations > 0;
}
