/**
 * Inside of service: its life (service.c), its command line and configuration
 * (service_config.c) and its pages (service_pages.c). Nobody else includes it.
 */
#ifndef NET_SERVICE_INTERNAL_H
#define NET_SERVICE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/http.h"
#include "net/service.h"

enum {
	EXIT_CLEAN = 0,
	EXIT_CONFIG = 1,
	EXIT_NO_START = 2,
	EXIT_GAVE_UP = 3,
};

enum { SETS_MAX = 64 };

/* The values of the keys that every service has. */
struct service_options {
	const char *log_level;
	const char *log_format;
	const char *http_listen; /* empty: no HTTP */
	int64_t drain_timeout_ms;
};

enum service_mode {
	MODE_RUN,
	MODE_CHECK_CONFIG,
	MODE_DUMP_CONFIG,
	MODE_EXAMPLE_CONFIG,
	MODE_VERSION,
	MODE_HELP,
};

struct service_args {
	enum service_mode mode;
	const char *file;           /* NULL: none */
	const char *sets[SETS_MAX]; /* "section.key=value" */
	size_t set_count;
};

/* What the HTTP thread may know of the loop: the loop refreshes it. */
struct service_pages {
	pthread_mutex_t lock;
	bool ready;                    /* guarded by lock */
	struct buf why;                /* guarded by lock; a reason a line */
	_Atomic uint64_t heartbeat_ms; /* of clock_mono_ms() */
	struct http *http;             /* NULL: no HTTP */
};

/** Fill args; false after telling stderr what is wrong. */
must_check bool service_args_parse(const struct service *svc, int argc,
				   char **argv, struct service_args *args);

/** Print what mode asks for; c is complete. The exit code. */
int service_args_print(const struct service *svc,
		       const struct service_args *args, const struct config *c);

/** Start c with the service's tables and the common one. */
void service_config_init(const struct service *svc, struct config *c,
			 struct service_options *common);

/** Read all sources in order; 0, or ERR_CONFIG with c->errors. */
must_check int service_config_read(struct config *c,
				   const struct service_args *args);

/** Check what was read further than its table can; 0, or ERR_CONFIG with lines
 * in c->errors. */
must_check int service_config_check(const struct service *svc, struct config *c,
				    const struct service_options *common);

/** SIGHUP: take over the live keys of a fresh reading, which a start must
 * accept as well. False after logging every problem: nothing has changed
 * then. */
must_check bool service_config_reload(const struct service *svc,
				      struct config *c,
				      const struct service_args *args);

/** Log an error for each line of what ends with a newline or not. */
void service_log_lines(const char *event, struct bytes lines);

/** Let the log follow common. */
void service_log_setup(const struct service *svc,
		       const struct service_options *common);

/** Log what starts and with which bounds; as many files as the system lets us
 * may be open from then on. */
void service_log_start(const struct config *c);

/** Start the pages on address; an empty one means no HTTP. 0 or a code. */
must_check int service_pages_start(struct service_pages *p,
				   const char *address);

/** The loop is alive, and this is its answer to /readyz. Keeps a copy of
 * why. */
void service_pages_refresh(struct service_pages *p, bool ready,
			   const struct buf *why);

/** No page is answered afterwards. */
void service_pages_stop(struct service_pages *p);

#endif
