/* Each method reads its request, asks the ledger in a thread of `reads`, and
 * answers on the loop. */
#include "ledger_service.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "ledger_answer.h"
#include "proto/proto_util.h"
#include "rain/ledger_service.pb-c.h"

enum {
	REQUEST_MAX = 4096, /* memory for a request */
	LIMIT_DEFAULT = 100,
	ACTIVITIES_MAX = 200, /* of one answer */
	POSITIONS_MAX = 4096,
};

struct question {
	struct read_job job;
	struct ledger_service *service;
	struct dubbo_call *call;
	struct event_id user_id;
	struct event_id activity_id;
	char cluster_id[64];
	int64_t after;
	size_t limit;
	/* The answer. */
	int64_t cents;
	char currency[8];
	bool found;
	size_t count;
	void *rows; /* owned */
	void (*answer)(struct question *q);
};

static void refuse(struct question *q, enum dubbo_status status,
		   const char *why)
{
	dubbo_fail(q->call, status, why);
	free(q->rows);
	free(q);
}

static void done(struct read_job *job, int rv)
{
	struct question *q = container_of(job, struct question, job);

	if (rv == ERR_TIMEOUT) {
		refuse(q, DUBBO_STATUS_SERVER_TIMEOUT,
		       "the question waited past its deadline");
		return;
	}
	if (rv != 0) {
		refuse(q, DUBBO_STATUS_SERVER_ERROR,
		       "the ledger cannot be read");
		return;
	}
	q->answer(q);
	free(q->rows);
	free(q);
}

static struct question *question(struct ledger_service *s,
				 struct dubbo_call *call,
				 int (*work)(struct read_job *job,
					     struct ledger_reader *r),
				 void (*answer)(struct question *q))
{
	struct question *q = xcalloc(1, sizeof *q);

	q->job.work = work;
	q->job.done = done;
	q->job.deadline = dubbo_call_deadline(call);
	q->answer = answer;
	q->service = s;
	q->call = call;
	return q;
}

static void ask(struct question *q)
{
	if (!reads_submit(q->service->reads, &q->job)) {
		refuse(q, DUBBO_STATUS_THREADPOOL_EXHAUSTED,
		       "too many questions to the ledger");
	}
}

/* The id, or false after refusing. */
static bool take_id(struct question *q, struct bytes in, struct event_id *out)
{
	if (!id_valid(in)) {
		refuse(q, DUBBO_STATUS_BAD_REQUEST, "an id is not " ID_RULE);
		return false;
	}
	memcpy(out->s, in.p, in.n);
	out->s[in.n] = '\0';
	out->n = (uint8_t)in.n;
	return true;
}

static void *request(struct question *q, const ProtobufCMessageDescriptor *d,
		     struct bytes argument)
{
	void *m = proto_unpack(d, argument, REQUEST_MAX);

	if (m == NULL) {
		refuse(q, DUBBO_STATUS_BAD_REQUEST,
		       "the request is no valid message");
	}
	return m;
}

/* ---- balance ---- */

static int balance_work(struct read_job *job, struct ledger_reader *r)
{
	struct question *q = container_of(job, struct question, job);

	return ledger_balance(r, event_id_view(&q->user_id), &q->cents,
			      q->currency);
}

static void balance_answer(struct question *q)
{
	Rain__LedgerBalanceReply reply = RAIN__LEDGER_BALANCE_REPLY__INIT;

	reply.user_id = to_pb(event_id_view(&q->user_id));
	reply.balance_cents = q->cents;
	reply.currency = to_pb_str(q->currency);
	dubbo_reply(q->call, &reply.base);
}

static void balance(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct question *q = question(ctx, call, balance_work, balance_answer);
	Rain__BalanceRequest *m =
		request(q, &rain__balance_request__descriptor, argument);

	if (m != NULL && take_id(q, from_pb(m->user_id), &q->user_id)) {
		ask(q);
	}
	proto_free(m);
}

/* ---- records ---- */

static int records_work(struct read_job *job, struct ledger_reader *r)
{
	struct question *q = container_of(job, struct question, job);
	struct ledger_page page = {
		.user_id = event_id_view(&q->user_id),
		.activity_id = event_id_view(&q->activity_id),
		.after = q->after,
		.limit = q->limit,
	};

	q->rows = xcalloc(q->limit, sizeof(struct ledger_record));
	return ledger_records(r, &page, q->rows, &q->count);
}

static void records_answer(struct question *q)
{
	ledger_answer_records(q->call, q->rows, q->count);
}

static size_t limit_of(uint32_t limit, size_t most)
{
	if (limit == 0) {
		return LIMIT_DEFAULT;
	}
	return limit > most ? most : limit;
}

static void records(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct question *q = question(ctx, call, records_work, records_answer);
	Rain__RecordsRequest *m =
		request(q, &rain__records_request__descriptor, argument);
	bool ok = false;

	if (m == NULL) {
		return;
	}
	q->after = m->after > INT64_MAX ? INT64_MAX : (int64_t)m->after;
	q->limit = limit_of(m->limit, LEDGER_PAGE_MAX);
	if ((m->user_id.len == 0) == (m->activity_id.len == 0)) {
		refuse(q, DUBBO_STATUS_BAD_REQUEST,
		       "one of user_id and activity_id must be given");
	} else if (m->user_id.len > 0) {
		ok = take_id(q, from_pb(m->user_id), &q->user_id);
	} else {
		ok = take_id(q, from_pb(m->activity_id), &q->activity_id);
	}
	proto_free(m);
	if (ok) {
		ask(q);
	}
}

