/* What Redis says: its bytes through hiredis into the beginning of every reply
 * of our scripts, and from there into what users and operators are told. */
#include <hiredis/hiredis.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "grab-service/activity_view.h"
#include "grab-service/answer.h"
#include "grab-service/step.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

enum {
	ARENA_MAX = 64 * 1024,
	DIGITS_MAX = 4,
	BITS = 3, /* of a verdict */
};

/* hiredis takes a server at its word about how much is to come, and asks for
 * memory at once. That is no news about our code. */
static bool is_modest(struct bytes resp)
{
	size_t digits = 0;
	bool length = false;

	for (size_t i = 0; i < resp.n; i++) {
		if (resp.p[i] == '*' || resp.p[i] == '$') {
			length = true;
			digits = 0;
		} else if (resp.p[i] < '0' || resp.p[i] > '9') {
			length = false;
		} else if (length && ++digits > DIGITS_MAX) {
			return false;
		}
	}
	return true;
}

static bool has_packet(int status)
{
	return status == RAIN__STATUS__WON ||
	       status == RAIN__STATUS__ALREADY_GRABBED;
}

static void check_answer(const struct answer *a, const struct verdict *v,
			 uint64_t seq)
{
	bool retry = a->retry_after_ms > 0;

	check(a->status > RAIN__STATUS__STATUS_UNSPECIFIED &&
	      a->status <= RAIN__STATUS__PENDING);
	check(a->message != NULL && a->message[0] != '\0');
	check(has_packet(a->status) == (seq > 0));
	check(has_packet(a->status) == (a->red_packet_id.n > 0));
	if (has_packet(a->status)) {
		check(id_valid(a->red_packet_id) && a->amount_cents >= 1);
		check(a->at_ms >= 0 && a->status == v->status);
	} else {
		check(a->amount_cents == 0);
	}
	/* Whoever is to come back is told when. */
	check(retry == (a->status == RAIN__STATUS__NOT_STARTED ||
			a->status == RAIN__STATUS__NOT_YET ||
			a->status == RAIN__STATUS__PAUSED ||
			a->status == RAIN__STATUS__BUSY ||
			a->status == RAIN__STATUS__PENDING));
	/* No grab is taken back that may yet be executed. */
	check(!v->unsure || a->status != RAIN__STATUS__BUSY);
}

static void try_users(const struct step_reply *reply)
{
	int64_t wait_ms = 0;

	(void)step_number(reply, REPLY_WAIT, &wait_ms);
	for (size_t i = 0; REPLY_USERS + i < reply->rest_count; i++) {
		for (unsigned bits = 0; bits < 1U << BITS; bits++) {
			struct verdict v = {
				.user = BYTES("u1"),
				.revision = reply->revision,
				.wait_ms = wait_ms,
				.unsure = (bits & 1) != 0,
				.question = (bits & 2) != 0,
				.counts = (bits & 4) != 0,
			};
			struct claim claim;
			struct answer a;

			answer_read(reply, i, &v);
			a = answer_make(&v, &claim);
			check_answer(&a, &v, claim.seq);
		}
	}
}

static void try_step(const redisReply *r)
{
	struct step_reply reply = { 0 };
	int64_t number;

	if (!step_reply_read(r, &reply)) {
		return;
	}
	check(reply.code != STEP_UNREADABLE);
	check(strcmp(step_code_name(reply.code), "UNREADABLE") != 0);
	check(reply.state == 0 ||
	      state_from_name(bytes_str(state_name(reply.state))) ==
		      reply.state);
	check(reply.revision <= INT64_MAX);
	check(step_text(&reply, reply.rest_count).n == 0);
	check(!step_number(&reply, reply.rest_count, &number));
	try_users(&reply);
}

/* A meta that can be used, or says why not; what is told of it is a message
 * that its reader can read. */
static void try_view(const redisReply *r)
{
	struct activity_view view;
	struct view_message m;

	if (r->type != REDIS_REPLY_ARRAY) {
		return;
	}
	view_parse(r, &view);
	if (view.known && view.problem[0] == '\0') {
		check(view.state != 0 &&
		      id_valid(bytes_str(view.plan.activity_id)));
		check(view.plan.rule.total_cents >= 1);
		(void)view_is_committed(&view);
	}
	view_message(&view, &m);
	proto_free(fuzz_sent(&m.activity.base, ARENA_MAX));
}

static void try_error(const redisReply *r)
{
	struct bytes text = bytes_make(r->str, (size_t)r->len);
	enum redis_outcome outcome = REDIS_DONE;
	enum redis_reaction reaction = redis_classify(text, &outcome);

	check(outcome == REDIS_NOT_EXECUTED || outcome == REDIS_PARTIAL);
	check((outcome == REDIS_PARTIAL) == (reaction == REDIS_REACT_PARTIAL));
	check(reaction <= REDIS_REACT_PARTIAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes resp = bytes_make(data, size);
	redisReader *reader;
	void *reply = NULL;

	if (!is_modest(resp)) {
		return 0;
	}
	log_setup((enum log_level)(LOG_ERROR + 1), LOG_LOGFMT, NULL);
	reader = redisReaderCreate();
	check(reader != NULL);
	(void)redisReaderFeed(reader, (const char *)data, size);
	while (redisReaderGetReply(reader, &reply) == REDIS_OK &&
	       reply != NULL) {
		const redisReply *r = reply;

		try_step(r);
		try_view(r);
		if (r->type == REDIS_REPLY_ERROR) {
			try_error(r);
		}
		freeReplyObject(reply);
		reply = NULL;
	}
	redisReaderFree(reader);
	return 0;
}
