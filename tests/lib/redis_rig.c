#include "lib/redis_rig.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <openssl/evp.h>

#include "base/rand.h"

enum { WORDS_MAX = 16 };

static void changed_cb(void *ctx)
{
	struct rig *g = ctx;

	cr_assert_not(g->in_call);
	g->changes++;
	g->was_ready = redis_ready(g->redis);
}

void rig_open_loop(struct rig *g)
{
	signal(SIGPIPE, SIG_IGN); /* as every service does */
	memset(g, 0, sizeof(*g));
	cr_assert_eq(uv_loop_init(&g->loop), 0);
	g->hub = stream_hub_new(&g->loop);
}

void rig_open(struct rig *g, const char *url,
	      void (*change)(struct redis_options *o))
{
	rig_open_loop(g);
	rig_start(g, url, change);
}

void rig_start(struct rig *g, const char *url,
	       void (*change)(struct redis_options *o))
{
	redis_defaults(&g->options);
	g->options.url = url;
	g->options.name = "test";
	g->options.silence_max_ms = 60000;
	g->options.backoff_min_ms = 5;
	g->options.backoff_max_ms = 50;
	if (change != NULL) {
		change(&g->options);
	}
	cr_assert_eq(redis_new(g->hub, &g->options, &g->redis), 0);
	redis_watch(g->redis, changed_cb, g);
}

void rig_free_redis(struct rig *g)
{
	redis_free(g->redis);
	g->redis = NULL;
}

void rig_close(struct rig *g)
{
	struct turns *t = turns_start(&g->loop, 10000);

	if (g->redis != NULL) {
		rig_free_redis(g);
	}
	/* The hub must outlive the client's connection. */
	uv_unref((uv_handle_t *)&t->timer);
	while (!t->late && uv_run(&g->loop, UV_RUN_ONCE) != 0) {
	}
	cr_assert_not(t->late, "the client does not end");
	turns_stop(t);
	stream_hub_free(g->hub);
	turns_end(&g->loop);
	cr_assert_eq(g->started, g->ended, "%zu sent, %zu ended", g->started,
		     g->ended);
}

/* ---- Waiting ---- */

void rig_spin(struct rig *g, uint64_t ms)
{
	struct turns *t;

	uv_update_time(&g->loop);
	t = turns_start(&g->loop, ms);
	while (!t->late) {
		uv_run(&g->loop, UV_RUN_ONCE);
	}
	turns_stop(t);
}

void rig_ready(struct rig *g, bool ready)
{
	RUN_UNTIL(&g->loop, redis_ready(g->redis) == ready);
}

void rig_answer(struct rig *g, struct answer *a)
{
	RUN_UNTIL(&g->loop, a->ended > 0);
}

void rig_all(struct rig *g)
{
	RUN_UNTIL(&g->loop, g->ended == g->started);
}

/* ---- Commands ---- */

static void put_text(struct answer *a, const redisReply *reply)
{
	size_t n = strlen(a->text);
	char *at = a->text + n;

	if (reply->str != NULL) {
		snprintf(at, sizeof(a->text) - n, "%s", reply->str);
	} else if (reply->type == REDIS_REPLY_INTEGER) {
		snprintf(at, sizeof(a->text) - n, "%lld", reply->integer);
	}
	for (size_t i = 0; i < reply->elements; i++) {
		put_text(a, reply->element[i]);
		if (i + 1 < reply->elements) {
			n = strlen(a->text);
			snprintf(a->text + n, sizeof(a->text) - n, " ");
		}
	}
}

static void ended_cb(void *ctx, enum redis_outcome outcome,
		     const redisReply *reply)
{
	struct answer *a = ctx;
	struct rig *g = a->rig;

	cr_assert_not(g->in_call, "called back from inside the call");
	cr_assert_eq(a->ended, 0, "ended twice");
	a->ended = 1;
	a->place = ++g->ended;
	a->outcome = outcome;
	a->replied = reply != NULL;
	if (reply != NULL) {
		put_text(a, reply);
	}
}

static size_t split(const char *words, struct bytes argv[WORDS_MAX])
{
	size_t n = 0;

	while (*words != '\0') {
		size_t len = strcspn(words, " ");

		cr_assert_lt(n, WORDS_MAX);
		argv[n++] = bytes_make(words, len);
		words += len;
		words += *words == ' ';
	}
	return n;
}

static void begin(struct rig *g, struct answer *a)
{
	memset(a, 0, sizeof(*a));
	a->rig = g;
	g->started++;
	g->in_call = true;
	uv_update_time(&g->loop);
}

void rig_send(struct rig *g, struct answer *a, uint64_t timeout_ms,
	      const char *words)
{
	struct bytes argv[WORDS_MAX];
	size_t argc = split(words, argv);

	begin(g, a);
	redis_command(g->redis, argc, argv, timeout_ms, ended_cb, a);
	g->in_call = false;
}

void rig_script(struct rig *g, struct answer *a, uint64_t timeout_ms,
		const struct redis_script *script, size_t key_count,
		const char *words)
{
	struct bytes argv[WORDS_MAX];
	size_t argc = split(words, argv);

	begin(g, a);
	redis_script(g->redis, script, key_count, argc, argv, timeout_ms,
		     ended_cb, a);
	g->in_call = false;
}

void rig_transaction(struct rig *g, struct answer *a, uint64_t timeout_ms,
		     const struct redis_script *script, size_t key_count,
		     const char *words, const char *then)
{
	struct bytes argv[WORDS_MAX];
	struct bytes then_argv[WORDS_MAX];
	size_t argc = split(words, argv);
	struct redis_words behind = { split(then, then_argv), then_argv };

	begin(g, a);
	redis_transaction(g->redis, script, key_count, argc, argv, 1, &behind,
			  timeout_ms, ended_cb, a);
	g->in_call = false;
}

const char *rig_ask(struct rig *g, struct answer *a, const char *words)
{
	rig_send(g, a, RIG_TIMEOUT_MS, words);
	rig_answer(g, a);
	return a->text;
}

struct redis_script rig_make_script(const char *name, const char *source)
{
	struct redis_script s = { .name = name, .source = bytes_str(source) };
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len;

	cr_assert_eq(EVP_Digest(s.source.p, s.source.n, digest, &len,
				EVP_sha1(), NULL),
		     1);
	cr_assert_eq(len, 20);
	hex_encode(digest, len, s.sha1);
	return s;
}
