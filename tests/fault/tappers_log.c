#include <inttypes.h>

#include "base/clock.h"
#include "fault/tappers.h"
#include "proto/proto_util.h"

static void begin(struct app *a, const char *event)
{
	fprintf(a->t->log,
		"{\"event\":\"%s\",\"mono\":%" PRIu64 ",\"wall\":%" PRId64
		",\"conn\":%" PRIu64,
		event, clock_mono_ms(), clock_wall_ms(), a->connection);
}

static void request(struct app *a, uint64_t seq, bool query,
		    const struct ask *ask)
{
	char user[ID_MAX + 1];

	fprintf(a->t->log, ",\"seq\":%" PRIu64 ",\"kind\":\"%s\"", seq,
		query ? "query" : "grab");
	if (ask != NULL) {
		tappers_user_id(a->t, tappers_user_of(a->t, ask->person), user);
		fprintf(a->t->log, ",\"activity\":\"%s\",\"user\":\"%s\"",
			tappers_activity(a->t, ask->person), user);
	}
}

void tappers_log_ask(struct app *a, const struct ask *ask)
{
	begin(a, "ask");
	request(a, ask->seq, ask->query, ask);
	fprintf(a->t->log, ",\"attempt\":%u,\"not_after\":%" PRId64 "}\n",
		(unsigned)ask->attempt, ask->not_after_ms);
}

/* An id that could not stand in JSON is written as what it is: none. */
static struct bytes shown(ProtobufCBinaryData id)
{
	struct bytes b = from_pb(id);

	return id_valid(b) ? b : BYTES("(no id)");
}

void tappers_log_answer(struct app *a, uint64_t seq, bool query,
			const struct ask *ask, const char *status,
			const Rain__RedPacket *packet)
{
	begin(a, "answer");
	request(a, seq, query, ask);
	fprintf(a->t->log, ",\"status\":\"%s\"", status);
	if (packet != NULL) {
		fprintf(a->t->log,
			",\"packet\":\"%.*s\",\"amount\":%" PRId64
			",\"at\":%" PRId64,
			BYTES_FMT(shown(packet->red_packet_id)),
			packet->amount_cents, packet->at_ms);
	}
	fputs("}\n", a->t->log);
}

void tappers_log_closed(struct app *a, const struct ask *ask)
{
	begin(a, "closed");
	request(a, ask->seq, ask->query, ask);
	fputs("}\n", a->t->log);
}

void tappers_log_connection(struct app *a, const char *event, const char *text)
{
	begin(a, event);
	fprintf(a->t->log, ",\"text\":\"%s\"}\n", text);
}
