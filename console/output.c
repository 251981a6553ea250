#include "console/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/proto_util.h"

json_t *output_text(ProtobufCBinaryData b)
{
	json_t *v = json_stringn((const char *)b.data, b.len);

	return v != NULL ? v : json_string("");
}

void output_grouped(const char *digits, char *out)
{
	size_t whole = strcspn(digits, ".");
	size_t n = 0;

	for (size_t i = 0; i < whole; i++) {
		if (i > 0 && (whole - i) % 3 == 0 && digits[i - 1] != '-') {
			out[n++] = ',';
		}
		out[n++] = digits[i];
	}
	memcpy(out + n, digits + whole, strlen(digits + whole) + 1);
}

json_t *output_cents(int64_t cents)
{
	return json_string(amount_text(cents).text);
}

json_t *output_time(const struct ctl *ctl, int64_t ms)
{
	char text[64];
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	size_t n;

	if (ms <= 0 || gmtime_r(&s, &tm) == NULL) {
		return json_null();
	}
	n = ctl->json ? strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm)
		      : strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + n, sizeof text - n, ".%03d%s", (int)(ms % 1000),
		 ctl->json ? "Z" : " UTC");
	return json_string(text);
}

/* A scalar as text, into out. */
static const char *scalar(const json_t *v, char *out, size_t size)
{
	switch (json_typeof(v)) {
	case JSON_STRING:
		return json_string_value(v);
	case JSON_INTEGER:
		snprintf(out, size, "%" JSON_INTEGER_FORMAT,
			 json_integer_value(v));
		return out;
	case JSON_REAL:
		snprintf(out, size, "%.3f", json_real_value(v));
		return out;
	case JSON_TRUE:
		return "yes";
	case JSON_FALSE:
		return "no";
	default:
		return "-";
	}
}

/* Objects in an object: a line each. */
static void print_list(const char *name, int width, json_t *list)
{
	const char *field;
	char text[32];
	json_t *o;
	json_t *v;
	size_t i;

	json_array_foreach(list, i, o)
	{
		printf("%-*s ", width, i == 0 ? name : "");
		json_object_foreach(o, field, v)
		{
			printf(" %s=%s", field, scalar(v, text, sizeof text));
		}
		printf("\n");
	}
}

static void print_object(json_t *o)
{
	const char *name;
	json_t *v;
	char text[32];
	int width = 0;

	json_object_foreach(o, name, v)
	{
		int n = (int)strlen(name);

		width = n > width ? n : width;
	}
	json_object_foreach(o, name, v)
	{
		if (json_is_array(v)) {
			print_list(name, width, v);
			continue;
		}
		printf("%-*s  %s\n", width, name, scalar(v, text, sizeof text));
	}
}

static void print_cell(const char *text, int width, bool right, bool last)
{
	if (right) {
		printf("%*s", width, text);
	} else {
		printf("%-*s", last ? 0 : width, text);
	}
	printf("%s", last ? "\n" : "  ");
}

static void print_table(json_t *rows)
{
	json_t *head = json_array_get(rows, 0);
	size_t columns = json_object_size(head);
	int *widths = xcalloc(columns + 1, sizeof *widths);
	const char *name;
	json_t *v;
	json_t *row;
	char text[32];
	size_t i;
	size_t c = 0;

	json_object_foreach(head, name, v)
	{
		widths[c] = (int)strlen(name);
		json_array_foreach(rows, i, row)
		{
			int n = (int)strlen(scalar(json_object_get(row, name),
						   text, sizeof text));

			widths[c] = n > widths[c] ? n : widths[c];
		}
		c++;
	}
	c = 0;
	json_object_foreach(head, name, v)
	{
		print_cell(name, widths[c], json_is_integer(v),
			   c + 1 == columns);
		c++;
	}
	json_array_foreach(rows, i, row)
	{
		c = 0;
		json_object_foreach(head, name, v)
		{
			json_t *cell = json_object_get(row, name);

			print_cell(scalar(cell, text, sizeof text), widths[c],
				   json_is_integer(cell), c + 1 == columns);
			c++;
		}
	}
	free(widths);
}

void output_print(const struct ctl *ctl, json_t *value)
{
	check(value != NULL);
	if (ctl->json) {
		json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		printf("\n");
	} else if (json_is_object(value)) {
		print_object(value);
	} else if (json_array_size(value) > 0) {
		print_table(value);
	} else {
		printf("none\n");
	}
	json_decref(value);
}

int output_error(const struct ctl *ctl, int rc, const char *command,
		 struct bytes why)
{
	/* Problems of a configuration come as lines. */
	while (why.n > 0 && why.p[why.n - 1] == '\n') {
		why.n--;
	}
	if (ctl->json) {
		output_print(ctl, json_pack("{s:o}", "error",
					    output_text(to_pb(why))));
	} else {
		fprintf(stderr, "rainctl %s: %.*s\n", command, BYTES_FMT(why));
	}
	return rc;
}
