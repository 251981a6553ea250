#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "net/address.h"
#include "net/service_internal.h"

static const struct config_key common_keys[] = {
	{ "log.level", CONFIG_CHOICE,
	  offsetof(struct service_options, log_level), "info",
	  .choices = "debug|info|warn|error", .flags = CONFIG_LIVE,
	  .help = "the least important lines that are written" },
	{ "log.format", CONFIG_CHOICE,
	  offsetof(struct service_options, log_format), "logfmt",
	  .choices = "logfmt|json", .flags = CONFIG_LIVE,
	  .help = "how a line of the log looks" },
	{ "http.listen", CONFIG_STRING,
	  offsetof(struct service_options, http_listen), "",
	  .help = "address for /livez, /readyz, /metrics; port 0 picks one, "
		  "empty: none" },
	{ "drain.timeout", CONFIG_TIME,
	  offsetof(struct service_options, drain_timeout_ms), "10s", .min = 0,
	  .max = 3600000, .flags = CONFIG_LIVE,
	  .help = "how long a stop may wait for what was accepted" },
	{ 0 },
};

struct option {
	const char *name;
	enum service_mode mode;
	bool takes_value;
	const char *value; /* what it is called */
	const char *help;
};

static const struct option options[] = {
	{ "--config", MODE_RUN, true, "FILE", "read an INI file" },
	{ "--set", MODE_RUN, true, "KEY=VALUE",
	  "override one key; may repeat" },
	{ "--check-config", MODE_CHECK_CONFIG, false, "",
	  "name every problem, exit 0 or 1" },
	{ "--dump-config", MODE_DUMP_CONFIG, false, "",
	  "print every value and where it comes from" },
	{ "--example-config", MODE_EXAMPLE_CONFIG, false, "",
	  "print a commented file of all keys" },
	{ "--version", MODE_VERSION, false, "", "print versions" },
	{ "--help", MODE_HELP, false, "", "print this" },
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

static const struct option *find_option(const char *arg, size_t len)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (strlen(options[i].name) == len &&
		    strncmp(options[i].name, arg, len) == 0) {
			return &options[i];
		}
	}
	return NULL;
}

static bool refuse(const struct service *svc, const char *arg, const char *why)
{
	(void)fprintf(stderr, "%s: %s: %s (--help tells more)\n", svc->name,
		      arg, why);
	return false;
}

static bool take_value(const struct service *svc, const struct option *o,
		       const char *value, struct service_args *args)
{
	if (strcmp(o->name, "--config") == 0) {
		if (args->file != NULL) {
			return refuse(svc, o->name, "given twice");
		}
		args->file = value;
	} else if (args->set_count == SETS_MAX) {
		return refuse(svc, o->name, "too many of them");
	} else {
		args->sets[args->set_count++] = value;
	}
	return true;
}

bool service_args_parse(const struct service *svc, int argc, char **argv,
			struct service_args *args)
{
	*args = (struct service_args){ .mode = MODE_RUN };
	for (int i = 1; i < argc; i++) {
		size_t len = strcspn(argv[i], "=");
		const struct option *o = find_option(argv[i], len);
		const char *value =
			argv[i][len] == '=' ? argv[i] + len + 1 : NULL;

		if (o == NULL) {
			return refuse(svc, argv[i], "no such option");
		}
		if (!o->takes_value && value != NULL) {
			return refuse(svc, o->name, "takes no value");
		}
		if (!o->takes_value) {
			args->mode = o->mode;
			continue;
		}
		if (value == NULL && i + 1 < argc) {
			value = argv[++i];
		}
		if (value == NULL) {
			return refuse(svc, o->name, "needs a value");
		}
		if (!take_value(svc, o, value, args)) {
			return false;
		}
	}
	return true;
}

static void print_help(const struct service *svc, const struct config *c)
{
	(void)printf("%s: %s\n\nusage: %s [OPTION]...\n\n", svc->name,
		     svc->summary, svc->name);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		(void)printf("  %-16s %-10s %s\n", options[i].name,
			     options[i].value, options[i].help);
	}
	(void)printf("\nexit: 0 clean stop, 1 bad usage or configuration, "
		     "2 could not start, 3 gave up\n"
		     "SIGTERM, SIGINT: drain and exit; again: exit at once.\n"
		     "SIGHUP: read the configuration again and apply the "
		     "keys marked so.\n\n"
		     "Keys with their defaults; --set beats the environment "
		     "(RAIN_SECTION_KEY),\nand that beats the file.\n\n");
	config_usage(c->keys, c->pass_section, stdout);
}

int service_args_print(const struct service *svc,
		       const struct service_args *args, const struct config *c)
{
	switch (args->mode) {
	case MODE_CHECK_CONFIG:
		(void)printf("%s: the configuration is fine\n", svc->name);
		break;
	case MODE_DUMP_CONFIG:
		config_dump(c, stdout);
		break;
	case MODE_EXAMPLE_CONFIG:
		config_example(c->keys, c->pass_section, stdout);
		break;
	case MODE_VERSION:
		(void)printf("%s %s (libuv %s, compiled with %s)\n", svc->name,
			     RAIN_VERSION, uv_version_string(), __VERSION__);
		break;
	case MODE_HELP:
		print_help(svc, c);
		break;
	case MODE_RUN:
	default:
		check(false); /* prints nothing */
	}
	/* A full disk or a closed pipe must not look like success. */
	return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_CLEAN
						      : EXIT_NO_START;
}

