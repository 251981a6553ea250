#include "step.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/id.h"

#include "lua/scripts.h"
#include "rain/activity_service.pb-c.h"

enum {
	KEY_COUNT = 6,
	GATE = KEY_COUNT, /* of preload.lua, beside them */
	KEY_MAX = ID_MAX + 24,
	HEAD_COUNT = 4,
};

static const char *const key_names[KEY_COUNT + 1] = {
	"packets", "users", "claims", "events", "meta", "relay", "loading",
};

static const struct {
	enum step_code code;
	const char *name;
} codes[] = {
#define X(name) { STEP_##name, #name },
	STEP_CODE_MAP(X)
#undef X
};

static const struct {
	int state;
	const char *name;
} states[] = {
	{ RAIN__STATE__CREATED, "CREATED" },
	{ RAIN__STATE__LOADING, "LOADING" },
	{ RAIN__STATE__LOADED, "LOADED" },
	{ RAIN__STATE__OPEN, "OPEN" },
	{ RAIN__STATE__STATE_PAUSED, "PAUSED" },
	{ RAIN__STATE__CLOSED, "CLOSED" },
	{ RAIN__STATE__SETTLED, "SETTLED" },
	{ RAIN__STATE__CANCELLED, "CANCELLED" },
	{ RAIN__STATE__HALTED, "HALTED" },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

const char *step_code_name(enum step_code code)
{
	for (size_t i = 0; i < LENGTH(codes); i++) {
		if (codes[i].code == code) {
			return codes[i].name;
		}
	}
	return "UNREADABLE";
}

static enum step_code code_from_name(struct bytes name)
{
	for (size_t i = 0; i < LENGTH(codes); i++) {
		if (bytes_eq(name, bytes_str(codes[i].name))) {
			return codes[i].code;
		}
	}
	return STEP_UNREADABLE;
}

const char *state_name(int state)
{
	for (size_t i = 0; i < LENGTH(states); i++) {
		if (states[i].state == state) {
			return states[i].name;
		}
	}
	return "UNKNOWN";
}

int state_from_name(struct bytes name)
{
	for (size_t i = 0; i < LENGTH(states); i++) {
		if (bytes_eq(name, bytes_str(states[i].name))) {
			return states[i].state;
		}
	}
	return RAIN__STATE__STATE_UNSPECIFIED;
}

static struct bytes element_text(const redisReply *e)
{
	if (e->type != REDIS_REPLY_STRING && e->type != REDIS_REPLY_STATUS) {
		return (struct bytes){ 0 };
	}
	return bytes_make(e->str, (size_t)e->len);
}

static bool element_number(const redisReply *e, int64_t *out)
{
	uint64_t number = 0;

	if (e->type == REDIS_REPLY_INTEGER) {
		*out = e->integer;
		return true;
	}
	if (!bytes_to_u64(element_text(e), INT64_MAX, &number)) {
		return false;
	}
	*out = (int64_t)number;
	return true;
}

struct bytes step_text(const struct step_reply *reply, size_t i)
{
	if (i >= reply->rest_count) {
		return (struct bytes){ 0 };
	}
	return element_text(reply->rest[i]);
}

bool step_number(const struct step_reply *reply, size_t i, int64_t *out)
{
	return i < reply->rest_count && element_number(reply->rest[i], out);
}

bool step_reply_read(const redisReply *r, struct step_reply *out)
{
	int64_t revision = 0;
	struct bytes state;

	if (r == NULL || r->type != REDIS_REPLY_ARRAY ||
	    r->elements < HEAD_COUNT) {
		return false;
	}
	out->code = code_from_name(element_text(r->element[0]));
	state = element_text(r->element[3]);
	out->state = state_from_name(state);
	if (out->code == STEP_UNREADABLE ||
	    !element_number(r->element[1], &out->time_ms) ||
	    !element_number(r->element[2], &revision) || revision < 0 ||
	    (out->state == 0 && state.n != 0)) {
		return false;
	}
	out->revision = (uint64_t)revision;
	out->rest = r->element + HEAD_COUNT;
	out->rest_count = (size_t)r->elements - HEAD_COUNT;
	return true;
}

struct step {
	step_cb done;
	void *ctx;
};

/* Frees s. is_whole: what came with a reply OK is good as well. */
static void answer(struct step *s, enum redis_outcome outcome,
		   const redisReply *reply, bool is_whole)
{
	struct step_reply parsed = { 0 };
	struct bytes error = { 0 };

	if (reply != NULL && reply->type == REDIS_REPLY_ERROR) {
		error = bytes_make(reply->str, (size_t)reply->len);
	}
	if (outcome == REDIS_DONE && step_reply_read(reply, &parsed) &&
	    (is_whole || parsed.code != STEP_OK)) {
		s->done(s->ctx, outcome, &parsed, error);
	} else {
		/* A foreign reply says nothing about what was written. */
		s->done(s->ctx, outcome == REDIS_DONE ? REDIS_PARTIAL : outcome,
			NULL, error);
	}
	free(s);
}

static void step_run_cb(void *ctx, enum redis_outcome outcome,
			const redisReply *reply)
{
	answer(ctx, outcome, reply, true);
}

static void step_preload_cb(void *ctx, enum redis_outcome outcome,
			    const redisReply *reply)
{
	const redisReply *last;
	bool is_whole;

	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements == 0) {
		answer(ctx, outcome, reply, false);
		return;
	}
	last = reply->element[reply->elements - 1];
	is_whole = last->type == REDIS_REPLY_INTEGER && last->integer == 1;
	for (size_t i = 1; i < reply->elements; i++) {
		is_whole = is_whole &&
			   reply->element[i]->type != REDIS_REPLY_ERROR;
	}
	answer(ctx, outcome, reply->element[0], is_whole);
}

