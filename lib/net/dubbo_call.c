/* The calls that a Dubbo server has accepted, until they are answered. */
#include <stdlib.h>

#include "base/metrics.h"
#include "net/dubbo_server_internal.h"

enum { REPLY_OVERHEAD = 32 /* flag 3, length 4, attachments 17 */ };

enum answer {
	ANSWER_VALUE,
	ANSWER_EXCEPTION,
	ANSWER_ERROR,
	ANSWER_BUSY,
	ANSWER_REFUSED,
	ANSWER_COUNT
};

#define CALLS(answer)                                   \
	METRIC_COUNTER("rain_dubbo_server_calls_total", \
		       "Dubbo calls by answer", "answer=\"" answer "\"")
static struct metric answers[ANSWER_COUNT] = {
	[ANSWER_VALUE] = CALLS("value"),
	[ANSWER_EXCEPTION] = CALLS("exception"),
	[ANSWER_ERROR] = CALLS("error"),
	[ANSWER_BUSY] = CALLS("busy"),
	[ANSWER_REFUSED] = CALLS("refused"),
};
static struct metric in_flight = METRIC_GAUGE(
	"rain_dubbo_server_in_flight", "Dubbo calls not answered yet", "");
static struct metric connections = METRIC_GAUGE(
	"rain_dubbo_server_connections", "Connections of Dubbo consumers", "");
static struct metric turned_away =
	METRIC_COUNTER("rain_dubbo_server_refused_connections_total",
		       "Dubbo connections over the limit, closed at once", "");

static void register_metrics(void)
{
	for (int i = 0; i < ANSWER_COUNT; i++) {
		metrics_register(&answers[i]);
	}
	metrics_register(&in_flight);
	metrics_register(&connections);
	metrics_register(&turned_away);
}

void dubbo_server_metrics(void)
{
	static uv_once_t once = UV_ONCE_INIT;

	uv_once(&once, register_metrics);
}

void dubbo_count_refusal(enum dubbo_status status)
{
	metric_add(&answers[status == DUBBO_STATUS_THREADPOOL_EXHAUSTED
				    ? ANSWER_BUSY
				    : ANSWER_REFUSED],
		   1);
}

void dubbo_count_connections(int64_t n)
{
	metric_add(&connections, n);
}

void dubbo_count_turned_away(void)
{
	metric_add(&turned_away, 1);
}

struct dubbo_call *dubbo_call_new(struct dubbo_conn *c,
				  const struct dubbo_header *h,
				  uint64_t deadline)
{
	struct dubbo_call *call = xcalloc(1, sizeof(*call));

	call->conn = c;
	call->id = h->id;
	call->two_way = h->two_way;
	call->deadline = deadline;
	c->calls++;
	c->server->in_flight++;
	metric_add(&in_flight, 1);
	return call;
}

static void call_end(struct dubbo_call *call, enum answer answer)
{
	struct dubbo_conn *c = call->conn;

	check(c->calls > 0 && c->server->in_flight > 0);
	free(call);
	c->calls--;
	c->server->in_flight--;
	metric_add(&in_flight, -1);
	metric_add(&answers[answer], 1);
	if (!c->closed) {
		dubbo_conn_wrote(c);
	}
	dubbo_conn_release(c);
}

/* Where the answer goes; NULL if nobody waits for one. */
static struct buf *answer_to(struct dubbo_call *call)
{
	return call->two_way && !call->conn->closed
		       ? stream_out(&call->conn->stream)
		       : NULL;
}

uint64_t dubbo_call_deadline(const struct dubbo_call *call)
{
	return call->deadline;
}

void dubbo_reply(struct dubbo_call *call, const ProtobufCMessage *message)
{
	struct buf *out = answer_to(call);
	size_t max = call->conn->cutter.payload_max;

	if (message != NULL &&
	    protobuf_c_message_get_packed_size(message) + REPLY_OVERHEAD >
		    max) {
		dubbo_fail(call, DUBBO_STATUS_BAD_RESPONSE,
			   "The answer is over the payload limit");
		return;
	}
	if (out != NULL) {
		dubbo_reply_value(out, call->id, call->with_attachments,
				  message);
	}
	call_end(call, ANSWER_VALUE);
}

void dubbo_throw(struct dubbo_call *call, const char *class_name,
		 const char *message)
{
	struct buf *out = answer_to(call);

	if (out != NULL) {
		dubbo_reply_exception(out, call->id, call->with_attachments,
				      bytes_str(class_name),
				      bytes_str(message));
	}
	call_end(call, ANSWER_EXCEPTION);
}

void dubbo_fail(struct dubbo_call *call, enum dubbo_status status,
		const char *message)
{
	struct buf *out = answer_to(call);

	check(status != DUBBO_STATUS_OK);
	if (out != NULL) {
		dubbo_reply_error(out, call->id, DUBBO_PROTOBUF, status,
				  bytes_str(message));
	}
	call_end(call, status == DUBBO_STATUS_THREADPOOL_EXHAUSTED
			       ? ANSWER_BUSY
			       : ANSWER_ERROR);
}
