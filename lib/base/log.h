/**
 * The log: one event a line, logfmt or JSON, to stderr. Ids yes, tokens and
 * secrets never. Safe from any thread; a line is one write(2).
 *
 *   log_warn("redis lost", log_str("addr", addr), log_int("in_flight", n));
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/bytes.h"
#include "base/check.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_LOGFMT, LOG_JSON };

struct log_field {
	const char *key; /* NULL ends a list */
	enum { LOG_TEXT, LOG_NUMBER } kind;
	struct bytes text; /* borrowed for the call */
	int64_t number;
};

/** Borrow what they are given until log_write() returns. */
struct log_field log_str(const char *key, const char *s);
struct log_field log_bytes(const char *key, struct bytes b);
struct log_field log_int(const char *key, int64_t n);
/** The text of an error code, see err.h. */
struct log_field log_err(int code);

#define LOG_LAST       ((struct log_field){ 0 })
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__, LOG_LAST)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__, LOG_LAST)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__, LOG_LAST)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__, LOG_LAST)

/** event, then struct log_field values, the last one with key NULL. */
void log_write(enum log_level level, const char *event, ...);

/** Whether a line of this level would be written. */
bool log_on(enum log_level level);

/** Set once at start-up; may be set again. Default INFO, logfmt. process (or
 * NULL) stays borrowed for ever. */
void log_setup(enum log_level level, enum log_format format,
	       const char *process);

#endif
