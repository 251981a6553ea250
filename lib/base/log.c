#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

enum {
	/* A pipe takes this much in one piece, whoever else writes to it. */
	LINE_MAX_BYTES = 4096,
	/* Kept free for the end of the line. */
	LINE_TAIL_BYTES = 32,
	/* A longer value is cut: a log line is no place for a document. */
	TEXT_MAX_BYTES = 2048,
};

struct line {
	char text[LINE_MAX_BYTES];
	size_t n;
	bool json;
	bool cut; /* something did not fit */
};

static _Atomic int setup_level = LOG_INFO;
static _Atomic int setup_format = LOG_LOGFMT;
static const char *_Atomic setup_process = NULL;

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_setup(enum log_level level, enum log_format format,
	       const char *process)
{
	atomic_store(&setup_level, (int)level);
	atomic_store(&setup_format, (int)format);
	atomic_store(&setup_process, process);
}

bool log_on(enum log_level level)
{
	return (int)level >=
	       atomic_load_explicit(&setup_level, memory_order_relaxed);
}

struct log_field log_str(const char *key, const char *s)
{
	return log_bytes(key, bytes_str(s));
}

struct log_field log_bytes(const char *key, struct bytes b)
{
	return (struct log_field){ .key = key, .kind = LOG_TEXT, .text = b };
}

struct log_field log_int(const char *key, int64_t n)
{
	return (struct log_field){ .key = key,
				   .kind = LOG_NUMBER,
				   .number = n };
}

struct log_field log_err(int code)
{
	return log_str("err", err_str(code));
}

/* Append, or nothing at all. */
static bool put(struct line *l, const char *p, size_t n)
{
	if (l->cut || n > sizeof(l->text) - LINE_TAIL_BYTES - l->n) {
		l->cut = true;
		return false;
	}
	(void)memcpy(l->text + l->n, p, n);
	l->n += n;
	return true;
}

static void put_str(struct line *l, const char *s)
{
	(void)put(l, s, strlen(s));
}

/* Whether logfmt can show the value without quotes. */
static bool plain(struct bytes v)
{
	for (size_t i = 0; i < v.n; i++) {
		uint8_t c = v.p[i];

		if (c <= ' ' || c == '"' || c == '=' || c == '\\' ||
		    c >= 0x7f) {
			return false;
		}
	}
	return v.n > 0;
}

/* One byte inside quotes, as both formats write it. */
static void put_quoted_byte(struct line *l, uint8_t c)
{
	char text[8];

	switch (c) {
	case '\n':
		put_str(l, "\\n");
		return;
	case '\t':
		put_str(l, "\\t");
		return;
	case '"':
	case '\\':
		text[0] = '\\';
		text[1] = (char)c;
		(void)put(l, text, 2);
		return;
	default:
		break;
	}
	if (c < ' ' || c == 0x7f) {
		(void)snprintf(text, sizeof(text), "\\u%04x", c);
		put_str(l, text);
	} else {
		text[0] = (char)c;
		(void)put(l, text, 1);
	}
}

static void put_quoted(struct line *l, struct bytes v)
{
	bool utf8 = bytes_utf8(v);

	put_str(l, "\"");
	for (size_t i = 0; i < v.n; i++) {
		/* A stranger's bytes must not make the line unreadable. */
		put_quoted_byte(l, v.p[i] >= 0x80 && !utf8 ? '?' : v.p[i]);
	}
	put_str(l, "\"");
}

/* v, cut to TEXT_MAX_BYTES at the border of a character. */
static struct bytes shorten(struct bytes v)
{
	if (v.n <= TEXT_MAX_BYTES) {
		return v;
	}
	v.n = TEXT_MAX_BYTES;
	while (v.n > 0 && (v.p[v.n] & 0xc0) == 0x80) {
		v.n--;
	}
	return v;
}

static void put_field(struct line *l, const struct log_field *f)
{
	struct bytes text = shorten(f->text);
	size_t start = l->n;
	char number[24];

	if (l->json) {
		put_str(l, l->n > 1 ? ",\"" : "\"");
		put_str(l, f->key);
		put_str(l, "\":");
	} else {
		put_str(l, l->n > 0 ? " " : "");
		put_str(l, f->key);
		put_str(l, "=");
	}
	if (f->kind == LOG_NUMBER) {
		(void)snprintf(number, sizeof(number), "%" PRId64, f->number);
		put_str(l, number);
	} else if (!l->json && plain(text)) {
		(void)put(l, (const char *)text.p, text.n);
	} else {
		put_quoted(l, text);
	}
	if (l->cut) {
		l->n = start; /* no half field */
	}
}

static void put_head(struct line *l, enum log_level level, const char *event)
{
	int64_t ms = clock_wall_ms();
	time_t seconds = (time_t)(ms / 1000);
	const char *process = atomic_load(&setup_process);
	char at[40];
	struct log_field f;
	struct tm tm;
	size_t n;

	(void)gmtime_r(&seconds, &tm);
	n = strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(at + n, sizeof(at) - n, ".%03dZ", (int)(ms % 1000));
	f = log_str("ts", at);
	put_field(l, &f);
	f = log_str("level", level_names[level]);
	put_field(l, &f);
	if (process != NULL) {
		f = log_str("process", process);
		put_field(l, &f);
	}
	f = log_str("event", event);
	put_field(l, &f);
}

static void put_end(struct line *l)
{
	const char *end = l->json ? "}\n" : "\n";

	if (l->cut) {
		end = l->json ? ",\"cut\":true}\n" : " cut=true\n";
	}
	(void)memcpy(l->text + l->n, end, strlen(end));
	l->n += strlen(end);
}

void log_write(enum log_level level, const char *event, ...)
{
	struct line l;
	struct log_field f;
	va_list fields;

	if (!log_on(level)) {
		return;
	}
	l.n = 0;
	l.cut = false;
	l.json = atomic_load(&setup_format) == LOG_JSON;
	if (l.json) {
		put_str(&l, "{");
	}
	put_head(&l, level, event);
	va_start(fields, event);
	for (f = va_arg(fields, struct log_field); f.key != NULL;
	     f = va_arg(fields, struct log_field)) {
		put_field(&l, &f);
	}
	va_end(fields);
	put_end(&l);
	/* Where stderr is gone there is nobody to tell. */
	if (write(STDERR_FILENO, l.text, l.n) < 0) {
		return;
	}
}
