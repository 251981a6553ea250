/*
 * The settle-worker: credits every claim exactly once, and tells what the
 * ledger knows. The path of a claim:
 *
 *   Kafka -> worker.c -> worker_batch.c -> event.c -> ledger_sqlite_apply.c
 *     -> ledger_sqlite_claim.c (settle.c decides) -> commit, with its offset
 *
 * and of a question: dubbo_server -> ledger_service.c -> reads.c ->
 * ledger_sqlite_read.c -> ledger_answer.c -> dubbo_server.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "auditor.h"
#include "base/log.h"
#include "ledger_service.h"
#include "net/service.h"
#include "options.h"
#include "settle_metrics.h"
#include "watch.h"
#include "worker.h"

enum { CONSUMER_IDLE_MS = 180000 };

struct process {
	struct settle_options options;
	struct service_rt *rt;
	struct ledger *ledger;
	struct reads *reads;
	struct worker *worker;
	struct watch *watch;
	struct auditor auditor;
	struct ledger_service service;
	struct dubbo_interface interface;
	struct dubbo_server *server;
	const char *topics[2];
	bool draining;
	bool failed; /* the start did */
};

static const char *cluster_id(void *ctx)
{
	struct process *p = ctx;

	return p->worker == NULL ? "" : worker_cluster_id(p->worker);
}

static bool caught_up(void *ctx)
{
	struct process *p = ctx;

	return p->worker != NULL && worker_caught_up(p->worker);
}

static void nothing_came(void *ctx)
{
	struct process *p = ctx;

	if (p->worker != NULL) {
		worker_rejoin(p->worker);
	}
}

static int listen_for_calls(struct process *p)
{
	struct dubbo_server_options o = {
		.listen = p->options.listen,
		.secret = p->options.secret,
		.calls_max = p->options.calls_max,
		.connections_max = p->options.connections_max,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = CONSUMER_IDLE_MS,
	};
	int rv;

	p->topics[0] = p->options.topic_activities;
	p->topics[1] = p->options.topic_claims;
	p->service = (struct ledger_service){
		.reads = p->reads,
		.auditor = &p->auditor,
		.ledger_id = ledger_id(p->ledger),
		.cluster_id = cluster_id,
		.ctx = p,
		.topics = p->topics,
		.topic_count = 2,
	};
	p->interface = ledger_service_interface(&p->service);
	rv = dubbo_server_new(p->rt->hub, &o, &p->interface, 1, &p->server);
	if (rv == 0) {
		log_info("listening",
			 log_str("address", dubbo_server_address(p->server)));
	}
	return rv;
}

static int watch_gaps(struct process *p)
{
	struct watch_deps deps = {
		.loop = p->rt->loop,
		.hub = p->rt->hub,
		.reads = p->reads,
		.options = &p->options,
		.caught_up = caught_up,
		.nothing_came = nothing_came,
		.ctx = p,
	};

	return watch_start(&deps, &p->watch);
}

static bool ready(struct service_rt *rt, struct buf *why)
{
	struct process *p = rt->svc->ctx;

	if (p->draining) {
		buf_printf(why, "draining\n");
		return false;
	}
	if (!worker_ready(p->worker, why)) {
		return false;
	}
	/* A note, no reason: what is owed to others is credited all the same. */
	if (auditor_violations(&p->auditor) > 0) {
		buf_printf(why, "the books are not sound: ");
		auditor_first(&p->auditor, why);
		buf_printf(why, "\n");
	}
	return true;
}

/* ---- Drain: finish the transaction, leave the group, answer, close ---- */

static void reads_ended(void *ctx)
{
	struct process *p = ctx;

	ledger_close(p->ledger);
	p->ledger = NULL;
	if (!p->failed) {
		service_stopped(p->rt);
	}
}

static void calls_answered(void *ctx)
{
	struct process *p = ctx;

	if (p->server != NULL) {
		dubbo_server_free(p->server);
		p->server = NULL;
	}
	if (p->reads != NULL) {
		reads_free(p->reads, reads_ended, p);
	} else {
		reads_ended(p);
	}
}

static void worker_stopped(void *ctx)
{
	struct process *p = ctx;

	p->worker = NULL;
	if (p->failed) {
		calls_answered(p);
		return;
	}
	log_info("consumption has stopped");
	dubbo_server_drain(p->server, calls_answered, p);
}

static void auditor_stopped(void *ctx)
{
	struct process *p = ctx;

	worker_stop(p->worker, worker_stopped, p);
}

static void watch_stopped(void *ctx)
{
	struct process *p = ctx;

	p->watch = NULL;
	auditor_stop(&p->auditor, auditor_stopped, p);
}

static void drain(struct service_rt *rt)
{
	struct process *p = rt->svc->ctx;

	p->draining = true;
	watch_stop(p->watch, watch_stopped, p);
}

static void left(struct service_rt *rt, struct buf *what)
{
	struct process *p = rt->svc->ctx;

	if (p->watch != NULL) {
		buf_printf(what, "the search for gaps has not stopped\n");
	} else if (p->worker != NULL) {
		buf_printf(what, "the audit, a transaction or the consumer "
				 "group: what is not committed is read "
				 "again\n");
	} else if (p->server != NULL) {
		buf_printf(what, "%lld calls have no answer\n",
			   (long long)dubbo_server_in_flight(p->server));
	}
}

/* ---- Start ---- */

/* A start that failed leaves nothing behind. */
static void undo(struct process *p)
{
	p->failed = true;
	if (p->worker != NULL) {
		worker_stop(p->worker, worker_stopped, p);
	} else {
		calls_answered(p);
	}
}

static int start(struct service_rt *rt)
{
	struct process *p = rt->svc->ctx;
	int rv;

	p->rt = rt;
	/* Of this thread and those that it starts. */
	errno = 0;
	if (nice((int)p->options.nice) == -1 && errno != 0) {
		log_warn("cannot let others go first", log_err(-errno));
	}
	settle_metrics_init();
	rv = ledger_open(p->options.ledger_path, &p->ledger);
	if (rv != 0) {
		return rv;
	}
	log_info("ledger", log_str("path", p->options.ledger_path),
		 log_str("id", ledger_id(p->ledger)));
	rv = reads_new(rt->loop, p->ledger, (size_t)p->options.readers,
		       (size_t)p->options.reads_max, &p->reads);
	if (rv == 0) {
		rv = listen_for_calls(p);
	}
	if (rv == 0) {
		rv = worker_start(rt->loop, p->ledger, &p->options, rt->pairs,
				  rt->pair_count, &p->worker);
	}
	if (rv == 0) {
		rv = watch_gaps(p);
	}
	if (rv != 0) {
		undo(p);
		return rv;
	}
	auditor_start(&p->auditor, rt->loop, p->reads, &p->options);
	return 0;
}

int main(int argc, char **argv)
{
	struct process *p = xcalloc(1, sizeof *p);
	struct service svc = {
		.name = "settle-worker",
		.summary = "credits every claim exactly once, keeps the books",
		.keys = settle_option_keys,
		.options = &p->options,
		.pass_section = "kafka",
		.validate = settle_options_check,
		.start = start,
		.drain = drain,
		.left = left,
		.ready = ready,
		.ctx = p,
	};
	int rv;

	/* Readers and the writer block; names to be resolved wait as well. */
	(void)setenv("UV_THREADPOOL_SIZE", "12", 0);
	rv = service_main(&svc, argc, argv);
	free(p);
	return rv;
}
