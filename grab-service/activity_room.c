#include "activity_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

enum { MIB = 1024 * 1024 };

bool room_fits(uint64_t need, uint64_t used, uint64_t limit, char why[ROOM_WHY])
{
	uint64_t left = used < limit ? limit - used : 0;

	why[0] = '\0';
	if (limit == 0 || need <= left) {
		return true;
	}
	(void)snprintf(why, ROOM_WHY,
		       "when all is grabbed it takes %" PRIu64
		       " MiB of Redis, and %" PRIu64 " of its %" PRIu64
		       " MiB (maxmemory) are left: raise maxmemory, or plan "
		       "fewer packets",
		       (need + MIB - 1) / MIB, left / MIB, limit / MIB);
	return false;
}

struct room {
	room_cb done;
	void *ctx;
	uint64_t need;
};

/* The number behind "name:" at the beginning of a line. */
static bool find(struct bytes info, const char *name, uint64_t *out)
{
	struct bytes rest = info;
	size_t n = strlen(name);

	while (rest.n > n) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		size_t line = end != NULL ? (size_t)(end - rest.p) : rest.n;
		size_t digits = n;

		if (line > n && memcmp(rest.p, name, n) == 0) {
			while (digits < line && rest.p[digits] >= '0' &&
			       rest.p[digits] <= '9') {
				digits++;
			}
			return bytes_to_u64(bytes_make(rest.p + n, digits - n),
					    INT64_MAX, out);
		}
		if (end == NULL) {
			return false;
		}
		rest = bytes_make(end + 1, rest.n - line - 1);
	}
	return false;
}

static void info_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct room *q = ctx;
	struct bytes info = { 0 };
	char why[ROOM_WHY] = "Redis does not tell how much memory it has";
	uint64_t used = 0;
	uint64_t limit = 0;
	bool fits = false;

	if (reply != NULL && (reply->type == REDIS_REPLY_STRING ||
			      reply->type == REDIS_REPLY_ERROR)) {
		info = bytes_make(reply->str, (size_t)reply->len);
	}
	if (outcome != REDIS_DONE && info.n > 0) {
		(void)snprintf(why, sizeof(why), "Redis says %.*s",
			       (int)(info.n < 160 ? info.n : 160),
			       (const char *)info.p);
	} else if (outcome == REDIS_DONE && find(info, "used_memory:", &used) &&
		   find(info, "maxmemory:", &limit)) {
		fits = room_fits(q->need, used, limit, why);
	}
	q->done(q->ctx, fits, why);
	free(q);
}

void room_ask(struct redis *r, uint64_t need, uint64_t timeout_ms, room_cb done,
	      void *ctx)
{
	struct room *q = xmalloc(sizeof(*q));

	*q = (struct room){ .done = done, .ctx = ctx, .need = need };
	redis_command(r, 2,
		      (const struct bytes[]){ BYTES("INFO"), BYTES("memory") },
		      timeout_ms, info_cb, q);
}
