/**
 * How answers are printed: JSON with --json, else aligned text.
 */
#ifndef CONSOLE_OUTPUT_H
#define CONSOLE_OUTPUT_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "base/amount.h"
#include "console/ctl.h"

/** JSON text of a protobuf field of ours. A new reference. */
json_t *output_text(ProtobufCBinaryData b);

/** Write digits, perhaps with a sign and a point, with a comma after each
 * thousand: "100,000.00". out has a third more room than they need. */
void output_grouped(const char *digits, char *out);

/** Cents as JSON text, "12.21" or "-0.50". A new reference. */
json_t *output_cents(int64_t cents);

/** "2026-01-31 20:00:00.123 UTC" as text, "2026-01-31T20:00:00.123Z" with
 * --json; null, which is printed as "-", for 0. A new reference. */
json_t *output_time(const struct ctl *ctl, int64_t ms);

/**
 * Print value and release it. With --json as it is; else an object's members
 * line by line ("name  value"), an array of objects as a table whose columns
 * are the members of the first one.
 */
void output_print(const struct ctl *ctl, json_t *value);

/** Tell that something went wrong: {"error": …} or a line on stderr. Returns
 * rc. */
int output_error(const struct ctl *ctl, int rc, const char *command,
		 struct bytes why);

#endif
