/**
 * That the ledger has applied everything that is in Kafka: the ends of the
 * topics are asked for first, then the ledger's positions until they have
 * passed them. One gathering serves every activity that waited when it began.
 */
#ifndef GRAB_EVIDENCE_H
#define GRAB_EVIDENCE_H

#include "client/kafka.h"
#include "rain/ledger_service.pb-c.h"

#include "env.h"

/* One per relay. */
struct evidence {
	struct relay *relay;
	bool busy;         /* a gathering is under way */
	bool asking_kafka; /* its question is with Kafka */
	bool asking_ledger;
	uint64_t round;         /* gatherings that came to their end */
	uint64_t due_ms;        /* loop time of the next question */
	struct kafka_end *ends; /* owned; topic names are borrowed options */
	size_t end_count;
};

/** relay stays borrowed. */
void evidence_init(struct evidence *e, struct relay *relay);
/** Nothing is being asked any more. */
void evidence_close(struct evidence *e);

/** Begin a gathering, or another after the one under way: what is asked for
 * now is shown when `round` has reached the number returned. */
uint64_t evidence_want(struct evidence *e);

/** Go on; wanted: whether anybody waits for it. Called by the relay. */
void evidence_step(struct evidence *e, bool wanted);

/** Whether the ledger's positions have passed all ends. Pure. */
bool evidence_passed(const struct kafka_end *ends, size_t count,
		     const Rain__PositionsReply *positions);

#endif
