#include "bench/watch.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { KNOWN_AFTER_US = 500 * 1000 };

static uint64_t cpu_us(clockid_t clock)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* user, nice and system of the first line. What the kernel does in interrupts
 * belongs to nobody, and for the most part it is our own packets. */
static uint64_t busy_us(void)
{
	FILE *in = fopen("/proc/stat", "r");
	uint64_t t[3] = { 0 };
	long hz = sysconf(_SC_CLK_TCK);

	if (in == NULL) {
		return 0;
	}
	if (fscanf(in, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64, &t[0], &t[1],
		   &t[2]) != 3) {
		t[0] = t[1] = t[2] = 0;
	}
	(void)fclose(in);
	return (t[0] + t[1] + t[2]) * 1000000 / (uint64_t)hz;
}

void watch_look(const struct options *o, struct watch_sample *s)
{
	s->at_us = clock_mono_us();
	s->busy_us = busy_us();
	s->own_us = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
	for (size_t i = 0; i < o->watch_count; i++) {
		clockid_t clock;

		s->gone[i] =
			clock_getcpuclockid(o->watched[i].pid, &clock) != 0;
		s->cpu_us[i] = s->gone[i] ? 0 : cpu_us(clock);
	}
}

bool watch_cpu_seconds(const struct watch *w, size_t index, double *seconds)
{
	uint64_t from = w->from.cpu_us[index];
	uint64_t to = w->to.cpu_us[index];

	/* Another one with the same number may have used less. */
	if (w->from.gone[index] || w->to.gone[index] || to < from) {
		return false;
	}
	*seconds = (double)(to - from) / 1e6;
	return true;
}

bool watch_others(const struct options *o, const struct watch *w,
		  double *processors)
{
	uint64_t us = w->to.at_us - w->from.at_us;
	double others = (double)(w->to.busy_us - w->from.busy_us) / 1e6 -
			(double)(w->to.own_us - w->from.own_us) / 1e6;

	for (size_t i = 0; i < o->watch_count; i++) {
		double seconds = 0;

		if (watch_cpu_seconds(w, i, &seconds)) {
			others -= seconds;
		}
	}
	*processors = others > 0 ? others * 1e6 / (double)us : 0;
	return us >= KNOWN_AFTER_US;
}
