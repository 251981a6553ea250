/**
 * A private redis-server for one test: on a unix socket in a temporary
 * directory of its own and, if wanted, on a TCP port of 127.0.0.1 too.
 *
 *   struct redis_server s;
 *   redis_server_start(&s, (const char *[]){ "--appendonly", "yes", NULL });
 *   ... connect to s.url ...
 *   cr_assert_str_eq(redis_server_ask(&s, "LLEN %s", key), "3");
 *   redis_server_close(&s);
 *
 * The server dies with the thread that started it, whatever becomes of the
 * test. Everything here blocks; a failure prints why, with the end of the
 * server's log, and aborts. Link with hiredis (PkgConfig::hiredis, or client).
 */
#ifndef TESTS_LIB_REDIS_SERVER_H
#define TESTS_LIB_REDIS_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct redisContext;

enum { REDIS_SERVER_ARGS = 32 };

struct redis_server {
	char dir[64];         /* temporary directory, holds data and log */
	char path[96];        /* the unix socket */
	char url[104];        /* unix:/path of that socket */
	char tcp_address[32]; /* 127.0.0.1:port, "" without TCP */
	char tcp_url[48];     /* redis://127.0.0.1:port, "" without TCP */
	uint16_t port;        /* 0 without TCP */
	pid_t pid;            /* 0 while it does not run */
	const char *args[REDIS_SERVER_ARGS]; /* further arguments, NULL-ended */
	struct redisContext *ask; /* connection of redis_server_ask() or NULL */
	char *text;               /* its last answer */
};

/**
 * Start and wait until it answers PING (LOADING does not count as an answer).
 * args are further arguments, NULL-ended, or NULL; the strings must outlive
 * the server. No persistence unless they say so.
 */
void redis_server_start(struct redis_server *s, const char *const *args);

/** The same with a TCP port too; the port survives restarts. */
void redis_server_start_tcp(struct redis_server *s, const char *const *args);

/** SIGTERM (Redis saves if it is configured to), wait for the end. */
void redis_server_stop(struct redis_server *s);

/** SIGKILL, wait for the end. */
void redis_server_kill(struct redis_server *s);

/** Start again in the same directory and at the same addresses; stops it
 * first if it runs. Waits as redis_server_start() does. */
void redis_server_restart(struct redis_server *s);

/** The same without waiting for an answer, to watch it load. */
void redis_server_restart_only(struct redis_server *s);

/** SIGSTOP and SIGCONT. */
void redis_server_pause(struct redis_server *s);
void redis_server_resume(struct redis_server *s);

/** Kill it if it runs, remove its directory. Safe to repeat. */
void redis_server_close(struct redis_server *s);

/**
 * Run a command (format as for hiredis' redisCommand: %s, %b) and tell the
 * answer as text, valid until the next ask: strings and statuses as they are,
 * integers in decimal, nil as "(nil)", an error as "(error) TEXT", an array
 * as its elements with "\n" between them. "(lost)" if there was no answer
 * within 5 s or the server is gone.
 */
const char *redis_server_ask(struct redis_server *s, const char *format, ...);

/** The same for arguments that are NUL-terminated strings. */
const char *redis_server_askv(struct redis_server *s, int argc,
			      const char *const *argv);

/** A number out of INFO SECTION, "field:" up to the first non-digit; with
 * key, that of "key=" within the field's line (calls of cmdstat_eval). -1 if
 * there is none. */
long long redis_server_info(struct redis_server *s, const char *section,
			    const char *field, const char *key);

#endif
