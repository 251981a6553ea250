/* The real grab-service: it stops in mid rain without losing an answer or a
 * claim, and starts again after a kill. Needs a broker. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

#include "client/dubbo_client.h"
#include "lib/grab_rig.h"
#include "lib/process.h"
#include "proto/proto_util.h"
#include "rain/grab_service.pb-c.h"

enum { CALLS = 40, BATCH = 50 };

static struct grab_rig rig;
static struct process process;
static struct dubbo_client *client;
static char address[64];

struct call {
	bool done;
	enum dubbo_outcome outcome;
	size_t won;
};

static void start_process(void)
{
	char program[256], redis[160], ledger[96], kafka[96], topics[3][128];
	const char *found;
	const char *argv[] = {
		program,
		"--set",
		"grab.wait_max=60s",
		"--set",
		"grab.listen=127.0.0.1:0",
		"--set",
		"http.listen=",
		"--set",
		"relay.lease=600ms",
		"--set",
		redis,
		"--set",
		ledger,
		"--set",
		kafka,
		"--set",
		topics[0],
		"--set",
		topics[1],
		"--set",
		topics[2],
		NULL,
	};

	(void)snprintf(program, sizeof program, "%s/grab-service",
		       getenv("RAIN_BIN"));
	(void)snprintf(redis, sizeof redis, "redis.url=%s", rig.redis.url);
	(void)snprintf(ledger, sizeof ledger, "ledger.addresses=%s",
		       rig.ledger.address);
	(void)snprintf(kafka, sizeof kafka, "kafka.bootstrap.servers=%s",
		       rig_kafka());
	(void)snprintf(topics[0], sizeof topics[0], "topics.activities=%s",
		       rig.topic[0]);
	(void)snprintf(topics[1], sizeof topics[1], "topics.claims=%s",
		       rig.topic[1]);
	(void)snprintf(topics[2], sizeof topics[2], "topics.dlq=%s",
		       rig.topic[2]);
	process_start(&process, argv, NULL);
	cr_assert(process_wait_text(&process, "event=listening", 10000) ||
			  process_wait_text(&process, "event=\"listening\"",
					    10000),
		  "%s", process_text(&process));
	cr_assert(process_wait_text(&process, "topics are there", 20000), "%s",
		  process_text(&process));
	found = strstr(process_text(&process), "address=127.0.0.1:");
	cr_assert_not_null(found);
	(void)snprintf(
		address, sizeof address, "127.0.0.1:%d",
		(int)strtol(found + strlen("address=127.0.0.1:"), NULL, 10));
}

static void connect_client(void)
{
	struct dubbo_client_options o;

	dubbo_client_defaults(&o);
	o.addresses = address;
	o.application = "test";
	cr_assert_eq(dubbo_client_new(rig.hub, &o, &client), 0);
	RUN_UNTIL(&rig.loop, dubbo_client_ready(client) == 1);
}

static void start(void)
{
	cr_assert_not_null(rig_kafka(), "KAFKA_BOOTSTRAP is not set");
	rig_open(&rig);
	lua_open(&rig.redis, "a", CALLS * BATCH);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	start_process();
	connect_client();
}

static void stop(void)
{
	dubbo_client_free(client);
	process_close(&process);
	rig_close(&rig);
}

TestSuite(grab_process, .init = start, .fini = stop, .timeout = 90);

static void answered(void *ctx, enum dubbo_outcome outcome,
		     const struct dubbo_result *result, int provider)
{
	struct call *c = ctx;
	struct bytes why;
	Rain__GrabBatchResponse *r;

	(void)provider;
	c->done = true;
	c->outcome = outcome;
	if (outcome != DUBBO_DONE) {
		return;
	}
	r = dubbo_result_message(result, &rain__grab_batch_response__descriptor,
				 &why);
	cr_assert_not_null(r, "%.*s", BYTES_FMT(why));
	for (size_t i = 0; i < r->n_responses; i++) {
		cr_assert_eq(r->responses[i]->reply->status, RAIN__STATUS__WON);
		c->won++;
	}
	proto_free(r);
}

static void send_batch(struct call *c, int number)
{
	static const struct dubbo_target target = {
		.path = "rain.GrabService",
		.version = "1.0.0",
		.method = "grabBatch",
		.types = "Lrain/GrabBatchRequest;",
	};
	Rain__GrabBatchRequest r = RAIN__GRAB_BATCH_REQUEST__INIT;
	Rain__GrabRequest grabs[BATCH];
	Rain__GrabRequest *list[BATCH];
	char users[BATCH][16];

	for (int i = 0; i < BATCH; i++) {
		rain__grab_request__init(&grabs[i]);
		(void)snprintf(users[i], sizeof users[i], "u%d",
			       number * BATCH + i);
		grabs[i].activity_id = to_pb_str("a");
		grabs[i].user_id = to_pb_str(users[i]);
		list[i] = &grabs[i];
	}
	r.n_grabs = BATCH;
	r.grabs = list;
	*c = (struct call){ 0 };
	dubbo_client_call(client, &target, &r.base, 5000, -1, answered, c);
}

static long claims(void)
{
	return strtol(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
		      NULL, 10);
}

Test(grab_process, sigterm_in_mid_rain_loses_nothing)
{
	static struct call calls[CALLS];
	size_t won = 0;

	for (int i = 0; i < CALLS; i++) {
		send_batch(&calls[i], i);
		uv_run(&rig.loop, UV_RUN_NOWAIT);
		if (i == CALLS / 2) {
			process_signal(&process, SIGTERM);
		}
	}
	for (int i = 0; i < CALLS; i++) {
		RUN_UNTIL(&rig.loop, calls[i].done);
		/* Answered, or surely not begun. */
		cr_assert_neq(calls[i].outcome, DUBBO_UNKNOWN);
		won += calls[i].won;
	}
	cr_assert_eq(process_wait(&process, 15000), 0, "%s",
		     process_text(&process));
	cr_assert_gt(won, 0);
	cr_assert_eq((long)won, claims());
	cr_assert_eq(strtol(rig_relay(&rig, "a", "claims"), NULL, 10),
		     claims());
	cr_assert_str_eq(rig_relay(&rig, "a", "owner"), "");
	cr_assert_null(strstr(
		redis_server_ask(&rig.redis, "HKEYS rain:{a}:relay"), "w:"));
}

/* F39: dead after the script, before Kafka has it. */
Test(grab_process, killed_one_leaves_claims_that_the_next_publishes)
{
	static struct call calls[CALLS];
	char text[24];

	for (int i = 0; i < CALLS; i++) {
		send_batch(&calls[i], i);
	}
	RUN_UNTIL(&rig.loop, calls[2].done);
	process_signal(&process, SIGKILL);
	cr_assert_eq(process_wait(&process, 10000), 128 + SIGKILL);
	for (int i = 0; i < CALLS; i++) {
		RUN_UNTIL(&rig.loop, calls[i].done);
	}
	process_close(&process);
	start_process();
	(void)snprintf(text, sizeof text, "%ld", claims());
	rig_until_relay(&rig, "a", "claims", text);
}

Test(grab_process, says_why_an_activity_was_halted)
{
	cr_assert(process_wait_text(&process,
				    "event=\"relays activity\" activity=a",
				    10000),
		  "%s", process_text(&process));
	cr_assert_null(strstr(process_text(&process), "relay starts again"));
	redis_server_ask(&rig.redis, "RPOP rain:{a}:packets");
	cr_assert(process_wait_text(&process,
				    "event=\"activity halted\" activity=a "
				    "check=counts reason=\"packets ",
				    10000),
		  "%s", process_text(&process));
}
