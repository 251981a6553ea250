#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config_state.h"
#include "base/err.h"

enum {
	LINE_BYTES_MAX = 8192,
	WHERE_MAX = 1024,
	/* A file that is no configuration at all has a problem in every line;
	 * nobody reads them all. */
	ERRORS_BYTES_MAX = 16384,
};

/* One file being read; inih pulls lines and pushes assignments. */
struct reading {
	struct config *c;
	const char *path;
	FILE *file;
	int line; /* of what was read last */
	int rv;
	bool full; /* of problems: the rest is not read */
};

static void complain(struct reading *r, const char *what)
{
	buf_printf(&r->c->errors, "%s:%d: %s\n", r->path, r->line, what);
	r->rv = ERR_CONFIG;
}

/* Drop the rest of a line. */
static void skip_line(FILE *f)
{
	int c;

	do {
		c = fgetc(f);
	} while (c != '\n' && c != EOF);
}

/* A comment, a section, an assignment or nothing. */
static bool well_formed(const char *line)
{
	line += strspn(line, " \t\r\n\f\v");
	if (line[0] == '\0' || line[0] == ';' || line[0] == '#') {
		return true;
	}
	return strpbrk(line, line[0] == '[' ? "]" : "=:") != NULL;
}

/* For inih: the next line. It keeps only the first problem, so we find them
 * here and hand it an empty line instead. */
static char *next_line(char *line, int size, void *arg)
{
	struct reading *r = arg;

	if (r->full || fgets(line, size, r->file) == NULL) {
		return NULL;
	}
	r->line++;
	if (buf_len(&r->c->errors) > ERRORS_BYTES_MAX) {
		complain(r,
			 "the rest is not read: there are too many problems");
		r->full = true;
		return NULL;
	}
	if (strchr(line, '\n') == NULL && !feof(r->file)) {
		complain(r, "the line is too long or holds a zero byte");
		skip_line(r->file);
		line[0] = '\0';
	} else if (!well_formed(line + (strncmp(line, "\xef\xbb\xbf", 3) == 0
						? 3
						: 0))) {
		complain(r, "neither [section] nor key = value nor ; comment");
		line[0] = '\0';
	}
	return line;
}

static int take_pair(void *arg, const char *section, const char *name,
		     const char *value)
{
	struct reading *r = arg;
	char where[WHERE_MAX];
	char full[CONFIG_ENV_MAX];
	int n = snprintf(full, sizeof(full), "%s.%s", section, name);

	if (section[0] == '\0') {
		complain(r, "a key in front of the first [section]");
	} else if (n < 0 || (size_t)n >= sizeof(full)) {
		complain(r, "the name is too long");
	} else {
		(void)snprintf(where, sizeof(where), "%s:%d", r->path, r->line);
		if (config_assign(r->c, &(struct config_input){
						.where = where,
						.rank = RANK_FILE,
						.line = r->line,
						.name = full,
						.value = value }) != 0) {
			r->rv = ERR_CONFIG;
		}
	}
	return 1;
}

int config_read_file(struct config *c, const char *path)
{
	struct reading r = { .c = c, .path = path };
	struct config_state *st = config_state(c);
	int rv;

	for (size_t i = 0; i < st->entry_count; i++) {
		st->entries[i].line = 0;
	}
	r.file = fopen(path, "re");
	if (r.file == NULL) {
		buf_printf(&c->errors, "%s: cannot be read: %s\n", path,
			   strerror(errno));
		return ERR_CONFIG;
	}
	/* inih as Debian builds it takes its settings at run time. */
	ini_use_stack = false;
	ini_max_line = LINE_BYTES_MAX;
	ini_initial_alloc = LINE_BYTES_MAX;
	ini_allow_multiline = false;
	rv = ini_parse_stream(next_line, &r, take_pair, &r);
	if (ferror(r.file)) {
		buf_printf(&c->errors, "%s: cannot be read: %s\n", path,
			   strerror(errno));
		r.rv = ERR_CONFIG;
	} else if (rv != 0 && r.rv == 0) {
		r.line = rv > 0 ? rv : r.line;
		complain(&r, "cannot be read");
	}
	(void)fclose(r.file);
	return r.rv;
}

