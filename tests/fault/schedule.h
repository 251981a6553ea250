/**
 * What a torture will do, all of it chosen beforehand from a seed: the rounds
 * and the faults in each. A pure function, so that a seed lets the same
 * faults fall again; what they hit depends on the machine.
 */
#ifndef TESTS_FAULT_SCHEDULE_H
#define TESTS_FAULT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fault/targets.h"

enum {
	OVERLAP_MAX = 3, /* faults that last at the same time */
	ROUND_MIN_MS = 20000,
	ROUND_MAX_MS = 60000,
};

struct fault {
	enum fault_kind kind;
	uint64_t at_ms;       /* since its round began to rain */
	unsigned target;      /* enum process_id or enum link_id, by kind */
	uint64_t duration_ms; /* until it is healed; 0: it is over at once */
	uint64_t amount;      /* DELAY: ms; DROP: bytes; else 0 */
};

struct round {
	uint64_t length_ms;   /* of the rain */
	struct fault *faults; /* by at_ms */
	size_t fault_count;
};

struct schedule {
	uint64_t seed;
	uint64_t minutes; /* of rain */
	struct round *rounds;
	size_t round_count;
};

/** splitmix64: the next number, and the next state. */
uint64_t seeded_next(uint64_t *state);

/** A number in [low, high]. */
uint64_t seeded_between(uint64_t *state, uint64_t low, uint64_t high);

/** Rounds of minutes (> 0) of rain in all. */
void schedule_make(struct schedule *s, uint64_t seed, uint64_t minutes);
void schedule_free(struct schedule *s);

/** Whether a kind of fault hits a process or a link. */
enum fault_target fault_target_of(enum fault_kind kind);

/** Static texts. */
const char *fault_kind_name(enum fault_kind kind);
const char *fault_target_name(enum fault_kind kind, unsigned target);
const char *process_name(enum process_id id);
const char *link_name(enum link_id id);

/** "12.345 s  drop after     apps>rain-gateway-1  for 800 ms, 312 bytes". */
void fault_print(const struct fault *f, FILE *out);

#endif
