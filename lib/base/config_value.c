#include <inttypes.h>
#include <stdio.h>

#include "base/config_state.h"

struct unit {
	const char *name;
	int64_t worth;
};

static const struct unit time_units[] = {
	{ "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "KiB", INT64_C(1) << 10 },
	{ "MiB", INT64_C(1) << 20 },
	{ "GiB", INT64_C(1) << 30 },
	{ 0 },
};

static bool read_int(const char *text, int64_t *out)
{
	bool minus = text[0] == '-';
	uint64_t v;

	if (!bytes_to_u64(bytes_str(text + minus), INT64_MAX, &v)) {
		return false;
	}
	*out = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool read_with_unit(const char *text, const struct unit *units,
			   int64_t *out)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t v;

	if (strcmp(text, "0") == 0) {
		*out = 0; /* needs no unit */
		return true;
	}
	for (const struct unit *u = units; u->name != NULL; u++) {
		if (strcmp(text + digits, u->name) == 0) {
			if (!bytes_to_u64(bytes_make(text, digits),
					  (uint64_t)(INT64_MAX / u->worth),
					  &v)) {
				return false;
			}
			*out = (int64_t)v * u->worth;
			return true;
		}
	}
	return false;
}

static bool read_bool(const char *text, int64_t *out)
{
	static const char *const words[] = { "false", "true", "no", "yes",
					     "off",   "on",   "0",  "1" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i]) == 0) {
			*out = (int64_t)(i % 2);
			return true;
		}
	}
	return false;
}

static bool is_choice(const char *text, const char *choices)
{
	size_t n = strlen(text);

	for (const char *at = choices; at != NULL;) {
		size_t len = strcspn(at, "|");

		if (len == n && n > 0 && memcmp(at, text, n) == 0) {
			return true;
		}
		at = at[len] == '|' ? at + len + 1 : NULL;
	}
	return false;
}

/* A string that a log line or a dump can show on one line. */
static bool is_text(const char *text)
{
	for (const char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			return false;
		}
	}
	return bytes_utf8(bytes_str(text));
}

static bool understand(const struct config_key *key, const char *text,
		       int64_t *out)
{
	switch (key->type) {
	case CONFIG_STRING:
		return is_text(text);
	case CONFIG_CHOICE:
		return is_choice(text, key->choices);
	case CONFIG_INT:
		return read_int(text, out);
	case CONFIG_BOOL:
		return read_bool(text, out);
	case CONFIG_TIME:
		return read_with_unit(text, time_units, out);
	case CONFIG_SIZE:
		return read_with_unit(text, size_units, out);
	}
	return false;
}

static bool is_number(const struct config_key *key)
{
	return key->type == CONFIG_INT || key->type == CONFIG_TIME ||
	       key->type == CONFIG_SIZE;
}

static bool is_bounded(const struct config_key *key)
{
	return is_number(key) && (key->min != 0 || key->max != 0);
}

bool config_value_read(const struct config_key *key, const char *text,
		       int64_t *number, struct buf *problem)
{
	int64_t v = 0;
	const char *what;

	if (!understand(key, text, &v)) {
		what = "cannot be read";
	} else if (is_bounded(key) && v < key->min) {
		what = "is too small";
	} else if (is_bounded(key) && v > key->max) {
		what = "is too large";
	} else {
		*number = v;
		return true;
	}
	if ((key->flags & CONFIG_SECRET) != 0) {
		buf_printf(problem, "*** %s; allowed: ", what);
	} else {
		buf_printf(problem, "\"%s\" %s; allowed: ", text, what);
	}
	config_value_allowed(key, problem);
	return false;
}

/* v in the largest unit that divides it. */
static void put_with_unit(struct buf *out, int64_t v, const struct unit *units)
{
	const struct unit *best = units;

	for (const struct unit *u = units; u->name != NULL; u++) {
		if (v != 0 && v % u->worth == 0) {
			best = u;
		}
	}
	buf_printf(out, "%" PRId64 "%s", v / best->worth, best->name);
}

static void put_number(struct buf *out, const struct config_key *key, int64_t v)
{
	switch (key->type) {
	case CONFIG_TIME:
		put_with_unit(out, v, time_units);
		break;
	case CONFIG_SIZE:
		put_with_unit(out, v, size_units);
		break;
	case CONFIG_STRING:
	case CONFIG_CHOICE:
	case CONFIG_INT:
	case CONFIG_BOOL:
	default:
		buf_printf(out, "%" PRId64, v);
		break;
	}
}

void config_value_allowed(const struct config_key *key, struct buf *out)
{
	switch (key->type) {
	case CONFIG_STRING:
		buf_printf(out, "text on one line");
		break;
	case CONFIG_CHOICE:
		for (const char *c = key->choices; *c != '\0'; c++) {
			buf_put(out, *c == '|' ? ", " : c, *c == '|' ? 2 : 1);
		}
		break;
	case CONFIG_INT:
		buf_printf(out, "a whole number%s",
			   is_bounded(key) ? ", " : "");
		break;
	case CONFIG_BOOL:
		buf_printf(out, "true, false, yes, no, on, off, 1, 0");
		break;
	case CONFIG_TIME:
		buf_printf(out, "a time like 250ms, 10s, 5m, 2h%s",
			   is_bounded(key) ? ", " : "");
		break;
	case CONFIG_SIZE:
		buf_printf(out, "bytes like 512, 16KiB, 8MiB, 1GiB%s",
			   is_bounded(key) ? ", " : "");
		break;
	}
	if (is_bounded(key)) {
		put_number(out, key, key->min);
		buf_printf(out, " to ");
		put_number(out, key, key->max);
	}
}

/* A letter of a key's name as it stands in a variable's. */
static char env_letter(char c)
{
	if (c == '.' || c == '-') {
		return '_';
	}
	if (c >= 'a' && c <= 'z') {
		return (char)(c - 'a' + 'A');
	}
	return c;
}

void config_env_name(const char *name, char out[CONFIG_ENV_MAX])
{
	size_t n = (size_t)snprintf(out, CONFIG_ENV_MAX, "RAIN_%s", name);

	check(n < CONFIG_ENV_MAX);
	for (char *c = out; *c != '\0'; c++) {
		*c = env_letter(*c);
	}
}

bool config_env_same(const char *a, const char *b)
{
	while (*a != '\0' && env_letter(*a) == env_letter(*b)) {
		a++;
		b++;
	}
	return *a == *b;
}
