/**
 * What every process of redrain has in common: the command line (--config,
 * --set, --check-config, --dump-config, --example-config, --version, --help),
 * configuration, log, signals, and HTTP for /livez, /readyz and /metrics.
 *
 *   exit 0: clean stop, or --help and friends   1: bad usage or configuration
 *   exit 2: could not start                     3: gave up
 *
 * SIGTERM and SIGINT drain and exit 0. A drain that takes longer than
 * drain.timeout, and one that a second signal ends at once, say what was left
 * and exit 3. SIGHUP reloads the keys marked CONFIG_LIVE. A signal that comes
 * during the start waits until that is done, also if it was blocked before us;
 * SIGPIPE is ignored. If RAIN_READY_FD names a file descriptor, "ready\n" is
 * written to it when /readyz first turns true, and it is closed.
 */
#ifndef NET_SERVICE_H
#define NET_SERVICE_H

#include <uv.h>

#include "base/config.h"
#include "net/stream.h"

struct service_rt;

/* Keys that every service has: log.level, log.format, http.listen (empty: no
 * HTTP), drain.timeout. They are merged with the service's own. */

struct service {
	const char *name;    /* "rain-gateway" */
	const char *summary; /* one line for --help */
	const struct config_key *keys;
	void *options;            /* the struct that keys fill */
	const char *pass_section; /* "kafka" or NULL */
	/** What the table of keys can't say of the values, and --check-config
	 * and a start must know: append "key: what is wrong; what is allowed"
	 * and a newline for each problem. Reads files, connects nowhere. SIGHUP
	 * asks it about the values to come: svc is a copy then, with options
	 * of its own, and one problem keeps all old values. NULL: nothing more
	 * to check. */
	void (*validate)(const struct service *svc,
			 const struct config_pair *pairs, size_t pair_count,
			 struct buf *problems);
	/** Everything is configured: start on the loop of rt. 0, or a code
	 * after logging why: the process exits with 2. */
	int (*start)(struct service_rt *rt);
	/** SIGTERM: finish what was accepted, close every handle, then call
	 * service_stopped(). */
	void (*drain)(struct service_rt *rt);
	/** A drain is cut short: append what was not finished, a line each.
	 * NULL: nothing is known. */
	void (*left)(struct service_rt *rt, struct buf *what);
	/** SIGHUP: the live keys in options have their new values, written on
	 * the loop's thread; replaced strings stay valid. May be NULL. */
	void (*reload)(struct service_rt *rt);
	/** Whether requests can be served; else appends a reason per line. What
	 * it appends although they can be are notes, shown beside.
	 * Asked on the loop's thread, five times a second. NULL: always. */
	bool (*ready)(struct service_rt *rt, struct buf *why);
	void *ctx; /* the service's own */
};

struct service_rt {
	const struct service *svc;
	uv_loop_t *loop;
	struct stream_hub *hub;
	const struct config_pair *pairs; /* of pass_section */
	size_t pair_count;
	void *state; /* internal */
};

/** The whole life of the process; what main() returns. */
int service_main(struct service *svc, int argc, char **argv);

/** The drain is complete: leave the loop and exit 0. Handles that are still
 * closing get the turns they need; one left open is an error in the log and,
 * in a build without optimisation, a failed check. */
void service_stopped(struct service_rt *rt);

/** Give up: drain, from a later turn of the loop, and exit 3. */
void service_failed(struct service_rt *rt, const char *why);

#endif
