#include "bench/progress.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/report.h"

void progress_init(struct progress *p, const struct options *o)
{
	*p = (struct progress){ .options = o,
				.terminal = isatty(STDERR_FILENO) == 1 };
}

void progress_began(struct progress *p)
{
	p->then_us = clock_mono_us();
	p->answers = 0;
}

/* All pulses; the slowest is taken. */
struct sum {
	uint64_t answers;
	uint64_t open;
	uint64_t up;
	uint64_t slowest_us;
};

static struct sum add_up(const struct options *o, struct team *teams)
{
	struct sum sum = { 0 };

	for (uint64_t i = 0; i < o->threads; i++) {
		struct pulse *p = &teams[i].pulse;
		uint64_t slowest = atomic_exchange(&p->slowest_us, 0);

		sum.answers += atomic_load(&p->answers);
		sum.open += atomic_load(&p->open);
		sum.up += atomic_load(&p->up);
		if (slowest > sum.slowest_us) {
			sum.slowest_us = slowest;
		}
	}
	return sum;
}

static void print(struct progress *p, const struct bench *b, struct sum sum)
{
	uint64_t now = clock_mono_us();
	uint64_t began = atomic_load(&b->began_us);
	uint64_t rate =
		(sum.answers - p->answers) * 1000000 / (now - p->then_us + 1);
	char one[32];
	char two[32];

	if (began == 0 || p->options->idle) {
		(void)fprintf(stderr, "%s of %s connections are up",
			      report_number(sum.up, one),
			      report_number(p->options->conns, two));
		return;
	}
	(void)fprintf(stderr,
		      "%4" PRIu64 " s  %9s answers/s  %7s in flight  slowest "
		      "%.1f ms%s",
		      (now - began + 500000) / 1000000,
		      report_number(rate, one), report_number(sum.open, two),
		      (double)sum.slowest_us / 1e3,
		      now < b->count_from_us           ? "  warming up"
		      : now > atomic_load(&b->ends_us) ? "  last answers"
						       : "");
	p->answers = sum.answers;
	p->then_us = now;
}

void progress_show(struct progress *p, const struct bench *b,
		   struct team *teams)
{
	if (p->options->quiet) {
		return;
	}
	(void)fprintf(stderr, "%s", p->terminal ? "\r\033[K" : "");
	print(p, b, add_up(p->options, teams));
	(void)fprintf(stderr, "%s", p->terminal ? "" : "\n");
	(void)fflush(stderr);
	p->shown = p->terminal;
}

void progress_end(struct progress *p)
{
	if (p->shown) {
		(void)fprintf(stderr, "\r\033[K");
	}
}
