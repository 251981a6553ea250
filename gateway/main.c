/*
 * rain-gateway: holds the apps' TCP connections and asks the services.
 *
 *   gateway.c     accepts, hands every connection to one of the loops
 *   loop.c        a thread: its connections, its clients, its timers
 *   session.c     a connection: frames in, states, silence
 *   dispatch.c    a message: may it be said now, and who takes it
 *   hello.c       the token: who speaks
 *   throttle.c    how fast: the token buckets (bucket.c) of the connection,
 *                 its address, its user, the activity (limits.c shares them)
 *   requests.c    Grab, QueryResult, QueryBalance: checked and admitted
 *                 (admission.c decides)
 *   edge.c        what can be told without asking (edge_rule.c decides)
 *   batcher.c     the grabs of a loop turn go in one call; what is asked again
 *   ask.c         the calls of one user
 *   verdict.c     what a service's answer means for the app
 *   reply.c       every message to an app
 *
 * The path of a grab: session on_data -> dispatch -> requests_grab ->
 * batcher_add, batcher_flush -> rain.GrabService.grabBatch -> batch_done ->
 * reply_request.
 */
#include <sys/resource.h>

#include "base/log.h"
#include "gateway/gateway.h"
#include "net/service.h"

static struct gateway_options options;
static struct gateway *gateway;

/* Beside the apps' connections: logs, services, epoll. */
enum { FILES_BESIDE = 256 };

/* The service's frame has raised the limit as far as the system lets it. */
static void respect_file_limit(void)
{
	struct rlimit limit;
	rlim_t want = (rlim_t)options.connections_max + FILES_BESIDE;
	rlim_t usable;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
		return;
	}
	/* The last twentieth is never given to apps, see gateway.c. */
	usable = limit.rlim_cur - limit.rlim_cur / 20;
	if (usable < want) {
		options.connections_max =
			usable > 2 * FILES_BESIDE
				? (int64_t)usable - FILES_BESIDE
				: FILES_BESIDE;
		log_warn("fewer open files are allowed than "
			 "gateway.connections_max needs",
			 log_int("allowed", (int64_t)limit.rlim_cur),
			 log_int("connections_max", options.connections_max));
	}
}

static int start(struct service_rt *rt)
{
	respect_file_limit();
	return gateway_new(rt->loop, &options, &gateway);
}

static void drained(void *ctx)
{
	struct service_rt *rt = ctx;

	gateway_free(gateway);
	gateway = NULL;
	service_stopped(rt);
}

static void drain(struct service_rt *rt)
{
	gateway_drain(gateway, drained, rt);
}

static void left(struct service_rt *rt, struct buf *what)
{
	(void)rt;
	if (gateway != NULL) {
		gateway_left(gateway, what);
	}
}

static void reload(struct service_rt *rt)
{
	(void)rt;
	if (gateway != NULL) {
		gateway_reload(gateway);
	}
}

static bool ready(struct service_rt *rt, struct buf *why)
{
	(void)rt;
	return gateway != NULL && gateway_ready(gateway, why);
}

int main(int argc, char **argv)
{
	struct service svc = {
		.name = "rain-gateway",
		.summary = "holds the apps' connections and passes their grabs "
			   "to the grab-services",
		.keys = gateway_option_keys,
		.options = &options,
		.validate = gateway_options_check,
		.start = start,
		.drain = drain,
		.left = left,
		.reload = reload,
		.ready = ready,
	};

	return service_main(&svc, argc, argv);
}
