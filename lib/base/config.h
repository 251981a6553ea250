/**
 * Configuration: a table of keys, filled from (weakest first) the defaults, an
 * INI file, the environment (RAIN_SECTION_KEY) and --set section.key=value.
 *
 * Unknown keys and bad values are refused with where they stand and what is
 * allowed; every problem is reported, not only the first. In the environment
 * "gateway.out_max" is RAIN_GATEWAY_OUT_MAX: upper case, '.' and '-' become
 * '_'. A passed-through RAIN_KAFKA_LINGER_MS is kafka.linger.ms. All that begins
 * with RAIN_ must name a key, but for RAIN_BIN, RAIN_SOURCE and RAIN_READY_FD.
 * A service declares
 *
 *   struct options { const char *listen; int64_t loops; };
 *   static const struct config_key keys[] = {
 *       { "gateway.listen", CONFIG_STRING, offsetof(struct options, listen),
 *         "127.0.0.1:7000", .help = "address and port for the apps" },
 *       { "gateway.loops", CONFIG_INT, offsetof(struct options, loops), "1",
 *         .min = 1, .max = 64, .help = "event loops" },
 *       { 0 },
 *   };
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include <stdio.h>

#include "base/buf.h"

enum config_type {
	CONFIG_STRING, /* const char *, never NULL */
	CONFIG_CHOICE, /* const char *, one of choices */
	CONFIG_INT,    /* int64_t in [min, max] */
	CONFIG_BOOL,   /* bool: true, false, yes, no, on, off, 1, 0 */
	CONFIG_TIME,   /* int64_t milliseconds in [min, max]: 250ms 10s 5m 2h */
	CONFIG_SIZE,   /* int64_t bytes in [min, max]: 512 16KiB 8MiB 1GiB */
};

enum {
	CONFIG_SECRET = 1,   /* masked in dumps and errors */
	CONFIG_LIVE = 2,     /* SIGHUP applies it; others need a restart */
	CONFIG_REQUIRED = 4, /* an empty string is refused */
};

struct config_key {
	const char *name; /* "section.key"; NULL ends the table */
	enum config_type type;
	size_t offset;        /* of the value in the owner's struct */
	const char *fallback; /* the default, in the syntax of the file */
	int64_t min;
	int64_t max;         /* min and max both 0: no bounds */
	const char *choices; /* "redis|replica" for CONFIG_CHOICE */
	unsigned flags;
	const char *help; /* one line, for --help and the example file */
};

/* One "section.name = value" of a section that passes through unread. */
struct config_pair {
	const char *name; /* without the section */
	const char *value;
};

struct config {
	const struct config_key *keys; /* all tables, merged; owned */
	void *values;                  /* the owner's struct, of the first */
	const char *pass_section;      /* "kafka", or NULL */
	struct config_pair *pairs;     /* of pass_section, in order; owned */
	size_t pair_count;
	struct buf errors; /* one line per problem, for people */
	/* Below: internal. */
	void *state;
};

/**
 * Fill values from the defaults. keys stay borrowed. pass_section (or NULL)
 * names a section whose every key is taken as it is, e.g. "kafka".
 */
void config_init(struct config *c, const struct config_key *keys, void *values,
		 const char *pass_section);

/** Merge a second table, whose values live in a struct of their own, and fill
 * that from the defaults. Before any source is read. */
void config_add(struct config *c, const struct config_key *keys, void *values);

/** Frees all strings that values point at. */
void config_close(struct config *c);

/** Each returns 0, or ERR_CONFIG with lines added to errors. Whatever the order
 * of the calls, --set beats the environment and that beats the file. */
must_check int config_read_file(struct config *c, const char *path);
must_check int config_read_env(struct config *c, char **environ_list);
must_check int config_set(struct config *c, const char *assignment);

/** After all sources: bounds that need every value (CONFIG_REQUIRED). */
must_check int config_finish(struct config *c);

/**
 * For a reload: start fresh with the same tables and defaults, but such that no
 * owner's struct sees its values. Fill it as usual; then config_apply() takes
 * the keys marked CONFIG_LIVE over into c, logs each change, and logs by name
 * the keys that differ but need a restart. Returns how many it changed. Strings
 * that were replaced stay valid until config_close(c). Close fresh as usual.
 */
void config_init_like(struct config *fresh, const struct config *c);
size_t config_apply(struct config *c, struct config *fresh);

/** Write the values that c has for the keys of one table into a struct such as
 * the table describes, only those marked CONFIG_LIVE if so asked. Strings are
 * borrowed from c. So a reading can be judged before anybody follows it. */
void config_copy_out(const struct config *c, const struct config_key *keys,
		     bool live_only, void *values);

/** Every key with its value and where that came from; secrets as ***. */
void config_dump(const struct config *c, FILE *out);

/** Every key with type, default and help, as a commented example file; of
 * pass_section, which may be NULL, the one that is always used. */
void config_example(const struct config_key *keys, const char *pass_section,
		    FILE *out);

/** Every key with its default and help, a line or two each, for --help. */
void config_usage(const struct config_key *keys, const char *pass_section,
		  FILE *out);

/** Append "name=value" of every number whose name ends in _max or
 * _total, on one line. */
void config_bounds(const struct config *c, struct buf *out);

#endif
