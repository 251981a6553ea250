#include "bench/schedule.h"

#include <math.h>

#include "base/check.h"

/* During the ramp t us have seen rate * t^2 / (2 * ramp) taps, half of what the
 * full rate would have made of it. */
uint64_t schedule_due_us(const struct schedule *s, uint64_t n)
{
	double number = (double)(n * s->stride + s->offset);
	double per_us = s->rate / 1e6;
	double of_ramp = per_us * s->ramp_us / 2;

	check(s->rate > 0 && s->offset < s->stride);
	if (number < of_ramp) {
		return (uint64_t)sqrt(2 * s->ramp_us * number / per_us);
	}
	return (uint64_t)(s->ramp_us + (number - of_ramp) / per_us);
}

uint64_t schedule_begin_us(uint64_t ramp_us, uint64_t n, uint64_t count)
{
	check(n < count);
	return (uint64_t)((double)ramp_us * (double)n / (double)count);
}
