#include "fault/summary.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void add(json_t *sum, const char *name, long long n)
{
	json_object_set_new(sum, name, json_integer(summary_of(sum, name) + n));
}

static void add_object(json_t *sum, json_t *m)
{
	const char *name;
	json_t *value;

	json_object_foreach(m, name, value)
	{
		if (json_is_integer(value)) {
			add(sum, name, json_integer_value(value));
		} else if (json_is_object(value)) {
			add_object(sum, value);
		}
	}
}

void summary_add_json(json_t *sum, const char *text)
{
	json_t *m = json_loads(text, 0, NULL);

	add_object(sum, m);
	json_decref(m);
}

void summary_add_words(json_t *sum, const char *text)
{
	const char *line = NULL;

	for (const char *p = text; (p = strstr(p, "checked ")) != NULL; p++) {
		line = p;
	}
	while (line != NULL && *line != '\0' && *line != '\n') {
		size_t len = strcspn(line, " \n");
		size_t name_len = strcspn(line, "= \n");
		char name[32];

		if (name_len < len && name_len < sizeof name) {
			snprintf(name, sizeof name, "%.*s", (int)name_len,
				 line);
			add(sum, name, strtoll(line + name_len + 1, NULL, 10));
		}
		line += len;
		line += *line == ' ';
	}
}

long long summary_of(const json_t *sum, const char *name)
{
	return json_integer_value(json_object_get(sum, name));
}

const char *summary_doubt(const json_t *tapped, const json_t *checked)
{
	if (summary_of(tapped, "taps") == 0) {
		return "nobody tapped";
	}
	if (summary_of(tapped, "wins") == 0) {
		return "nobody won";
	}
	if (summary_of(checked, "taps") != summary_of(tapped, "taps") ||
	    summary_of(checked, "wins") != summary_of(tapped, "wins")) {
		return "the checker saw other taps or wins than there were";
	}
	return NULL;
}

void summary_print(const json_t *sum, FILE *out)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)sum, name, value)
	{
		fprintf(out, " %s=%lld", name,
			(long long)json_integer_value(value));
	}
	fputc('\n', out);
}
