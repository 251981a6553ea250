#include "fault/schedule.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"

enum {
	GAP_MIN_MS = 200, /* between two faults */
	GAP_MAX_MS = 2500,
	/* A fault as long as the longest that operators know: Redis forks, a
	 * machine is moved. One in so many. */
	LONG_ONE_IN = 12,
	LONG_MS = 10000,
	/* In a run of so many minutes the second half spares the lives of
	 * processes, so that memory that grows has the time to show. */
	SPARING_MINUTES = 4,
};

/* What is going on while a round is made. */
struct going {
	uint64_t rng;
	bool sparing;
	struct fault active[OVERLAP_MAX];
	size_t active_count;
};

uint64_t seeded_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t seeded_between(uint64_t *state, uint64_t low, uint64_t high)
{
	check(low <= high);
	return low + seeded_next(state) % (high - low + 1);
}

const char *process_name(enum process_id id)
{
	static const char *const names[] = {
#define X(name, text) text,
		PROCESS_MAP(X)
#undef X
	};
	return names[id];
}

const char *link_name(enum link_id id)
{
	static const char *const names[] = {
#define X(name, text, server) text,
		LINK_MAP(X)
#undef X
	};
	return names[id];
}

const char *fault_kind_name(enum fault_kind kind)
{
	static const char *const names[] = {
#define X(name, text, target, share) text,
		FAULT_MAP(X)
#undef X
	};
	return names[kind];
}

enum fault_target fault_target_of(enum fault_kind kind)
{
	static const enum fault_target targets[] = {
#define X(name, text, target, share) TARGET_##target,
		FAULT_MAP(X)
#undef X
	};
	return targets[kind];
}

const char *fault_target_name(enum fault_kind kind, unsigned target)
{
	return fault_target_of(kind) == TARGET_LINK
		       ? link_name((enum link_id)target)
		       : process_name((enum process_id)target);
}

static enum fault_kind choose_kind(uint64_t *rng)
{
	static const unsigned shares[] = {
#define X(name, text, target, share) share,
		FAULT_MAP(X)
#undef X
	};
	unsigned sum = 0;
	uint64_t n;

	for (int i = 0; i < FAULT_COUNT; i++) {
		sum += shares[i];
	}
	n = seeded_next(rng) % sum;
	for (int i = 0;; i++) {
		if (n < shares[i]) {
			return (enum fault_kind)i;
		}
		n -= shares[i];
	}
}

static unsigned choose_target(uint64_t *rng, enum fault_kind kind)
{
	unsigned target;

	if (fault_target_of(kind) == TARGET_LINK) {
		return (unsigned)(seeded_next(rng) % LINK_COUNT);
	}
	switch (kind) {
	case FAULT_CLIENT_KILL:
	case FAULT_SCRIPT_FLUSH:
		return PROCESS_REDIS;
	case FAULT_DRAIN:
	case FAULT_HUP:
		/* The services: Redis and Kafka come before them. */
		return (unsigned)seeded_between(rng, PROCESS_WORKER,
						PROCESS_COUNT - 1);
	default:
		target = (unsigned)(seeded_next(rng) % PROCESS_COUNT);
		/* It takes Kafka many seconds to come back: half as often. */
		if (target == PROCESS_KAFKA && seeded_next(rng) % 2 == 0) {
			target = PROCESS_REDIS;
		}
		return target;
	}
}

static void choose_duration(uint64_t *rng, struct fault *f)
{
	bool is_long = seeded_next(rng) % LONG_ONE_IN == 0;

	switch (f->kind) {
	case FAULT_HUP:
	case FAULT_RESET:
	case FAULT_CLIENT_KILL:
	case FAULT_SCRIPT_FLUSH:
		return;
	case FAULT_DELAY:
		f->amount = seeded_between(rng, 5, is_long ? 1500 : 300);
		break;
	case FAULT_DROP:
		f->amount = seeded_between(rng, 1, is_long ? 100000 : 3000);
		break;
	default:
		break;
	}
	f->duration_ms = is_long ? LONG_MS : seeded_between(rng, 100, 4000);
}

/* Whether a process dies whose memory is being watched. */
static bool spared(const struct going *g, const struct fault *f)
{
	return g->sparing &&
	       (f->kind == FAULT_KILL || f->kind == FAULT_DRAIN) &&
	       f->target >= PROCESS_WORKER;
}

/* Drop what is over at at_ms; whether f may begin then. */
static bool may_begin(struct going *g, const struct fault *f)
{
	size_t kept = 0;
	bool same = false;

	for (size_t i = 0; i < g->active_count; i++) {
		const struct fault *a = &g->active[i];

		if (a->at_ms + a->duration_ms > f->at_ms) {
			same = same || (fault_target_of(a->kind) ==
						fault_target_of(f->kind) &&
					a->target == f->target);
			g->active[kept++] = *a;
		}
	}
	g->active_count = kept;
	return !same && kept < OVERLAP_MAX && !spared(g, f);
}

static void make_round(struct going *g, struct round *r)
{
	uint64_t at_ms = 0;

	r->faults = xcalloc((size_t)(r->length_ms / GAP_MIN_MS) + 1,
			    sizeof *r->faults);
	g->active_count = 0;
	for (;;) {
		struct fault f = { 0 };

		at_ms += seeded_between(&g->rng, GAP_MIN_MS, GAP_MAX_MS);
		if (at_ms >= r->length_ms) {
			return;
		}
		f.at_ms = at_ms;
		f.kind = choose_kind(&g->rng);
		f.target = choose_target(&g->rng, f.kind);
		choose_duration(&g->rng, &f);
		if (!may_begin(g, &f)) {
			continue;
		}
		r->faults[r->fault_count++] = f;
		if (f.duration_ms > 0) {
			g->active[g->active_count++] = f;
		}
	}
}

void schedule_make(struct schedule *s, uint64_t seed, uint64_t minutes)
{
	struct going g = { .rng = seed };
	uint64_t left_ms = minutes * 60000;

	check(minutes > 0);
	*s = (struct schedule){ .seed = seed, .minutes = minutes };
	s->rounds =
		xcalloc((size_t)(left_ms / ROUND_MIN_MS), sizeof *s->rounds);
	while (left_ms > 0) {
		struct round *r = &s->rounds[s->round_count++];

		r->length_ms =
			seeded_between(&g.rng, ROUND_MIN_MS, ROUND_MAX_MS);
		if (left_ms < r->length_ms + ROUND_MIN_MS) {
			r->length_ms = left_ms;
		}
		g.sparing = minutes >= SPARING_MINUTES &&
			    left_ms <= minutes * 30000;
		left_ms -= r->length_ms;
		make_round(&g, r);
	}
}

void schedule_free(struct schedule *s)
{
	for (size_t i = 0; i < s->round_count; i++) {
		free(s->rounds[i].faults);
	}
	free(s->rounds);
	*s = (struct schedule){ 0 };
}

void fault_print(const struct fault *f, FILE *out)
{
	fprintf(out, "%7.3f s  %-12s  %s", (double)f->at_ms / 1000,
		fault_kind_name(f->kind),
		fault_target_name(f->kind, f->target));
	if (f->duration_ms > 0) {
		fprintf(out, " for %" PRIu64 " ms", f->duration_ms);
	}
	if (f->amount > 0) {
		fprintf(out, ", %" PRIu64 " %s", f->amount,
			f->kind == FAULT_DELAY ? "ms late" : "bytes");
	}
	fputc('\n', out);
}
