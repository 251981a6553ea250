/**
 * Inside of config: what config.c, config_source.c and config_print.c share.
 * Nobody else includes it.
 */
#ifndef BASE_CONFIG_STATE_H
#define BASE_CONFIG_STATE_H

#include "base/config.h"

/* Where a value comes from; a weaker source never overrides a stronger one. */
enum config_rank { RANK_DEFAULT, RANK_FILE, RANK_ENV, RANK_SET };

/* A value as it was written, and what it means. */
struct config_value {
	char *text;     /* owned */
	int64_t number; /* of all types but STRING and CHOICE */
};

struct config_entry {
	const struct config_key *key;
	void *slot; /* in the owner's struct; NULL: nowhere */
	struct config_value value;
	char *origin; /* owned: "FILE:3" */
	enum config_rank rank;
	int line; /* in the file being read, 0: not there */
};

/* Beside config.pairs, index by index. */
struct config_pair_origin {
	char *text; /* owned */
	enum config_rank rank;
};

struct config_state {
	struct config_entry *entries; /* as many as keys; owned */
	size_t entry_count;
	struct config_pair_origin *pair_origins;
	char **retired; /* strings that a reload replaced; owned */
	size_t retired_count;
};

/* What one source says: "FILE:3", RANK_FILE, "a.b", "value". */
struct config_input {
	const char *where;
	enum config_rank rank;
	int line; /* in a file, else 0 */
	const char *name;
	const char *value;
};

enum { CONFIG_ENV_MAX = 128 };

/** The state of c; never NULL after config_init(). */
struct config_state *config_state(const struct config *c);

/** Take one assignment; 0, or ERR_CONFIG with a line in c->errors. */
must_check int config_assign(struct config *c, const struct config_input *in);

/** The entry of that name, NULL if there is none. */
struct config_entry *config_find(const struct config *c, const char *name);

/** Let the owner's struct, if there is one, see the value of e. */
void config_publish(const struct config_entry *e);

/** Read text as a value of key. True, or false with why and what is allowed
 * appended to *problem; the text itself only if it is no secret. */
bool config_value_read(const struct config_key *key, const char *text,
		       int64_t *number, struct buf *problem);

/** Append what key allows: "1 to 64". */
void config_value_allowed(const struct config_key *key, struct buf *out);

/** "gateway.out_max" as RAIN_GATEWAY_OUT_MAX. */
void config_env_name(const char *name, char out[CONFIG_ENV_MAX]);

/** Whether both keys have the same variable of the environment. */
bool config_env_same(const char *a, const char *b);

/** Append what an unknown name might have meant and what its section knows. */
void config_suggest(const struct config *c, const char *name, struct buf *out);

/** Length of "section" in "section.key". */
size_t config_section_len(const char *name);
/** Whether both names are of one section. */
bool config_same_section(const char *a, const char *b);
/** Whether keys[i] is the first of its section. */
bool config_opens_section(const struct config_key *keys, size_t i);

/** Whether a passed-through property must not be shown. */
bool config_pair_secret(const char *name);

#endif
