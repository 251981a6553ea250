#include "base/clock.h"

#include <time.h>

#include "base/check.h"

static struct timespec now(clockid_t id)
{
	struct timespec ts;
	int rv = clock_gettime(id, &ts);

	check(rv == 0); /* both clocks exist on every Linux */
	return ts;
}

int64_t clock_wall_ms(void)
{
	struct timespec ts = now(CLOCK_REALTIME);

	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint64_t clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

uint64_t clock_mono_us(void)
{
	struct timespec ts = now(CLOCK_MONOTONIC);

	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}
