/**
 * What the torture breaks: the processes of a stack, the links between them,
 * and the kinds of faults. Adding one of these is one line here.
 */
#ifndef TESTS_FAULT_TARGETS_H
#define TESTS_FAULT_TARGETS_H

/* X(name, text) */
#define PROCESS_MAP(X)                 \
	X(REDIS, "redis")              \
	X(KAFKA, "kafka")              \
	X(WORKER, "settle-worker")     \
	X(GRAB_1, "grab-service-1")    \
	X(GRAB_2, "grab-service-2")    \
	X(GATEWAY_1, "rain-gateway-1") \
	X(GATEWAY_2, "rain-gateway-2")

/* X(name, text, process that listens at the other end, what is reached there):
 * a proxy each. */
#define LINK_MAP(X)                                                  \
	X(APPS_GATEWAY_1, "apps>rain-gateway-1", GATEWAY_1)          \
	X(APPS_GATEWAY_2, "apps>rain-gateway-2", GATEWAY_2)          \
	X(GATEWAY_1_GRAB_1, "rain-gateway-1>grab-service-1", GRAB_1) \
	X(GATEWAY_1_GRAB_2, "rain-gateway-1>grab-service-2", GRAB_2) \
	X(GATEWAY_2_GRAB_1, "rain-gateway-2>grab-service-1", GRAB_1) \
	X(GATEWAY_2_GRAB_2, "rain-gateway-2>grab-service-2", GRAB_2) \
	X(GATEWAY_1_LEDGER, "rain-gateway-1>settle-worker", WORKER)  \
	X(GATEWAY_2_LEDGER, "rain-gateway-2>settle-worker", WORKER)  \
	X(GRAB_1_REDIS, "grab-service-1>redis", REDIS)               \
	X(GRAB_2_REDIS, "grab-service-2>redis", REDIS)               \
	X(GRAB_1_KAFKA, "grab-service-1>kafka", KAFKA)               \
	X(GRAB_2_KAFKA, "grab-service-2>kafka", KAFKA)               \
	X(GRAB_1_LEDGER, "grab-service-1>settle-worker", WORKER)     \
	X(GRAB_2_LEDGER, "grab-service-2>settle-worker", WORKER)     \
	X(WORKER_KAFKA, "settle-worker>kafka", KAFKA)                \
	X(WORKER_GRAB_1, "settle-worker>grab-service-1", GRAB_1)     \
	X(WORKER_GRAB_2, "settle-worker>grab-service-2", GRAB_2)

/* X(name, text, what it hits, share of all faults) */
#define FAULT_MAP(X)                              \
	X(KILL, "kill -9", PROCESS, 12)           \
	X(STOP, "SIGSTOP", PROCESS, 10)           \
	X(DRAIN, "SIGTERM", PROCESS, 8)           \
	X(HUP, "SIGHUP", PROCESS, 4)              \
	X(DELAY, "delay", LINK, 12)               \
	X(CUT, "cut", LINK, 12)                   \
	X(STALL_UP, "stall up", LINK, 9)          \
	X(STALL_DOWN, "stall down", LINK, 9)      \
	X(RESET, "reset", LINK, 10)               \
	X(DROP, "drop after", LINK, 12)           \
	X(CLIENT_KILL, "CLIENT KILL", PROCESS, 4) \
	X(SCRIPT_FLUSH, "SCRIPT FLUSH", PROCESS, 3)

enum process_id {
#define X(name, text) PROCESS_##name,
	PROCESS_MAP(X)
#undef X
		PROCESS_COUNT
};

enum link_id {
#define X(name, text, server) LINK_##name,
	LINK_MAP(X)
#undef X
		LINK_COUNT
};

enum fault_kind {
#define X(name, text, target, share) FAULT_##name,
	FAULT_MAP(X)
#undef X
		FAULT_COUNT
};

enum fault_target { TARGET_PROCESS, TARGET_LINK };

#endif
