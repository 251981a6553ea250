#include "client/kafka_conf.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"

enum {
	ERROR_TEXT_MAX = 512,
	/* Severities of syslog, whose header has names of ours. */
	SEVERITY_CRITICAL = 2,
	SEVERITY_WARNING = 4,
	SEVERITY_NOTICE = 5,
};

/* librdkafka calls any lost connection an error; it reconnects by itself, so
 * for us that is a warning. Comes from any of its threads. */
static void log_cb(const rd_kafka_t *rk, int severity, const char *facility,
		   const char *text)
{
	enum log_level level = LOG_DEBUG;

	(void)rk;
	if (severity <= SEVERITY_CRITICAL) {
		level = LOG_ERROR;
	} else if (severity <= SEVERITY_WARNING) {
		level = LOG_WARN;
	} else if (severity <= SEVERITY_NOTICE) {
		level = LOG_INFO;
	}
	log_write(level, "librdkafka", log_str("facility", facility),
		  log_str("text", text), LOG_LAST);
}

/* librdkafka's message quotes the value, which may be a password. */
static bool is_secret(const char *name)
{
	return strstr(name, "password") != NULL ||
	       strstr(name, "secret") != NULL || strstr(name, "pem") != NULL ||
	       strstr(name, "sasl") != NULL;
}

/* What is promised holds with some values only. */
static const struct {
	const char *name;
	const char *fit[4];
	const char *why;
} only[] = {
	/* A cooperative assignor hands partitions over piece by piece; we take
	 * and give back whole assignments, and 2.0.2 hangs with it. */
	{ "partition.assignment.strategy",
	  { "range", "roundrobin", "range,roundrobin", "roundrobin,range" },
	  "only range and roundrobin" },
	{ "acks",
	  { "all", "-1" },
	  "only all: what one broker lost would count as published" },
	{ "request.required.acks",
	  { "all", "-1" },
	  "only all: what one broker lost would count as published" },
	{ "auto.offset.reset",
	  { "earliest", "beginning", "smallest" },
	  "only earliest: any other skips claims" },
};

/* NULL, or why this value will not do. */
static const char *unfit(const struct config_pair *pair)
{
	for (size_t i = 0; i < sizeof only / sizeof only[0]; i++) {
		if (strcmp(pair->name, only[i].name) != 0) {
			continue;
		}
		for (size_t k = 0; k < 4 && only[i].fit[k] != NULL; k++) {
			if (strcmp(pair->value, only[i].fit[k]) == 0) {
				return NULL;
			}
		}
		return only[i].why;
	}
	return NULL;
}

/* NULL, or what is wrong; text may hold it. */
static const char *refused(rd_kafka_conf_t *conf,
			   const struct config_pair *pair,
			   char text[ERROR_TEXT_MAX])
{
	if (rd_kafka_conf_set(conf, pair->name, pair->value, text,
			      ERROR_TEXT_MAX) != RD_KAFKA_CONF_OK) {
		return is_secret(pair->name) ? "unknown or not allowed" : text;
	}
	return unfit(pair);
}

static int set_pair(rd_kafka_conf_t *conf, const struct config_pair *pair)
{
	char text[ERROR_TEXT_MAX] = "";
	const char *why = refused(conf, pair, text);

	if (why == NULL) {
		return 0;
	}
	log_error("bad Kafka property", log_str("name", pair->name),
		  log_str("why", why));
	return ERR_CONFIG;
}

/* librdkafka knows it by two names. */
static bool is_bootstrap(const char *name)
{
	return strcmp(name, "bootstrap.servers") == 0 ||
	       strcmp(name, "metadata.broker.list") == 0;
}

static void set_default(rd_kafka_conf_t *conf, const struct kafka_setting *s)
{
	char text[ERROR_TEXT_MAX] = "";
	rd_kafka_conf_res_t rv;

	rv = rd_kafka_conf_set(conf, s->name, s->value, text, sizeof(text));
	check(rv == RD_KAFKA_CONF_OK ||
	      (s->optional && rv == RD_KAFKA_CONF_UNKNOWN));
}

