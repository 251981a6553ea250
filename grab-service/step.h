/**
 * One step of lua/README.md on one activity: the six keys, the arguments, and
 * the common beginning of the reply, parsed.
 */
#ifndef GRAB_STEP_H
#define GRAB_STEP_H

#include "base/bytes.h"
#include "client/redis.h"

/* X(NAME): the codes of lua/README.md. */
/* clang-format off */
#define STEP_CODE_MAP(X) \
	X(OK) X(ALREADY) X(NO_META) X(SCHEMA) X(TYPE) X(ACL) \
	X(INCARNATION) X(COUNTS) X(STATE) X(REVISION) X(DIFFERENT) X(UNLINKED) \
	X(LEASE) X(ORDER) X(WITNESS) X(LOST) X(DRAWS)
/* clang-format on */

enum step_code {
	STEP_UNREADABLE, /* not a reply of lua/README.md, or none came */
#define X(name) STEP_##name,
	STEP_CODE_MAP(X)
#undef X
};

/** "COUNTS", ...; static. */
const char *step_code_name(enum step_code code);

struct step_reply {
	enum step_code code;
	int64_t time_ms; /* of Redis */
	uint64_t revision;
	int state;               /* enum of rain.State, 0 if there is no meta */
	redisReply *const *rest; /* elements from index 5 on */
	size_t rest_count;
};

/** Read the head that every reply has; false if this is none. r may be NULL;
 * out borrows from it. */
must_check bool step_reply_read(const redisReply *r, struct step_reply *out);

/** reply is NULL unless outcome is REDIS_DONE and the reply is readable; an
 * unreadable one comes as REDIS_PARTIAL. error is the text of an error reply,
 * or empty. All valid during the call only. */
typedef void (*step_cb)(void *ctx, enum redis_outcome outcome,
			const struct step_reply *reply, struct bytes error);

/** Run script on the activity. argv are copied. */
void step_run(struct redis *r, const struct redis_script *script,
	      struct bytes activity_id, size_t argc, const struct bytes *argv,
	      uint64_t timeout_ms, step_cb done, void *ctx);

/** Push n packets, 1 at least, behind the `offset` that are there: the
 * transaction of preload.lua. packets are copied. */
void step_preload(struct redis *r, struct bytes activity_id, uint64_t offset,
		  size_t n, const struct bytes *packets, uint64_t timeout_ms,
		  step_cb done, void *ctx);

/** Element i of rest as text or number; an empty view or false if it is
 * missing or something else. Numbers are accepted as text too. */
struct bytes step_text(const struct step_reply *reply, size_t i);
bool step_number(const struct step_reply *reply, size_t i, int64_t *out);

/** "OPEN", ... of a rain.State as Lua writes it, and back (0: unknown). */
const char *state_name(int state);
int state_from_name(struct bytes name);

#endif
