#include "base/config.h"

#include <stdlib.h>

#include "base/config_state.h"
#include "base/err.h"

enum { PAIRS_MAX = 256 };

struct config_state *config_state(const struct config *c)
{
	check(c->state != NULL);
	return c->state;
}

void config_publish(const struct config_entry *e)
{
	if (e->slot == NULL) {
		return;
	}
	switch (e->key->type) {
	case CONFIG_STRING:
	case CONFIG_CHOICE:
		*(const char **)e->slot = e->value.text;
		break;
	case CONFIG_BOOL:
		*(bool *)e->slot = e->value.number != 0;
		break;
	case CONFIG_INT:
	case CONFIG_TIME:
	case CONFIG_SIZE:
		*(int64_t *)e->slot = e->value.number;
		break;
	}
}

static void set_default(struct config_entry *e)
{
	const char *text = e->key->fallback != NULL ? e->key->fallback : "";
	struct buf problem;

	buf_init(&problem);
	/* A default that its own key refuses is our mistake. */
	check(config_value_read(e->key, text, &e->value.number, &problem));
	buf_close(&problem);
	e->value.text = xstrndup(text, strlen(text));
	e->origin = xstrndup("default", 7);
	config_publish(e);
}

static void check_distinct(const struct config *c, const char *name)
{
	const struct config_state *st = config_state(c);

	check(strchr(name, '.') != NULL);
	for (size_t i = 0; i < st->entry_count; i++) {
		check(!config_env_same(name, st->entries[i].key->name));
	}
}

static void add_entry(struct config *c, const struct config_key *key,
		      void *slot)
{
	struct config_state *st = config_state(c);
	struct config_entry *e;

	check_distinct(c, key->name);
	st->entries = xrealloc(st->entries,
			       (st->entry_count + 1) * sizeof(*st->entries));
	e = &st->entries[st->entry_count++];
	*e = (struct config_entry){ .key = key, .slot = slot };
	set_default(e);
}

/* keys is a copy, so that one table can be printed after the other. */
static void merge_keys(struct config *c)
{
	const struct config_state *st = config_state(c);
	struct config_key *keys = xcalloc(st->entry_count + 1, sizeof(*keys));

	for (size_t i = 0; i < st->entry_count; i++) {
		keys[i] = *st->entries[i].key;
	}
	free((void *)(uintptr_t)c->keys);
	c->keys = keys;
}

void config_init(struct config *c, const struct config_key *keys, void *values,
		 const char *pass_section)
{
	*c = (struct config){ .values = values, .pass_section = pass_section };
	buf_init(&c->errors);
	c->state = xcalloc(1, sizeof(struct config_state));
	config_add(c, keys, values);
}

void config_add(struct config *c, const struct config_key *keys, void *values)
{
	for (const struct config_key *k = keys; k->name != NULL; k++) {
		add_entry(c, k,
			  values != NULL ? (char *)values + k->offset : NULL);
	}
	merge_keys(c);
}

void config_close(struct config *c)
{
	struct config_state *st = config_state(c);

	for (size_t i = 0; i < st->entry_count; i++) {
		free(st->entries[i].value.text);
		free(st->entries[i].origin);
	}
	for (size_t i = 0; i < c->pair_count; i++) {
		free((void *)(uintptr_t)c->pairs[i].name);
		free((void *)(uintptr_t)c->pairs[i].value);
		free(st->pair_origins[i].text);
	}
	for (size_t i = 0; i < st->retired_count; i++) {
		free(st->retired[i]);
	}
	free(st->retired);
	free(st->entries);
	free(st->pair_origins);
	free(st);
	free(c->pairs);
	free((void *)(uintptr_t)c->keys);
	buf_close(&c->errors);
	*c = (struct config){ 0 };
}

struct config_entry *config_find(const struct config *c, const char *name)
{
	struct config_state *st = config_state(c);

	for (size_t i = 0; i < st->entry_count; i++) {
		if (strcmp(st->entries[i].key->name, name) == 0) {
			return &st->entries[i];
		}
	}
	return NULL;
}

