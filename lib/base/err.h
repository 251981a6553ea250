/**
 * Error codes: 0 is success, libuv's negative codes pass through, ours begin
 * at -7000 and all lie below libuv's. Business outcomes (SOLD_OUT, ...) are
 * not errors.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* X(NAME, text) */
#define ERR_MAP(X)                                  \
	X(PROTO, "malformed message")               \
	X(TOO_BIG, "message over its size limit")   \
	X(BUSY, "a limit is reached, try later")    \
	X(CLOSED, "closed")                         \
	X(TIMEOUT, "no answer within the deadline") \
	X(IDLE, "silent for too long")              \
	X(NOT_READY, "not connected")               \
	X(CONFIG, "bad configuration")              \
	X(DENIED, "refused by the peer")            \
	X(STORE, "the database failed")

enum err {
	ERR_BASE = -7000,
#define X(name, text) ERR_##name,
	ERR_MAP(X)
#undef X
		ERR_END
};
/* The enumerators ascend from ERR_BASE; err.c checks that they stay below
 * libuv's. */

/** A short text for any code of ours or libuv's; static, never NULL. */
const char *err_str(int code);

#endif
