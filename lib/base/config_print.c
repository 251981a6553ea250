#include <inttypes.h>
#include <stdio.h>

#include "base/config_state.h"

/* Calls print(key, arg) for all keys, section by section. */
typedef void (*key_cb)(const struct config_key *key, void *arg);

static void each_key(const struct config_key *keys, FILE *out, key_cb print,
		     void *arg)
{
	for (size_t i = 0; keys[i].name != NULL; i++) {
		if (!config_opens_section(keys, i)) {
			continue;
		}
		(void)fprintf(out, "%s[%.*s]\n", i > 0 ? "\n" : "",
			      (int)config_section_len(keys[i].name),
			      keys[i].name);
		for (size_t j = i; keys[j].name != NULL; j++) {
			if (config_same_section(keys[i].name, keys[j].name)) {
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
		      key->name + config_section_len(key->name) + 1,
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
	(void)fprintf(out, ";%s = %s\n",
		      key->name + config_section_len(key->name) + 1,
		      fallback_of(key));
}

/* Brokers are named to librdkafka, and so to every program that has it. */
static const char pass_key[] = "bootstrap.servers";
static const char pass_key_fallback[] = "127.0.0.1:9092";
static const char pass_key_help[] = "Kafka's brokers, host:port separated by "
				    "commas";

void config_example(const struct config_key *keys, const char *pass_section,
		    FILE *out)
{
	(void)fprintf(out,
		      "; A line that begins with ; or # is a comment, and so "
		      "is what follows \" ;\".\n"
		      "; Every key stands here with its default. --set "
		      "section.key=value beats the\n"
		      "; environment, and that beats this file.\n\n");
	each_key(keys, out, example_key, out);
	if (pass_section != NULL) {
		(void)fprintf(out,
			      "\n[%s]\n; %s\n;%s = %s\n"
			      "; every other key is passed to librdkafka as it "
			      "is\n",
			      pass_section, pass_key_help, pass_key,
			      pass_key_fallback);
	}
}

void config_usage(const struct config_key *keys, const char *pass_section,
		  FILE *out)
{
	for (const struct config_key *k = keys; k->name != NULL; k++) {
		(void)fprintf(out, "  %s = %s\n      %s%s\n", k->name,
			      fallback_of(k), k->help != NULL ? k->help : "",
			      (k->flags & CONFIG_LIVE) != 0
				      ? " (SIGHUP applies it)"
				      : "");
	}
	if (pass_section != NULL) {
		(void)fprintf(out,
			      "  %s.%s = %s\n      %s\n  %s.*\n      passed to "
			      "librdkafka as it is\n",
			      pass_section, pass_key, pass_key_fallback,
			      pass_key_help, pass_section);
	}
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name);
	size_t m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

static bool is_bound(const struct config_key *key)
{
	return (ends_in(key->name, "_max") || ends_in(key->name, "_total")) &&
	       (key->type == CONFIG_INT || key->type == CONFIG_SIZE);
}

void config_bounds(const struct config *c, struct buf *out)
{
	const struct config_state *st = config_state(c);

	for (size_t i = 0; i < st->entry_count; i++) {
		const struct config_entry *e = &st->entries[i];

		if (is_bound(e->key)) {
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
