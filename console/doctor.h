/**
 * What rainctl doctor looks at. Every check adds findings; none changes
 * anything.
 */
#ifndef CONSOLE_DOCTOR_H
#define CONSOLE_DOCTOR_H

#include <jansson.h>

#include "console/ctl.h"

enum finding { FINDING_OK, FINDING_WARN, FINDING_FAIL };

/** Add a row: what was looked at, how it is, and what to change ("" if
 * nothing). */
void doctor_add(json_t *rows, const char *what, enum finding finding,
		const char *found, const char *change);

/** Redis: reachable, version, persistence, eviction policy, clock. Whether it
 * answers. */
bool doctor_redis(struct ctl *ctl, json_t *rows);
/** Kafka: reachable, topics, replication. Blocks. */
void doctor_kafka(struct ctl *ctl, json_t *rows);

#endif
