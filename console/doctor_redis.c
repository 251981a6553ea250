#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/redis.h"
#include "console/doctor.h"

enum { TIMEOUT_MS = 2000, CLOCK_OFF_MS = 200 };

struct answer {
	bool done;
	enum redis_outcome outcome;
	char *text; /* all strings of the reply, a line each; owned */
};

/* Flatten a reply: numbers and strings, a line each. */
static void flatten(struct buf *out, const redisReply *r)
{
	if (r->type == REDIS_REPLY_INTEGER) {
		buf_printf(out, "%lld\n", r->integer);
	} else if (r->type == REDIS_REPLY_ARRAY) {
		for (size_t i = 0; i < r->elements; i++) {
			flatten(out, r->element[i]);
		}
	} else if (r->str != NULL) {
		buf_printf(out, "%s\n", r->str);
	}
}

static void answer_cb(void *ctx, enum redis_outcome outcome,
		      const redisReply *reply)
{
	struct answer *a = ctx;
	struct buf text;

	buf_init(&text);
	a->done = true;
	a->outcome = outcome;
	if (reply != NULL) {
		flatten(&text, reply);
	}
	a->text = xstrndup(buf_live(&text).p, buf_len(&text));
	buf_close(&text);
}

/* The reply to up to three words, to be freed; NULL if there was none. */
static char *ask(struct ctl *ctl, struct redis *r, const char *a, const char *b,
		 const char *c)
{
	struct bytes argv[] = { bytes_str(a), bytes_str(b), bytes_str(c) };
	struct answer answer = { 0 };

	redis_command(r, c != NULL ? 3 : (b != NULL ? 2 : 1), argv, TIMEOUT_MS,
		      answer_cb, &answer);
	ctl_wait(ctl, &answer.done);
	if (answer.outcome != REDIS_DONE) {
		free(answer.text);
		return NULL;
	}
	return answer.text;
}

/* One setting: CONFIG GET answers name and value. */
static void look_at_setting(struct ctl *ctl, struct redis *r, json_t *rows,
			    const char *name, const char *wanted,
			    enum finding otherwise, const char *why)
{
	char *text = ask(ctl, r, "CONFIG", "GET", name);
	char found[128];
	char change[192];
	const char *value;

	if (text == NULL || strchr(text, '\n') == NULL) {
		snprintf(found, sizeof found, "%s cannot be read", name);
		doctor_add(rows, "Redis", FINDING_WARN, found,
			   "allow CONFIG GET to see it");
		free(text);
		return;
	}
	value = strchr(text, '\n') + 1;
	snprintf(found, sizeof found, "%s %.*s", name,
		 (int)strcspn(value, "\n"), value);
	snprintf(change, sizeof change, "CONFIG SET %s %s: %s", name, wanted,
		 why);
	if (strncmp(value, wanted, strlen(wanted)) == 0) {
		doctor_add(rows, "Redis", FINDING_OK, found, "");
	} else {
		doctor_add(rows, "Redis", otherwise, found, change);
	}
	free(text);
}

static void look_at_version(struct ctl *ctl, struct redis *r, json_t *rows)
{
	char *text = ask(ctl, r, "INFO", "server", NULL);
	const char *p = text != NULL ? strstr(text, "redis_version:") : NULL;
	char found[96];

	if (p == NULL) {
		doctor_add(rows, "Redis", FINDING_FAIL, "INFO is not answered",
			   "allow INFO: the incarnation is read from it");
	} else {
		long major = strtol(p + 14, NULL, 10);

		snprintf(found, sizeof found, "version %.*s",
			 (int)strcspn(p + 14, "\r\n"), p + 14);
		doctor_add(rows, "Redis",
			   major >= 7 ? FINDING_OK : FINDING_FAIL, found,
			   major >= 7 ? "" : "Redis 7.0 or newer is needed");
	}
	free(text);
}

static void look_at_clock(struct ctl *ctl, struct redis *r, json_t *rows)
{
	int64_t before = clock_wall_ms();
	char *text = ask(ctl, r, "TIME", NULL, NULL);
	int64_t middle = (before + clock_wall_ms()) / 2;
	char found[96];
	int64_t off;

	if (text == NULL) {
		return; /* told by others already */
	}
	off = (int64_t)strtoll(text, NULL, 10) * 1000 +
	      strtoll(strchr(text, '\n') + 1, NULL, 10) / 1000 - middle;
	snprintf(found, sizeof found,
		 "its clock is %" PRId64 " ms off this "
		 "machine's",
		 off);
	if (off > CLOCK_OFF_MS || off < -CLOCK_OFF_MS) {
		doctor_add(rows, "Redis", FINDING_WARN, found,
			   "synchronise the clocks: starts and ends are by the "
			   "clock of Redis");
	} else {
		doctor_add(rows, "Redis", FINDING_OK, found, "");
	}
	free(text);
}

/* The address without user and password, which come before the last '@'. */
static const char *address_of(const char *url, char out[160])
{
	const char *scheme_end = strstr(url, "://");
	const char *at = strrchr(url, '@');

	if (at == NULL) {
		return url;
	}
	snprintf(out, 160, "%.*s%s",
		 scheme_end != NULL ? (int)(scheme_end + 3 - url) : 0, url,
		 at + 1);
	return out;
}

bool doctor_redis(struct ctl *ctl, json_t *rows)
{
	char address[160];
	char found[192];
	bool there;
	struct redis_options o;
	struct redis *r;
	char *pong;

	redis_defaults(&o);
	o.url = ctl->options.redis_url;
	o.name = "rainctl-doctor";
	if (redis_new(ctl->hub, &o, &r) != 0) {
		doctor_add(rows, "Redis", FINDING_FAIL, "redis.url is bad",
			   "redis://[user:password@]host:port[/db]");
		return false;
	}
	pong = ask(ctl, r, "PING", NULL, NULL);
	there = pong != NULL;
	if (!there) {
		snprintf(found, sizeof found, "no answer at %s",
			 address_of(ctl->options.redis_url, address));
		doctor_add(rows, "Redis", FINDING_FAIL, found,
			   "start it, or correct redis.url");
	} else {
		look_at_version(ctl, r, rows);
		look_at_setting(ctl, r, rows, "maxmemory-policy", "noeviction",
				FINDING_FAIL, "an evicted list is lost money");
		look_at_setting(ctl, r, rows, "appendonly", "yes", FINDING_FAIL,
				"without it a restart forgets every claim");
		look_at_setting(ctl, r, rows, "appendfsync", "always",
				FINDING_WARN,
				"a crash of the machine loses the last second");
		look_at_clock(ctl, r, rows);
	}
	free(pong);
	redis_free(r);
	return there;
}
