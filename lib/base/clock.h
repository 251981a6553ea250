/**
 * Time. Wall clock for what leaves the process, monotonic for durations.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/** Milliseconds since 1970. */
int64_t clock_wall_ms(void);

/** Monotonic, from an arbitrary start. */
uint64_t clock_mono_ms(void);
uint64_t clock_mono_us(void);

#endif
