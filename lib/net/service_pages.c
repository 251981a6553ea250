#include <jansson.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "net/service_internal.h"

/* A loop that has not turned for so long does not live. */
enum { SILENT_MS_MAX = 5000 };

static uint64_t silent_ms(const struct service_pages *p)
{
	uint64_t beat = atomic_load(&p->heartbeat_ms);
	uint64_t now = clock_mono_ms();

	return now > beat ? now - beat : 0;
}

static void show_livez(const struct service_pages *p, struct http_answer *a)
{
	uint64_t silent = silent_ms(p);

	a->status = silent < SILENT_MS_MAX ? 200 : 503;
	if (a->status == 200) {
		buf_printf(&a->body, "ok\n");
	} else {
		buf_printf(&a->body, "the loop has been silent for %llu ms\n",
			   (unsigned long long)silent);
	}
}

/* Each line of text as a string of list. */
static void add_lines(json_t *list, struct bytes text)
{
	while (text.n > 0) {
		const uint8_t *end = memchr(text.p, '\n', text.n);
		size_t n = end != NULL ? (size_t)(end - text.p) : text.n;
		size_t skip = end != NULL ? n + 1 : n;

		if (n > 0) {
			(void)json_array_append_new(
				list, json_stringn((const char *)text.p, n));
		}
		text = bytes_make(text.p + skip, text.n - skip);
	}
}

static void show_readyz(struct service_pages *p, struct http_answer *a)
{
	json_t *failing = json_array();
	json_t *notes = json_array();
	json_t *page;
	bool ready;
	char *text;

	(void)pthread_mutex_lock(&p->lock);
	ready = p->ready;
	add_lines(ready ? notes : failing, buf_live(&p->why));
	(void)pthread_mutex_unlock(&p->lock);
	if (silent_ms(p) >= SILENT_MS_MAX) {
		ready = false;
		(void)json_array_append_new(failing,
					    json_string("the loop is silent"));
	}
	page = json_pack("{s:b,s:o}", "ready", (int)ready, "failing", failing);
	check(page != NULL);
	if (json_array_size(notes) > 0) {
		(void)json_object_set(page, "notes", notes);
	}
	json_decref(notes);
	text = json_dumps(page, JSON_COMPACT);
	check(text != NULL);
	a->status = ready ? 200 : 503;
	a->type = "application/json";
	buf_printf(&a->body, "%s\n", text);
	free(text);
	json_decref(page);
}

/* On the HTTP thread: reads the snapshot, never the service. */
static void show_page(void *ctx, const char *path, struct http_answer *a)
{
	struct service_pages *p = ctx;

	if (strcmp(path, "/livez") == 0) {
		show_livez(p, a);
	} else if (strcmp(path, "/readyz") == 0) {
		show_readyz(p, a);
	} else if (strcmp(path, "/metrics") == 0) {
		a->status = 200;
		a->type = "text/plain; version=0.0.4; charset=utf-8";
		metrics_render(&a->body);
	} else {
		buf_printf(&a->body, "pages: /livez /readyz /metrics\n");
	}
}

int service_pages_start(struct service_pages *p, const char *address)
{
	int rv;

	*p = (struct service_pages){ .ready = false };
	check(pthread_mutex_init(&p->lock, NULL) == 0);
	buf_init(&p->why);
	buf_printf(&p->why, "starting\n");
	atomic_store(&p->heartbeat_ms, clock_mono_ms());
	if (address[0] == '\0') {
		return 0;
	}
	rv = http_start(address, show_page, p, &p->http);
	if (rv == 0) {
		log_info("http listens",
			 log_str("addr", http_address(p->http)));
	} else {
		log_error("http cannot listen", log_str("addr", address),
			  log_err(rv));
	}
	return rv;
}

void service_pages_refresh(struct service_pages *p, bool ready,
			   const struct buf *why)
{
	atomic_store(&p->heartbeat_ms, clock_mono_ms());
	(void)pthread_mutex_lock(&p->lock);
	p->ready = ready;
	buf_take(&p->why, buf_len(&p->why));
	buf_put_bytes(&p->why, buf_live(why));
	(void)pthread_mutex_unlock(&p->lock);
}

void service_pages_stop(struct service_pages *p)
{
	http_stop(p->http);
	buf_close(&p->why);
	(void)pthread_mutex_destroy(&p->lock);
}
