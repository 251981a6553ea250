/**
 * A Kafka broker of one test's own, to stop and to kill. It takes seconds:
 * tests that only use a broker share the one of kafka_broker.h.
 *
 * Runs deploy/kafka/kafka.sh of RAIN_SOURCE in a temporary directory. The
 * broker is killed when the test ends, whatever becomes of it. Everything here
 * blocks; a failure fails the test.
 */
#ifndef TESTS_LIB_KAFKA_OWN_H
#define TESTS_LIB_KAFKA_OWN_H

#include <sys/types.h>

struct kafka_own {
	char dir[64];
	char address[32]; /* 127.0.0.1:port, also after a restart */
	int port;
	int controller_port;
	int watch;     /* held open by us: its end tells of ours */
	pid_t watcher; /* kills the broker then */
};

/** Start it on two free ports and wait until it answers. */
void kafka_own_start(struct kafka_own *k);

/** End it cleanly. */
void kafka_own_stop(struct kafka_own *k);

/** SIGKILL. */
void kafka_own_kill(struct kafka_own *k);

/** With the data and at the address that it had. */
void kafka_own_restart(struct kafka_own *k);

/** Kill it and remove its directory. */
void kafka_own_close(struct kafka_own *k);

#endif
