#include "watch.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "client/dubbo_client.h"
#include "gaps.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "settle_metrics.h"

enum {
	CALLS_MAX = 64,
	PAYLOAD_MAX = 1024 * 1024,
	COUNTERS_AT_ONCE = 32, /* activities asked about in a round */
	UNFUNDED_MS = 60000,   /* topics race, but not for so long */
};

struct watch {
	struct watch_deps deps;
	struct dubbo_client *client; /* NULL: nobody to ask */
	uv_timer_t timer;
	struct read_job look;
	bool looking;
	uint64_t counted_at;
	size_t calls; /* to the grab-service, under way */
	struct ledger_watch seen[GAPS_MAX];
	size_t seen_count;
	struct ledger_parked parked;
	int64_t told;      /* the oldest that waits, as it was logged */
	size_t next_asked; /* place of the next round among the gaps */
	struct gaps gaps;
	bool closed; /* the timer is */
	void (*stopped)(void *ctx);
	void *stopped_ctx;
};

/* A call about one activity. */
struct asked {
	struct watch *watch;
	char activity_id[ID_MAX + 1];
	int64_t seq;
};

static void maybe_end(struct watch *w)
{
	void (*stopped)(void *ctx) = w->stopped;
	void *ctx = w->stopped_ctx;

	if (!w->closed || w->looking || w->calls > 0) {
		return;
	}
	free(w);
	stopped(ctx);
}

static void call(struct watch *w, const char *method, const char *types,
		 const ProtobufCMessage *m, dubbo_done_cb done,
		 const struct gap *gap)
{
	struct dubbo_target target = { .path = "rain.ActivityService",
				       .version = "1.0.0",
				       .method = method,
				       .types = types };
	struct asked *a = xcalloc(1, sizeof *a);

	a->watch = w;
	a->seq = gap->whole_seq;
	memcpy(a->activity_id, gap->activity_id, sizeof a->activity_id);
	w->calls++;
	dubbo_client_call(w->client, &target, m,
			  (uint64_t)w->deps.options->grab_timeout_ms, -1, done,
			  a);
}

/* ---- Ask for claims again ---- */

static void rewound(void *ctx, enum dubbo_outcome outcome,
		    const struct dubbo_result *result, int provider)
{
	struct asked *a = ctx;
	struct watch *w = a->watch;
	struct bytes why = BYTES("no answer");
	Rain__ActivityReply *reply = NULL;

	(void)provider;
	if (outcome == DUBBO_DONE) {
		reply = dubbo_result_message(
			result, &rain__activity_reply__descriptor, &why);
	}
	if (reply != NULL) {
		log_warn("claims are missing, asked for them again",
			 log_str("activity", a->activity_id),
			 log_int("after", a->seq),
			 log_int("outcome", (int64_t)reply->outcome),
			 log_bytes("message", from_pb(reply->message)));
		proto_free(reply);
	} else if (w->stopped == NULL) {
		log_warn("claims are missing, and cannot be asked for",
			 log_str("activity", a->activity_id),
			 log_int("after", a->seq), log_bytes("why", why));
	}
	free(a);
	w->calls--;
	maybe_end(w);
}

static void ask_for_gaps(struct watch *w)
{
	const struct gap *gap;

	while (w->calls < CALLS_MAX &&
	       (gap = gaps_due(&w->gaps, uv_now(w->deps.loop))) != NULL) {
		Rain__RewindRequest m = RAIN__REWIND_REQUEST__INIT;

		m.activity_id = to_pb_str(gap->activity_id);
		m.seq = (uint64_t)gap->whole_seq;
		metric_add(&settle_rewinds, 1);
		call(w, "rewind", "Lrain/RewindRequest;", &m.base, rewound,
		     gap);
		/* Once: one that nothing closes is no reason for more. */
		if (gap->asks == 2) {
			w->deps.nothing_came(w->deps.ctx);
		}
	}
}

/* ---- The counters of the grab-service ---- */

static void show_books(const struct watch *w)
{
	int64_t claims = 0;
	int64_t published = 0;
	int64_t credited = 0;

	for (size_t i = 0; i < w->gaps.count; i++) {
		const struct gap *g = &w->gaps.list[i];

		claims += g->claims > 0 ? g->claims : 0;
		published += g->published > 0 ? g->published : 0;
		credited += g->credited;
	}
	metric_set(&settle_books_claims, claims);
	metric_set(&settle_books_published, published);
	metric_set(&settle_books_credited, credited);
}

