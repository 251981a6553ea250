#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault/check.h"

static const char *text(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static int64_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

/* False for the lines that are there for people. */
static bool line_read(const json_t *o, struct check_line *line)
{
	static const struct {
		const char *event;
		enum check_line_kind kind;
	} kinds[] = { { "ask", CHECK_ASK },
		      { "answer", CHECK_ANSWER },
		      { "closed", CHECK_CLOSED },
		      { "end", CHECK_END } };
	const char *event = text(o, "event");
	const char *kind = text(o, "kind");

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (event == NULL || strcmp(event, kinds[i].event) != 0) {
			continue;
		}
		*line = (struct check_line){
			.kind = kinds[i].kind,
			.mono_ms = (uint64_t)number(o, "mono"),
			.wall_ms = number(o, "wall"),
			.connection = (uint64_t)number(o, "conn"),
			.seq = (uint64_t)number(o, "seq"),
			.query = kind != NULL && strcmp(kind, "query") == 0,
			.activity = text(o, "activity"),
			.user = text(o, "user"),
			.not_after_ms = number(o, "not_after"),
			.status = text(o, "status"),
			.packet = text(o, "packet"),
			.amount_cents = number(o, "amount"),
			.at_ms = number(o, "at"),
		};
		return true;
	}
	return false;
}

static bool line_whole(const struct check_line *line)
{
	return (line->kind != CHECK_ASK ||
		(line->activity != NULL && line->user != NULL)) &&
	       (line->kind != CHECK_ANSWER || line->status != NULL);
}

int check_read_log(const char *path, struct check *c, struct buf *why)
{
	FILE *f = fopen(path, "r");
	char *row = NULL;
	size_t size = 0;
	uint64_t n = 0;
	int rc = CTL_OK;
	ssize_t len;

	if (f == NULL) {
		buf_printf(why, "%s: %s", path, strerror(errno));
		return CTL_UNKNOWN;
	}
	while (rc == CTL_OK && (len = getline(&row, &size, f)) > 0) {
		json_t *o = json_loadb(row, (size_t)len, 0, NULL);
		struct check_line line;

		n++;
		if (o == NULL) {
			/* The last one may be cut, if the apps were killed. */
			if (row[len - 1] == '\n') {
				buf_printf(why, "%s: line %llu is no JSON",
					   path, (unsigned long long)n);
				rc = CTL_UNKNOWN;
			}
		} else if (line_read(o, &line)) {
			if (line_whole(&line)) {
				check_log_line(c, &line);
			} else {
				buf_printf(why, "%s: line %llu lacks a member",
					   path, (unsigned long long)n);
				rc = CTL_UNKNOWN;
			}
		}
		json_decref(o);
	}
	free(row);
	(void)fclose(f);
	return rc;
}