/* ---- record ---- */

static int record_work(struct read_job *job, struct ledger_reader *r)
{
	struct question *q = container_of(job, struct question, job);
	int rv;

	q->rows = xcalloc(1, sizeof(struct ledger_record));
	rv = ledger_record(r, event_id_view(&q->activity_id),
			   event_id_view(&q->user_id), q->rows, &q->found);
	q->count = q->found ? 1 : 0;
	return rv;
}

static void record(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct question *q = question(ctx, call, record_work, records_answer);
	Rain__RecordRequest *m =
		request(q, &rain__record_request__descriptor, argument);

	if (m != NULL && take_id(q, from_pb(m->user_id), &q->user_id) &&
	    take_id(q, from_pb(m->activity_id), &q->activity_id)) {
		ask(q);
	}
	proto_free(m);
}

/* ---- totals ---- */

static int totals_work(struct read_job *job, struct ledger_reader *r)
{
	struct question *q = container_of(job, struct question, job);

	q->rows = xcalloc(1, sizeof(struct ledger_totals));
	return ledger_totals(r, event_id_view(&q->activity_id), q->rows,
			     &q->found);
}

/* What the audit found stands beside what the books themselves alarm of. */
static void add_findings(const struct question *q)
{
	struct ledger_totals *t = q->rows;

	for (size_t i = 0; q->service->auditor != NULL && i < q->count; i++) {
		auditor_alarm(q->service->auditor, &t[i]);
	}
}

static void totals_answer(struct question *q)
{
	q->count = q->found ? 1 : 0;
	add_findings(q);
	ledger_answer_totals(q->call, q->found ? q->rows : NULL,
			     event_id_view(&q->activity_id));
}

static void totals(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct question *q = question(ctx, call, totals_work, totals_answer);
	Rain__TotalsRequest *m =
		request(q, &rain__totals_request__descriptor, argument);

	if (m != NULL && take_id(q, from_pb(m->activity_id), &q->activity_id)) {
		ask(q);
	}
	proto_free(m);
}

/* ---- activities ---- */

static int activities_work(struct read_job *job, struct ledger_reader *r)
{
	struct question *q = container_of(job, struct question, job);

	q->rows = xcalloc(q->limit, sizeof(struct ledger_totals));
	return ledger_activities(r, event_id_view(&q->activity_id), q->limit,
				 q->rows, &q->count);
}

static void activities_answer(struct question *q)
{
	add_findings(q);
	ledger_answer_activities(q->call, q->rows, q->count);
}

static void activities(void *ctx, struct dubbo_call *call,
		       struct bytes argument)
{
	struct question *q =
		question(ctx, call, activities_work, activities_answer);
	Rain__ActivitiesRequest *m =
		request(q, &rain__activities_request__descriptor, argument);

	if (m == NULL) {
		return;
	}
	q->limit = limit_of(m->limit, ACTIVITIES_MAX);
	if (m->after.len == 0 ||
	    take_id(q, from_pb(m->after), &q->activity_id)) {
		ask(q);
	}
	proto_free(m);
}

/* ---- positions ---- */

static int positions_work(struct read_job *job, struct ledger_reader *r)
{
	struct question *q = container_of(job, struct question, job);

	q->rows = xcalloc(POSITIONS_MAX, sizeof(struct ledger_position));
	return ledger_reader_positions(r, bytes_str(q->cluster_id), q->rows,
				       POSITIONS_MAX, &q->count);
}

static void positions_answer(struct question *q)
{
	const struct ledger_service *s = q->service;
	struct ledger_position *p = q->rows;
	size_t kept = 0;

	for (size_t i = 0; i < q->count; i++) {
		for (size_t t = 0; t < s->topic_count; t++) {
			if (strcmp(p[i].topic, s->topics[t]) == 0) {
				p[kept++] = p[i];
				break;
			}
		}
	}
	ledger_answer_positions(q->call, s, q->cluster_id, p, kept);
}

static void positions(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct ledger_service *s = ctx;
	struct question *q =
		question(s, call, positions_work, positions_answer);
	Rain__PositionsRequest *m =
		request(q, &rain__positions_request__descriptor, argument);
	const char *id = s->cluster_id(s->ctx);

	if (m == NULL) {
		return;
	}
	proto_free(m);
	(void)snprintf(q->cluster_id, sizeof q->cluster_id, "%s", id);
	ask(q);
}

struct dubbo_interface ledger_service_interface(struct ledger_service *s)
{
	static const struct dubbo_method methods[] = {
		{ "balance", "Lrain/BalanceRequest;", balance },
		{ "records", "Lrain/RecordsRequest;", records },
		{ "record", "Lrain/RecordRequest;", record },
		{ "totals", "Lrain/TotalsRequest;", totals },
		{ "activities", "Lrain/ActivitiesRequest;", activities },
		{ "positions", "Lrain/PositionsRequest;", positions },
	};

	return (struct dubbo_interface){
		.name = "rain.LedgerService",
		.version = "1.0.0",
		.methods = methods,
		.method_count = sizeof methods / sizeof methods[0],
		.ctx = s,
	};
}