/* Start a line of errors for what in says. */
static void blame(struct config *c, const struct config_input *in)
{
	if (in->rank == RANK_ENV) {
		buf_printf(&c->errors, "%s: ", in->where);
	} else {
		buf_printf(&c->errors, "%s%s%s: ", in->where,
			   in->rank == RANK_FILE ? ": " : " ", in->name);
	}
}

static int assign_entry(struct config *c, struct config_entry *e,
			const struct config_input *in)
{
	struct buf problem;
	int64_t number;
	bool ok;

	buf_init(&problem);
	ok = config_value_read(e->key, in->value, &number, &problem);
	if (!ok) {
		blame(c, in);
		buf_put_bytes(&c->errors, buf_live(&problem));
		buf_printf(&c->errors, "\n");
	} else if (in->line > 0 && e->line > 0) {
		ok = false;
		blame(c, in);
		buf_printf(&c->errors, "given twice, first in line %d\n",
			   e->line);
	}
	buf_close(&problem);
	if (in->line > 0) {
		e->line = in->line;
	}
	if (!ok) {
		return ERR_CONFIG;
	}
	if (in->rank >= e->rank) {
		free(e->value.text);
		free(e->origin);
		e->value.text = xstrndup(in->value, strlen(in->value));
		e->value.number = number;
		e->origin = xstrndup(in->where, strlen(in->where));
		e->rank = in->rank;
		config_publish(e);
	}
	return 0;
}

/* The pair of that name, a new one if there is none; pair_count if full. */
static size_t pair_index(struct config *c, const char *name)
{
	struct config_state *st = config_state(c);
	size_t n = c->pair_count;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(c->pairs[i].name, name) == 0) {
			return i;
		}
	}
	if (n == PAIRS_MAX) {
		return n;
	}
	c->pairs = xrealloc(c->pairs, (n + 1) * sizeof(*c->pairs));
	st->pair_origins =
		xrealloc(st->pair_origins, (n + 1) * sizeof(*st->pair_origins));
	c->pairs[n] =
		(struct config_pair){ .name = xstrndup(name, strlen(name)) };
	st->pair_origins[n] = (struct config_pair_origin){ 0 };
	c->pair_count++;
	return n;
}

static int assign_pair(struct config *c, const struct config_input *in)
{
	struct config_state *st = config_state(c);
	size_t i = pair_index(c, in->name + strlen(c->pass_section) + 1);

	if (i == c->pair_count) {
		blame(c, in);
		buf_printf(&c->errors, "more than %d properties\n", PAIRS_MAX);
		return ERR_CONFIG;
	}
	if (in->rank >= st->pair_origins[i].rank) {
		free((void *)(uintptr_t)c->pairs[i].value);
		free(st->pair_origins[i].text);
		c->pairs[i].value = xstrndup(in->value, strlen(in->value));
		st->pair_origins[i] = (struct config_pair_origin){
			.text = xstrndup(in->where, strlen(in->where)),
			.rank = in->rank,
		};
	}
	return 0;
}

int config_assign(struct config *c, const struct config_input *in)
{
	struct config_entry *e = config_find(c, in->name);
	size_t n = c->pass_section != NULL ? strlen(c->pass_section) : 0;

	if (e != NULL) {
		return assign_entry(c, e, in);
	}
	if (n > 0 && strncmp(in->name, c->pass_section, n) == 0 &&
	    in->name[n] == '.' && in->name[n + 1] != '\0') {
		return assign_pair(c, in);
	}
	blame(c, in);
	buf_printf(&c->errors, "no such key");
	config_suggest(c, in->name, &c->errors);
	buf_printf(&c->errors, "\n");
	return ERR_CONFIG;
}

int config_finish(struct config *c)
{
	const struct config_state *st = config_state(c);
	char env[CONFIG_ENV_MAX];
	int rv = 0;

	for (size_t i = 0; i < st->entry_count; i++) {
		const struct config_entry *e = &st->entries[i];

		if ((e->key->flags & CONFIG_REQUIRED) != 0 &&
		    e->value.text[0] == '\0') {
			config_env_name(e->key->name, env);
			buf_printf(&c->errors,
				   "%s: must not be empty; set it in the file, "
				   "with --set or as %s\n",
				   e->key->name, env);
			rv = ERR_CONFIG;
		}
	}
	return rv;
}
