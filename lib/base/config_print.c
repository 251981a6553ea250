#include <inttypes.h>
#include <stdio.h>

#include "base/config_state.h"

enum { NAME_MAX_LEN = 64 };

/* Length of "section" in "section.key". */
static size_t section_len(const char *name)
{
	return strcspn(name, ".");
}

static bool same_section(const char *a, const char *b)
{
	size_t n = section_len(a);

	return n == section_len(b) && strncmp(a, b, n) == 0;
}

/* Whether keys[i] is the first of its section. */
static bool opens_section(const struct config_key *keys, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (same_section(keys[j].name, keys[i].name)) {
			return false;
		}
	}
	return true;
}

/* Calls print(key, arg) for all keys, section by section. */
typedef void (*key_cb)(const struct config_key *key, void *arg);

static void each_key(const struct config_key *keys, FILE *out, key_cb print,
		     void *arg)
{
	for (size_t i = 0; keys[i].name != NULL; i++) {
		if (!opens_section(keys, i)) {
			continue;
		}
		(void)fprintf(out, "%s[%.*s]\n", i > 0 ? "\n" : "",
			      (int)section_len(keys[i].name), keys[i].name);
		for (size_t j = i; keys[j].name != NULL; j++) {
			if (same_section(keys[i].name, keys[j].name)) {
				print(&keys[j], arg);
			}
		}
	}
}

struct dump {
	const struct config *c;
	FILE *out;
};

static void dump_key(const struct config_key *key, void *arg)
{
	const struct dump *d = arg;
	const struct config_entry *e = config_find(d->c, key->name);
	bool hide =
		(key->flags & CONFIG_SECRET) != 0 && e->value.text[0] != '\0';

	(void)fprintf(d->out, "%s = %s ; %s\n",
		      key->name + section_len(key->name) + 1,
		      hide ? "***" : e->value.text, e->origin);
}

static void dump_pair_value(const char *text, FILE *out)
{
	for (const char *c = text; *c != '\0'; c++) {
		(void)fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
	}
}

void config_dump(const struct config *c, FILE *out)
{
	const struct config_state *st = config_state(c);
	struct dump d = { c, out };

	each_key(c->keys, out, dump_key, &d);
	if (c->pair_count > 0) {
		(void)fprintf(out, "\n[%s]\n", c->pass_section);
	}
	for (size_t i = 0; i < c->pair_count; i++) {
		const struct config_pair *p = &c->pairs[i];

		(void)fprintf(out, "%s = ", p->name);
		dump_pair_value(config_pair_secret(p->name) ? "***" : p->value,
				out);
		(void)fprintf(out, " ; %s\n", st->pair_origins[i].text);
	}
}

static const char *fallback_of(const struct config_key *key)
{
	return key->fallback != NULL ? key->fallback : "";
}

static void print_allowed(const struct config_key *key, FILE *out)
{
	struct buf allowed;

	buf_init(&allowed);
	config_value_allowed(key, &allowed);
	(void)fprintf(out, "%.*s", BYTES_FMT(buf_live(&allowed)));
	buf_close(&allowed);
}

static void example_key(const struct config_key *key, void *arg)
{
	FILE *out = arg;
	char env[CONFIG_ENV_MAX];

	config_env_name(key->name, env);
	(void)fprintf(out, "; %s\n; ", key->help != NULL ? key->help : "");
	print_allowed(key, out);
	(void)fprintf(out, "; %s%s%s%s\n", env,
		      (key->flags & CONFIG_REQUIRED) != 0 ? "; required" : "",
		      (key->flags & CONFIG_SECRET) != 0 ? "; secret" : "",
		      (key->flags & CONFIG_LIVE) != 0 ? "; SIGHUP applies it"
						      : "");
	(void)fprintf(out, ";%s = %s\n", key->name + section_len(key->name) + 1,
		      fallback_of(key));
}

void config_example(const struct config_key *keys, FILE *out)
{
	(void)fprintf(out,
		      "; A line that begins with ; or # is a comment, and so "
		      "is what follows \" ;\".\n"
		      "; Every key stands here with its default. --set "
		      "section.key=value beats the\n"
		      "; environment, and that beats this file.\n\n");
	each_key(keys, out, example_key, out);
}

void config_usage(const struct config_key *keys, FILE *out)
{
	for (const struct config_key *k = keys; k->name != NULL; k++) {
		(void)fprintf(out, "  %s = %s\n      %s\n", k->name,
			      fallback_of(k), k->help != NULL ? k->help : "");
	}
}

static bool ends_in_max(const char *name)
{
	size_t n = strlen(name);

	return n >= 4 && strcmp(name + n - 4, "_max") == 0;
}

void config_bounds(const struct config *c, struct buf *out)
{
	const struct config_state *st = config_state(c);

	for (size_t i = 0; i < st->entry_count; i++) {
		const struct config_entry *e = &st->entries[i];

		if (ends_in_max(e->key->name) &&
		    (e->key->type == CONFIG_INT ||
		     e->key->type == CONFIG_SIZE)) {
			buf_printf(out, "%s%s=%" PRId64,
				   buf_len(out) > 0 ? " " : "", e->key->name,
				   e->value.number);
		}
	}
}

bool config_pair_secret(const char *name)
{
	static const char *const parts[] = { "password", "secret", ".pem",
					     "jaas", "oauthbearer.config" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strstr(name, parts[i]) != NULL) {
			return true;
		}
	}
	return false;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* How many letters must be changed, added or left out. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1];
	size_t m = strlen(b);

	if (m > NAME_MAX_LEN) {
		return SIZE_MAX;
	}
	for (size_t j = 0; j <= m; j++) {
		row[j] = j;
	}
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t same = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			row[j] = min3(same, row[j] + 1, row[j - 1] + 1);
		}
	}
	return row[m];
}

void config_suggest(const struct config *c, const char *name, struct buf *out)
{
	const struct config_state *st = config_state(c);
	const char *best = NULL;
	size_t best_distance = 4; /* more is no slip of the finger */
	const char *comma = "; allowed: ";

	for (size_t i = 0; i < st->entry_count; i++) {
		size_t d = distance(name, st->entries[i].key->name);

		if (d < best_distance) {
			best_distance = d;
			best = st->entries[i].key->name;
		}
	}
	if (best != NULL) {
		buf_printf(out, "; did you mean %s?", best);
	}
	for (size_t i = 0; i < st->entry_count; i++) {
		const char *key = st->entries[i].key->name;

		if (same_section(name, key)) {
			buf_printf(out, "%s%s", comma, key);
			comma = ", ";
		}
	}
	if (comma[0] == ',') {
		return;
	}
	buf_printf(out, "; allowed sections: ");
	for (size_t i = 0; c->keys[i].name != NULL; i++) {
		if (opens_section(c->keys, i)) {
			buf_printf(out, "%s%.*s", i > 0 ? ", " : "",
				   (int)section_len(c->keys[i].name),
				   c->keys[i].name);
		}
	}
	if (c->pass_section != NULL) {
		buf_printf(out, ", %s", c->pass_section);
	}
}
