#include <stdlib.h>

#include "base/config_state.h"
#include "base/log.h"

void config_init_like(struct config *fresh, const struct config *c)
{
	config_init(fresh, c->keys, NULL, c->pass_section);
}

void config_copy_out(const struct config *c, const struct config_key *keys,
		     bool live_only, void *values)
{
	for (const struct config_key *k = keys; k->name != NULL; k++) {
		struct config_entry out = *config_find(c, k->name);

		if (!live_only || (k->flags & CONFIG_LIVE) != 0) {
			out.slot = (char *)values + k->offset;
			config_publish(&out);
		}
	}
}

static bool differs(const struct config_entry *a, const struct config_entry *b)
{
	if (a->key->type == CONFIG_STRING || a->key->type == CONFIG_CHOICE) {
		return strcmp(a->value.text, b->value.text) != 0;
	}
	return a->value.number != b->value.number;
}

static void retire(struct config_state *st, char *text)
{
	st->retired = xrealloc(st->retired,
			       (st->retired_count + 1) * sizeof(*st->retired));
	st->retired[st->retired_count++] = text;
}

/* Give to the value of from; to's old text stays valid for its readers. */
static void take_over(struct config_state *st, struct config_entry *to,
		      struct config_entry *from)
{
	bool secret = (to->key->flags & CONFIG_SECRET) != 0;
	char *old = to->value.text;

	log_info("configuration changed", log_str("key", to->key->name),
		 log_str("from", secret ? "***" : old),
		 log_str("to", secret ? "***" : from->value.text));
	to->value = from->value;
	from->value.text = xstrndup("", 0);
	free(to->origin);
	to->origin = xstrndup(from->origin, strlen(from->origin));
	config_publish(to);
	if (to->key->type == CONFIG_STRING || to->key->type == CONFIG_CHOICE) {
		retire(st, old);
	} else {
		free(old);
	}
}

static const char *pair_value(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->pair_count; i++) {
		if (strcmp(c->pairs[i].name, name) == 0) {
			return c->pairs[i].value;
		}
	}
	return NULL;
}

static void warn_restart(const char *section, const char *name)
{
	struct buf full;

	buf_init(&full);
	buf_printf(&full, "%s%s%s", section, section[0] != '\0' ? "." : "",
		   name);
	log_warn("configuration change needs a restart",
		 log_bytes("key", buf_live(&full)));
	buf_close(&full);
}

/* Name the properties of a that b lacks, or (if both) has otherwise. */
static void compare_pairs(const struct config *a, const struct config *b,
			  bool both)
{
	for (size_t i = 0; i < a->pair_count; i++) {
		const char *other = pair_value(b, a->pairs[i].name);

		if (other == NULL ||
		    (both && strcmp(other, a->pairs[i].value) != 0)) {
			warn_restart(a->pass_section, a->pairs[i].name);
		}
	}
}

size_t config_apply(struct config *c, struct config *fresh)
{
	struct config_state *to = config_state(c);
	struct config_state *from = config_state(fresh);
	size_t changed = 0;

	check(to->entry_count == from->entry_count);
	for (size_t i = 0; i < to->entry_count; i++) {
		struct config_entry *e = &to->entries[i];

		if (!differs(e, &from->entries[i])) {
			continue;
		}
		if ((e->key->flags & CONFIG_LIVE) != 0) {
			take_over(to, e, &from->entries[i]);
			changed++;
		} else {
			warn_restart("", e->key->name);
		}
	}
	compare_pairs(c, fresh, true);
	compare_pairs(fresh, c, false);
	return changed;
}