struct step_keys {
	char text[KEY_COUNT + 1][KEY_MAX];
	struct bytes at[KEY_COUNT + 1];
};

static void name_keys(struct step_keys *keys, struct bytes activity_id,
		      size_t count)
{
	check(id_valid(activity_id));
	for (size_t i = 0; i < count; i++) {
		int n = snprintf(keys->text[i], KEY_MAX, "rain:{%.*s}:%s",
				 BYTES_FMT(activity_id), key_names[i]);

		check(n > 0 && n < KEY_MAX);
		keys->at[i] = bytes_make(keys->text[i], (size_t)n);
	}
}

static struct step *step_new(step_cb done, void *ctx)
{
	struct step *s = xmalloc(sizeof(*s));

	check(done != NULL);
	*s = (struct step){ .done = done, .ctx = ctx };
	return s;
}

void step_run(struct redis *r, const struct redis_script *script,
	      struct bytes activity_id, size_t argc, const struct bytes *argv,
	      uint64_t timeout_ms, step_cb done, void *ctx)
{
	struct bytes *all = xcalloc(KEY_COUNT + argc, sizeof(*all));
	struct step_keys keys;

	name_keys(&keys, activity_id, KEY_COUNT);
	memcpy(all, keys.at, KEY_COUNT * sizeof(*all));
	if (argc > 0) {
		memcpy(all + KEY_COUNT, argv, argc * sizeof(*all));
	}
	redis_script(r, script, KEY_COUNT, KEY_COUNT + argc, all, timeout_ms,
		     step_run_cb, step_new(done, ctx));
	free(all);
}

void step_preload(struct redis *r, struct bytes activity_id, uint64_t offset,
		  size_t n, const struct bytes *packets, uint64_t timeout_ms,
		  step_cb done, void *ctx)
{
	enum { ARGS = 3 };
	struct bytes all[KEY_COUNT + 1 + ARGS];
	struct bytes *push = xcalloc(2 + n, sizeof(*push));
	/* NX: a list that is there while the gate is a stranger's stays. */
	struct bytes rename[3] = { BYTES("RENAMENX") };
	char offset_text[U64_DIGITS];
	char n_text[U64_DIGITS];
	struct step_keys keys;
	/* An empty LPUSHX is none. */
	struct redis_words then[] = { { n + 1, push }, { 3, rename } };
	size_t skip = n > 1 ? 0 : 1;

	check(n > 0);
	name_keys(&keys, activity_id, KEY_COUNT + 1);
	memcpy(all, keys.at, sizeof(keys.at));
	all[KEY_COUNT + 1] =
		bytes_make(offset_text, bytes_from_u64(offset, offset_text));
	all[KEY_COUNT + 2] = bytes_make(n_text, bytes_from_u64(n, n_text));
	all[KEY_COUNT + 3] = packets[0];
	push[0] = BYTES("LPUSHX");
	push[1] = keys.at[GATE];
	memcpy(push + 2, packets + 1, (n - 1) * sizeof(*push));
	rename[1] = keys.at[GATE];
	rename[2] = keys.at[0];
	redis_transaction(r, &lua_preload, KEY_COUNT + 1, KEY_COUNT + 1 + ARGS,
			  all, 2 - skip, then + skip, timeout_ms,
			  step_preload_cb, step_new(done, ctx));
	free(push);
}
