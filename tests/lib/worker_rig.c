#include "lib/worker_rig.h"

#include <signal.h>
#include <stdio.h>

#include "lib/kafka_broker.h"

void worker_rig_open(struct worker_rig *rig)
{
	static const char *const stems[] = { "activities", "claims", "dlq" };

	/* As service_main() does. */
	(void)signal(SIGPIPE, SIG_IGN);
	memset(rig, 0, sizeof *rig);
	cr_assert_eq(uv_loop_init(&rig->loop), 0);
	fixture_open(&rig->f);
	config_init(&rig->config, settle_option_keys, &rig->options, "kafka");
	for (int i = 0; i < 3; i++) {
		kafka_broker_topic(rig->topics[i], sizeof rig->topics[i],
				   stems[i]);
	}
	kafka_broker_create(rig->topics[0], WORKER_RIG_PARTITIONS);
	kafka_broker_create(rig->topics[1], WORKER_RIG_PARTITIONS);
	rig->options.topic_activities = rig->topics[0];
	rig->options.topic_claims = rig->topics[1];
	rig->options.topic_dlq = rig->topics[2];
	rig->pairs[0] =
		(struct config_pair){ "bootstrap.servers", kafka_broker() };
}

static bool is_ready(struct worker_rig *rig)
{
	struct buf why;
	bool ready;

	buf_init(&why);
	ready = worker_ready(rig->worker, &why);
	buf_close(&why);
	return ready;
}

void worker_rig_start(struct worker_rig *rig)
{
	cr_assert_eq(worker_start(&rig->loop, rig->f.ledger, &rig->options,
				  rig->pairs, 1, &rig->worker),
		     0);
	RUN_UNTIL(&rig->loop, is_ready(rig));
}

static void stopped(void *ctx)
{
	struct worker_rig *rig = ctx;

	rig->stopped = true;
}

void worker_rig_stop(struct worker_rig *rig)
{
	rig->stopped = false;
	worker_stop(rig->worker, stopped, rig);
	RUN_UNTIL(&rig->loop, rig->stopped);
	rig->worker = NULL;
}

void worker_rig_close(struct worker_rig *rig)
{
	if (rig->worker != NULL) {
		worker_rig_stop(rig);
	}
	turns_end(&rig->loop);
	fixture_sound(&rig->f);
	fixture_close(&rig->f);
	config_close(&rig->config);
}

void worker_rig_send(struct worker_rig *rig)
{
	for (; rig->sent < rig->f.count; rig->sent++) {
		const struct fixture_message *m = &rig->f.messages[rig->sent];

		kafka_broker_produce(rig->topics[m->topic], -1, BYTES("key"),
				     buf_live(&m->value));
	}
}

int64_t worker_rig_balance(struct worker_rig *rig, const char *user)
{
	return fixture_balance(&rig->f, user);
}

int64_t worker_rig_credited(struct worker_rig *rig, const char *activity)
{
	struct ledger_totals t;
	bool known = false;

	cr_assert_eq(
		ledger_totals(rig->f.reader, bytes_str(activity), &t, &known),
		0);
	return known ? t.books.credited_packets : 0;
}