void service_config_init(const struct service *svc, struct config *c,
			 struct service_options *common)
{
	config_init(c, svc->keys, svc->options, svc->pass_section);
	config_add(c, common_keys, common);
}

int service_config_read(struct config *c, const struct service_args *args)
{
	int rv = args->file != NULL ? config_read_file(c, args->file) : 0;

	if (config_read_env(c, environ) != 0) {
		rv = ERR_CONFIG;
	}
	for (size_t i = 0; i < args->set_count; i++) {
		if (config_set(c, args->sets[i]) != 0) {
			rv = ERR_CONFIG;
		}
	}
	if (config_finish(c) != 0) {
		rv = ERR_CONFIG;
	}
	return rv;
}

int service_config_check(const struct service *svc, struct config *c,
			 const struct service_options *common)
{
	size_t before = buf_len(&c->errors);

	(void)address_check("http.listen", common->http_listen, &c->errors);
	if (strncmp(common->http_listen, "unix:", 5) == 0) {
		buf_printf(&c->errors, "http.listen: no unix socket; allowed: "
				       "host:port or [IPv6]:port\n");
	}
	if (svc->validate != NULL) {
		svc->validate(svc, c->pairs, c->pair_count, &c->errors);
	}
	return buf_len(&c->errors) == before ? 0 : ERR_CONFIG;
}

void service_log_lines(const char *event, struct bytes lines)
{
	while (lines.n > 0) {
		const uint8_t *end = memchr(lines.p, '\n', lines.n);
		size_t n = end != NULL ? (size_t)(end - lines.p) : lines.n;

		log_error(event, log_bytes("what", bytes_make(lines.p, n)));
		n += end != NULL;
		lines = bytes_make(lines.p + n, lines.n - n);
	}
}

/* How large the struct that keys describe must be at least. */
static size_t values_size(const struct config_key *keys)
{
	size_t size = 0;

	for (const struct config_key *k = keys; k->name != NULL; k++) {
		if (k->offset + sizeof(int64_t) > size) {
			size = k->offset + sizeof(int64_t);
		}
	}
	return size;
}

/* What a start checks, of the reading as it stands and of what would be in
 * force after it: the live keys of fresh, the others of c. */
static bool fresh_is_fit(const struct service *svc, const struct config *c,
			 struct config *fresh)
{
	struct service_options common;
	struct service shadow = *svc;
	bool ok;

	_Static_assert(sizeof(int64_t) >= sizeof(const char *),
		       "values_size() takes it for the largest value");
	shadow.options = xcalloc(1, values_size(svc->keys) + 1);
	config_copy_out(fresh, svc->keys, false, shadow.options);
	config_copy_out(fresh, common_keys, false, &common);
	ok = service_config_check(&shadow, fresh, &common) == 0;
	if (ok) {
		config_copy_out(c, svc->keys, false, shadow.options);
		config_copy_out(fresh, svc->keys, true, shadow.options);
		ok = service_config_check(&shadow, fresh, &common) == 0;
	}
	free(shadow.options);
	return ok;
}

bool service_config_reload(const struct service *svc, struct config *c,
			   const struct service_args *args)
{
	struct config fresh;
	bool ok;

	config_init_like(&fresh, c);
	ok = service_config_read(&fresh, args) == 0 &&
	     fresh_is_fit(svc, c, &fresh);
	if (ok) {
		size_t n = config_apply(c, &fresh);

		log_info("configuration reloaded",
			 log_int("changed", (int64_t)n));
	} else {
		service_log_lines("configuration refused",
				  buf_live(&fresh.errors));
		log_error("the configuration stays as it was");
	}
	config_close(&fresh);
	return ok;
}

void service_log_setup(const struct service *svc,
		       const struct service_options *common)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };
	int level = LOG_DEBUG;

	while (level < LOG_ERROR &&
	       strcmp(names[level], common->log_level) != 0) {
		level++;
	}
	log_setup((enum log_level)level,
		  strcmp(common->log_format, "json") == 0 ? LOG_JSON
							  : LOG_LOGFMT,
		  svc->name);
}

/* The number of files we may have; as many as the system lets us. */
static int64_t raise_file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
		return -1;
	}
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
		log_warn("file limit stays", log_err(-errno));
		(void)getrlimit(RLIMIT_NOFILE, &files);
	}
	return (int64_t)files.rlim_cur;
}

void service_log_start(const struct config *c)
{
	struct buf bounds;

	buf_init(&bounds);
	config_bounds(c, &bounds);
	log_info("starting", log_str("version", RAIN_VERSION),
		 log_int("pid", getpid()),
		 log_int("files_max", raise_file_limit()));
	log_info("bounds", log_bytes("limits", buf_live(&bounds)));
	buf_close(&bounds);
}