static void counted(void *ctx, enum dubbo_outcome outcome,
		    const struct dubbo_result *result, int provider)
{
	struct asked *a = ctx;
	struct watch *w = a->watch;
	struct bytes why;
	Rain__CountersReply *m = NULL;

	(void)provider;
	if (outcome == DUBBO_DONE) {
		m = dubbo_result_message(
			result, &rain__counters_reply__descriptor, &why);
	}
	if (m != NULL && m->outcome == RAIN__OUTCOME__DONE) {
		gaps_counters(&w->gaps, bytes_str(a->activity_id),
			      (int64_t)m->claims, (int64_t)m->claims_published,
			      (int64_t)m->events_published);
	}
	if (m != NULL) {
		proto_free(m);
	}
	free(a);
	w->calls--;
	show_books(w);
	maybe_end(w);
}

static void ask_counters(struct watch *w)
{
	uint64_t now = uv_now(w->deps.loop);

	if (now - w->counted_at < (uint64_t)w->deps.options->counters_ms) {
		return;
	}
	w->counted_at = now;
	for (size_t i = 0;
	     i < w->gaps.count && i < COUNTERS_AT_ONCE && w->calls < CALLS_MAX;
	     i++) {
		const struct gap *gap =
			&w->gaps.list[w->next_asked++ % w->gaps.count];
		Rain__ActivityRequest m = RAIN__ACTIVITY_REQUEST__INIT;

		m.activity_id = to_pb_str(gap->activity_id);
		call(w, "counters", "Lrain/ActivityRequest;", &m.base, counted,
		     gap);
	}
}

/* ---- The ledger ---- */

static int look_work(struct read_job *job, struct ledger_reader *r)
{
	struct watch *w = container_of(job, struct watch, look);
	int rv = ledger_watch(r, w->seen, GAPS_MAX, &w->seen_count);

	return rv == 0 ? ledger_parked(r, &w->parked) : rv;
}

/* Claims whose activity, or tranche, nobody has announced. */
static void show_parked(struct watch *w)
{
	const struct ledger_parked *p = &w->parked;
	int64_t age = p->number == 0 ? 0 : clock_wall_ms() - p->since_ms;

	metric_set(&settle_waiting, p->count);
	metric_set(&settle_waiting_ms, age > 0 ? age : 0);
	if (age < UNFUNDED_MS || p->number == w->told) {
		return;
	}
	w->told = p->number;
	log_error("claims wait for funds that do not come",
		  log_str("activity", p->activity_id),
		  log_int("seconds", age / 1000), log_int("claims", p->count));
}

static void look_done(struct read_job *job, int rv)
{
	struct watch *w = container_of(job, struct watch, look);

	w->looking = false;
	if (rv == 0 && w->stopped == NULL) {
		gaps_update(&w->gaps, w->seen, w->seen_count,
			    w->deps.caught_up(w->deps.ctx),
			    uv_now(w->deps.loop));
		show_books(w);
		show_parked(w);
		if (w->client != NULL) {
			ask_for_gaps(w);
			ask_counters(w);
		}
	}
	maybe_end(w);
}

static void timer_cb(uv_timer_t *timer)
{
	struct watch *w = timer->data;

	if (!w->looking) {
		w->looking = reads_submit(w->deps.reads, &w->look);
	}
}

int watch_start(const struct watch_deps *deps, struct watch **out)
{
	struct watch *w = xcalloc(1, sizeof *w);
	uint64_t every = (uint64_t)deps->options->watch_ms;
	int rv = 0;

	w->deps = *deps;
	w->gaps.age_ms = (uint64_t)deps->options->gap_age_ms;
	w->look.work = look_work;
	w->look.done = look_done;
	if (deps->options->grab_addresses[0] != '\0') {
		struct dubbo_client_options o;

		dubbo_client_defaults(&o);
		o.addresses = deps->options->grab_addresses;
		o.secret = deps->options->grab_secret;
		o.application = "settle-worker";
		o.calls_max = CALLS_MAX;
		o.payload_max = PAYLOAD_MAX;
		rv = dubbo_client_new(deps->hub, &o, &w->client);
	}
	if (rv != 0) {
		free(w);
		return rv;
	}
	rv = uv_timer_init(deps->loop, &w->timer);
	check(rv == 0); /* it only fills in the handle */
	w->timer.data = w;
	rv = uv_timer_start(&w->timer, timer_cb, 0, every);
	check(rv == 0); /* it is not closing */
	*out = w;
	return 0;
}

static void closed_cb(uv_handle_t *handle)
{
	struct watch *w = handle->data;

	w->closed = true;
	maybe_end(w);
}

void watch_stop(struct watch *w, void (*done)(void *ctx), void *ctx)
{
	check(w->stopped == NULL);
	w->stopped = done;
	w->stopped_ctx = ctx;
	if (w->client != NULL) {
		dubbo_client_free(w->client);
		w->client = NULL;
	}
	uv_close((uv_handle_t *)&w->timer, closed_cb);
}
