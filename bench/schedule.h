/**
 * When the taps of an open loop are due. The rate rises evenly from 0 during
 * the ramp and stays. Nothing that happens moves a due time: what a stall
 * delays is late, and its latency says so.
 *
 * Several threads share a schedule: of `stride` the one with the number
 * `offset` has the taps offset, offset + stride, offset + 2 stride, ...
 */
#ifndef BENCH_SCHEDULE_H
#define BENCH_SCHEDULE_H

#include <stdint.h>

struct schedule {
	double rate;    /* taps a second of all threads, above 0 */
	double ramp_us; /* from 0 to the rate; 0: at once */
	uint64_t stride;
	uint64_t offset;
};

/** When tap n (from 0) of a thread is due, in us from the start. Never less
 * than that of a tap before it. */
uint64_t schedule_due_us(const struct schedule *s, uint64_t n);

/** Closed loop: when connection n of count begins, in us from the start, such
 * that all have begun when the ramp ends. */
uint64_t schedule_begin_us(uint64_t ramp_us, uint64_t n, uint64_t count);

#endif
