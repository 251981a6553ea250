/**
 * A Redis that says what a test wants: on a unix socket in a temporary
 * directory, served by the same loop as the client under test.
 *
 * Every command that is not part of the hello goes to on_command, which
 * answers with fake_say() now or later, closes, or stays silent.
 */
#ifndef TESTS_LIB_REDIS_FAKE_H
#define TESTS_LIB_REDIS_FAKE_H

#include <hiredis/hiredis.h>

#include "net/stream.h"

enum { FAKE_SEEN = 64, FAKE_WORD = 64 };

/* One connection; the newest is the first. */
struct fake_conn {
	struct stream stream;
	struct fake *fake;
	redisReader *reader;
	struct fake_conn *next;
	struct fake_conn *prev;
};

struct fake {
	struct stream_hub *hub;
	struct listener *listener;
	char dir[64];
	char url[96]; /* unix:/path */
	struct fake_conn *conns;
	int accepted;                    /* connections so far */
	int commands;                    /* commands so far, without hellos */
	char seen[FAKE_SEEN][FAKE_WORD]; /* the first commands of all, words
					  * separated by spaces, cut */
	int seen_count;
	const char *on_accept; /* said at once and closed, or NULL */
	const char *ping;      /* answer to PING; NULL: +PONG */
	const char *auth;      /* answer to AUTH; NULL: +OK */
	bool deaf;             /* new connections are not read */
	void (*on_command)(struct fake_conn *c, const redisReply *command);
	void *ctx; /* the test's own */
};

/** Listen. */
void fake_open(struct fake *f, struct stream_hub *hub);
/** Stop and close all; turn the loop before rig_close() ends it. */
void fake_close(struct fake *f);

/** Send bytes as they are. */
void fake_say(struct fake_conn *c, const char *text);
void fake_say_bytes(struct fake_conn *c, struct bytes data);
/** Close once all was sent. */
void fake_hang_up(struct fake_conn *c);

/** Argument i of a command, "" if it has none. */
const char *fake_word(const redisReply *command, size_t i);

/** For on_command: answers with the text that follows the first word of the
 * command, "SAY +x". */
void fake_repeat(struct fake_conn *c, const redisReply *command);

#endif
