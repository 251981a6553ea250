#include "client/kafka_conf.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "base/err.h"

static const struct kafka_setting defaults[] = {
	{ "linger.ms", "5", false },
	{ "no.version.has.this", "1", true },
	{ 0 },
};

static int make(const struct config_pair *pairs, size_t n,
		rd_kafka_conf_t **conf)
{
	return kafka_conf_make(defaults, "127.0.0.1:9", pairs, n, conf);
}

static void expect(rd_kafka_conf_t *conf, const char *name, const char *value)
{
	char text[128];
	size_t n = sizeof(text);

	cr_assert_eq(rd_kafka_conf_get(conf, name, text, &n), 0);
	cr_assert_str_eq(text, value);
}

Test(kafka_conf, operators_pairs_win)
{
	struct config_pair pairs[] = { { "linger.ms", "17" },
				       { "client.id", "quiz" } };
	rd_kafka_conf_t *conf;

	cr_assert_eq(make(NULL, 0, &conf), 0);
	expect(conf, "linger.ms", "5");
	expect(conf, "bootstrap.servers", "127.0.0.1:9");
	rd_kafka_conf_destroy(conf);
	cr_assert_eq(make(pairs, 2, &conf), 0);
	expect(conf, "linger.ms", "17");
	expect(conf, "client.id", "quiz");
	rd_kafka_conf_destroy(conf);
}

/* Each bad property is named, not only the first. */
Test(kafka_conf, bad_properties_are_named, .init = cr_redirect_stderr)
{
	struct config_pair pairs[] = { { "lingerms", "1" },
				       { "acks", "sometimes" } };
	rd_kafka_conf_t *conf;
	char text[2048];
	size_t n;

	cr_assert_eq(make(pairs, 2, &conf), ERR_CONFIG);
	(void)fflush(stderr);
	n = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr());
	text[n] = '\0';
	cr_assert_not_null(strstr(text, "lingerms"));
	cr_assert_not_null(strstr(text, "acks"));
}

Test(kafka_conf, passwords_are_not_shown, .init = cr_redirect_stderr)
{
	struct config_pair pair = { "sasl.pasword", "hunter2" };
	rd_kafka_conf_t *conf;
	char text[1024];
	size_t n;

	cr_assert_eq(make(&pair, 1, &conf), ERR_CONFIG);
	n = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr());
	text[n] = '\0';
	cr_assert_not_null(strstr(text, "sasl.pasword"));
	cr_assert_null(strstr(text, "hunter2"));
}

/* We hand over whole assignments; piece by piece would lose some. */
Test(kafka_conf, cooperative_assignor_is_refused)
{
	struct config_pair bad = { "partition.assignment.strategy",
				   "range,cooperative-sticky" };
	struct config_pair good = { "partition.assignment.strategy",
				    "roundrobin" };
	rd_kafka_conf_t *conf;

	cr_assert_eq(make(&bad, 1, &conf), ERR_CONFIG);
	cr_assert_eq(make(&good, 1, &conf), 0);
	rd_kafka_conf_destroy(conf);
}