int kafka_conf_make(const struct kafka_setting *defaults, const char *bootstrap,
		    const struct config_pair *pairs, size_t pair_count,
		    rd_kafka_conf_t **out)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	int rv;

	for (const struct kafka_setting *s = defaults; s->name != NULL; s++) {
		set_default(conf, s);
	}
	rd_kafka_conf_set_log_cb(conf, log_cb);
	rv = set_pair(conf,
		      &(struct config_pair){ "bootstrap.servers", bootstrap });
	/* All of them, so that a person sees every mistake at once. */
	for (size_t i = 0; i < pair_count; i++) {
		int bad = set_pair(conf, &pairs[i]);

		rv = rv != 0 ? rv : bad;
	}
	if (rv != 0) {
		rd_kafka_conf_destroy(conf);
		return rv;
	}
	*out = conf;
	return 0;
}

/* Whether they go together, and whether the files that they name are there,
 * only a client can tell. It is told of no broker and so talks to none. */
static void check_client(rd_kafka_type_t type,
			 const struct kafka_setting *defaults,
			 const struct config_pair *pairs, size_t pair_count,
			 struct buf *problems)
{
	char text[ERROR_TEXT_MAX] = "";
	rd_kafka_conf_t *conf;
	rd_kafka_t *rk;

	if (kafka_conf_make(defaults, "", NULL, 0, &conf) != 0) {
		return;
	}
	for (size_t i = 0; i < pair_count; i++) {
		if (!is_bootstrap(pairs[i].name)) {
			(void)refused(conf, &pairs[i], text);
		}
	}
	(void)rd_kafka_conf_set(conf, "group.id", "check", NULL, 0);
	rd_kafka_conf_set_log_cb(conf, NULL);
	text[0] = '\0';
	rk = rd_kafka_new(type, conf, text, sizeof(text));
	if (rk == NULL) {
		rd_kafka_conf_destroy(conf);
		buf_printf(problems,
			   "kafka: %s; allowed: properties that go together\n",
			   text);
		return;
	}
	rd_kafka_destroy(rk);
}

void kafka_conf_check(const struct config_pair *pairs, size_t pair_count,
		      struct buf *problems)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	size_t before = buf_len(problems);
	bool somewhere = false;

	for (size_t i = 0; i < pair_count; i++) {
		char text[ERROR_TEXT_MAX] = "";
		const char *why = refused(conf, &pairs[i], text);

		if (why != NULL) {
			buf_printf(problems,
				   "kafka.%s: %s; allowed: the properties of "
				   "librdkafka %s and their values\n",
				   pairs[i].name, why, rd_kafka_version_str());
		}
		somewhere = somewhere || (is_bootstrap(pairs[i].name) &&
					  pairs[i].value[0] != '\0');
	}
	if (!somewhere) {
		buf_printf(problems, "kafka.bootstrap.servers: is not set; "
				     "allowed: host:port,host:port\n");
	}
	rd_kafka_conf_destroy(conf);
	if (buf_len(problems) == before) {
		check_client(RD_KAFKA_PRODUCER, kafka_producer_defaults, pairs,
			     pair_count, problems);
		check_client(RD_KAFKA_CONSUMER, kafka_consumer_defaults, pairs,
			     pair_count, problems);
	}
}

void kafka_conf_show(const rd_kafka_conf_t *conf, const char *event,
		     const char *const *names)
{
	for (; *names != NULL; names++) {
		char value[64] = "";
		size_t n = sizeof(value);

		(void)rd_kafka_conf_get(conf, *names, value, &n);
		log_info(event, log_str("property", *names),
			 log_str("value", value));
	}
}

rd_kafka_t *kafka_client_new(rd_kafka_type_t type, const rd_kafka_conf_t *conf)
{
	char text[ERROR_TEXT_MAX] = "";
	rd_kafka_conf_t *copy = rd_kafka_conf_dup(conf);
	rd_kafka_t *rk = rd_kafka_new(type, copy, text, sizeof(text));

	if (rk == NULL) {
		rd_kafka_conf_destroy(copy);
		log_error("no Kafka client with these properties",
			  log_str("why", text));
	}
	return rk;
}
