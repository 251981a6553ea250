/* Configuration: the first byte chooses whether the rest is the file, a
 * variable of the environment, an argument of --set, or a file that is read
 * again at run time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/log.h"
#include "fuzz/fuzz.h"

enum { PAIRS_MAX = 256, ERRORS_MAX = 64 * 1024 };

struct values {
	const char *listen;
	const char *ack;
	const char *secret;
	int64_t loops;
	int64_t any;
	int64_t idle;
	int64_t out_max;
	bool dev;
};

#define AT(field) offsetof(struct values, field)
static const struct config_key keys[] = {
	{ "gateway.listen", CONFIG_STRING, AT(listen), "127.0.0.1:7000",
	  .flags = CONFIG_REQUIRED, .help = "for the apps" },
	{ "gateway.loops", CONFIG_INT, AT(loops), "1", .min = 1, .max = 64,
	  .help = "event loops" },
	{ "gateway.any", CONFIG_INT, AT(any), "-1", .help = "any number" },
	{ "gateway.idle_ms", CONFIG_TIME, AT(idle), "60s", .min = 1000,
	  .max = 600000, .flags = CONFIG_LIVE, .help = "silence" },
	{ "gateway.out_max", CONFIG_SIZE, AT(out_max), "64KiB", .min = 1024,
	  .max = 1 << 30, .flags = CONFIG_LIVE, .help = "bytes waiting" },
	{ "gateway.dev", CONFIG_BOOL, AT(dev), "no", .help = "trust names" },
	{ "grab.ack", CONFIG_CHOICE, AT(ack), "redis",
	  .choices = "redis|replica|kafka", .flags = CONFIG_LIVE,
	  .help = "when to answer" },
	{ "grab.secret", CONFIG_STRING, AT(secret), "", .flags = CONFIG_SECRET,
	  .help = "shared with the gateway" },
	{ 0 },
};

static bool one_of(const char *text, const char *a, const char *b,
		   const char *c)
{
	return strcmp(text, a) == 0 || strcmp(text, b) == 0 ||
	       strcmp(text, c) == 0;
}

/* Whatever was read, every value is one that its key allows. */
static void check_values(const struct values *v)
{
	check(v->loops >= 1 && v->loops <= 64);
	check(v->idle >= 1000 && v->idle <= 600000);
	check(v->out_max >= 1024 && v->out_max <= 1 << 30);
	check(one_of(v->ack, "redis", "replica", "kafka"));
	check(bytes_utf8(bytes_str(v->listen)));
	check(bytes_utf8(bytes_str(v->secret)));
	check(v->dev || !v->dev); /* UBSan looks at the byte */
}

static int read_env(struct config *c, struct bytes text)
{
	char *list[2] = { xstrndup(text.p, text.n), NULL };
	int rv = config_read_env(c, list);

	free(list[0]);
	return rv;
}

static int read_set(struct config *c, struct bytes text)
{
	char *assignment = xstrndup(text.p, text.n);
	int rv = config_set(c, assignment);

	free(assignment);
	return rv;
}

static int reload(struct config *c, const struct values *v, struct bytes text)
{
	struct values before = *v;
	struct config fresh;
	size_t changed = 0;
	int rv;

	config_init_like(&fresh, c);
	rv = config_read_file(&fresh, fuzz_file(text));
	check(memcmp(&before, v, sizeof before) == 0);
	if (rv == 0 && config_finish(&fresh) == 0) {
		changed = config_apply(c, &fresh);
	}
	check(changed <= 3); /* those marked CONFIG_LIVE */
	config_close(&fresh);
	check_values(v);
	return 0;
}

/* What is refused has a reason, which a person can read to the end. */
static void check_errors(const struct config *c, bool refused)
{
	struct bytes errors = buf_live(&c->errors);

	check(refused == (errors.n > 0));
	check(!refused || fuzz_is_lines(errors));
	check(errors.n <= ERRORS_MAX);
}

/* All that is printed about it, to look at every byte. */
static void print(const struct config *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	struct buf bounds;

	check(out != NULL);
	config_dump(c, out);
	check(fclose(out) == 0 && n > 0 && text[n - 1] == '\n');
	free(text);
	buf_init(&bounds);
	config_bounds(c, &bounds);
	buf_close(&bounds);
	for (size_t i = 0; i < c->pair_count; i++) {
		check(c->pairs[i].name[0] != '\0');
		check(c->pairs[i].value != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct values v; /* without padding that is not set */
	struct bytes text = bytes_make(data, size);
	uint8_t choice = fuzz_choice(&text) % 4;
	struct bytes copy = fuzz_copy(text);
	struct config c;
	int rv;

	/* What a reload tells about each key would be most of the work. */
	log_setup(LOG_ERROR, LOG_LOGFMT, NULL);
	memset(&v, 0, sizeof v);
	config_init(&c, keys, &v, "kafka");
	switch (choice) {
	case 0:
		rv = config_read_file(&c, fuzz_file(copy));
		break;
	case 1:
		rv = read_env(&c, copy);
		break;
	case 2:
		rv = read_set(&c, copy);
		break;
	default:
		rv = reload(&c, &v, copy);
		break;
	}
	check_errors(&c, rv != 0);
	check_values(&v);
	check(c.pair_count <= PAIRS_MAX);
	if (config_finish(&c) == 0) {
		check(v.listen[0] != '\0');
	}
	/* For each input it would be most of the work. */
	if (size % 4 == 0) {
		print(&c);
	}
	config_close(&c);
	fuzz_drop(copy);
	return 0;
}