/* Variables that are read by others. */
static bool foreign(const char *name)
{
	return strcmp(name, "RAIN_BIN") == 0 ||
	       strcmp(name, "RAIN_SOURCE") == 0 ||
	       strcmp(name, "RAIN_READY_FD") == 0;
}

/* The key that the variable env means, in out; false if there is none. */
static bool key_of_env(const struct config *c, const char *env,
		       char out[CONFIG_ENV_MAX])
{
	const struct config_state *st = config_state(c);
	char name[CONFIG_ENV_MAX];
	size_t n;

	for (size_t i = 0; i < st->entry_count; i++) {
		config_env_name(st->entries[i].key->name, name);
		if (strcmp(name, env) == 0) {
			(void)snprintf(out, CONFIG_ENV_MAX, "%s",
				       st->entries[i].key->name);
			return true;
		}
	}
	if (c->pass_section == NULL) {
		return false;
	}
	config_env_name(c->pass_section, name);
	n = strlen(name);
	if (strncmp(env, name, n) != 0 || env[n] != '_' || env[n + 1] == '\0') {
		return false;
	}
	(void)snprintf(out, CONFIG_ENV_MAX, "%s.%s", c->pass_section,
		       env + n + 1);
	for (char *at = out + strlen(c->pass_section); *at != '\0'; at++) {
		if (*at == '_') {
			*at = '.';
		} else if (*at >= 'A' && *at <= 'Z') {
			*at = (char)(*at - 'A' + 'a');
		}
	}
	return true;
}

static int take_variable(struct config *c, const char *env, const char *value)
{
	char where[CONFIG_ENV_MAX + 16];
	char name[CONFIG_ENV_MAX];
	char *at;

	if (foreign(env)) {
		return 0;
	}
	(void)snprintf(where, sizeof(where), "environment %s", env);
	if (key_of_env(c, env, name)) {
		return config_assign(c,
				     &(struct config_input){ .where = where,
							     .rank = RANK_ENV,
							     .name = name,
							     .value = value });
	}
	/* Guess the dotted name, so that the suggestions are found. */
	(void)snprintf(name, sizeof(name), "%s", env + strlen("RAIN_"));
	for (at = name; *at != '\0'; at++) {
		if (*at >= 'A' && *at <= 'Z') {
			*at = (char)(*at - 'A' + 'a');
		}
	}
	at = strchr(name, '_');
	if (at != NULL) {
		*at = '.';
	}
	buf_printf(&c->errors, "%s: names no key", where);
	config_suggest(c, name, &c->errors);
	buf_printf(&c->errors, "\n");
	return ERR_CONFIG;
}

int config_read_env(struct config *c, char **environ_list)
{
	int rv = 0;

	for (char **v = environ_list; *v != NULL; v++) {
		const char *eq = strchr(*v, '=');
		char *env;

		if (strncmp(*v, "RAIN_", 5) != 0 || eq == NULL) {
			continue;
		}
		env = xstrndup(*v, (size_t)(eq - *v));
		if (strlen(env) >= CONFIG_ENV_MAX) {
			buf_printf(&c->errors, "environment %s: too long\n",
				   env);
			rv = ERR_CONFIG;
		} else if (take_variable(c, env, eq + 1) != 0) {
			rv = ERR_CONFIG;
		}
		free(env);
	}
	return rv;
}

int config_set(struct config *c, const char *assignment)
{
	const char *eq = strchr(assignment, '=');
	char where[CONFIG_ENV_MAX + 16];
	char *name;
	int rv = ERR_CONFIG;

	/* Without a '=' the text may be a secret in the wrong place. */
	if (eq == NULL) {
		buf_printf(&c->errors,
			   "--set: no '='; allowed: section.key=value\n");
		return ERR_CONFIG;
	}
	name = xstrndup(assignment, (size_t)(eq - assignment));
	if (strlen(name) >= CONFIG_ENV_MAX) {
		buf_printf(&c->errors, "--set %s: too long\n", name);
	} else {
		(void)snprintf(where, sizeof(where), "--set");
		rv = config_assign(c,
				   &(struct config_input){ .where = where,
							   .rank = RANK_SET,
							   .name = name,
							   .value = eq + 1 });
	}
	free(name);
	return rv;
}
