#include "activity_op.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "proto/proto_util.h"

void *op_new(struct activity_service *svc, struct dubbo_call *call, size_t size)
{
	struct activity_op *op = xcalloc(1, size);

	check(size >= sizeof(*op));
	check(!svc->freed);
	*op = (struct activity_op){ .svc = svc, .call = call };
	svc->ops++;
	return op;
}

void op_end(struct activity_op *op)
{
	struct activity_service *svc = op->svc;

	check(svc->ops > 0);
	free(op);
	svc->ops--;
	if (svc->freed && svc->ops == 0) {
		free(svc);
	}
}

void op_malformed(struct dubbo_call *call)
{
	dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
		   "the argument is not the message of this method");
}

void *op_for_activity(struct activity_service *svc, struct dubbo_call *call,
		      struct bytes argument, size_t size)
{
	Rain__ActivityRequest *m = proto_unpack(
		&rain__activity_request__descriptor, argument, OP_ARGUMENT_MAX);
	struct activity_op *op;
	struct bytes id;

	if (m == NULL) {
		op_malformed(call);
		return NULL;
	}
	op = op_new(svc, call, size);
	id = from_pb(m->activity_id);
	if (!id_valid(id)) {
		proto_free(m);
		op_reply(op, NULL, RAIN__OUTCOME__INVALID,
			 "activity_id must be %s", ID_RULE);
		return NULL;
	}
	memcpy(op->id, id.p, id.n);
	proto_free(m);
	return op;
}

struct bytes op_id(const struct activity_op *op)
{
	return bytes_str(op->id);
}

uint64_t op_timeout(const struct activity_op *op)
{
	uint64_t now = uv_now(op->svc->deps.loop);
	uint64_t deadline = dubbo_call_deadline(op->call);
	uint64_t least = 100;
	uint64_t left = deadline > now + least ? deadline - now : least;

	return left < op->svc->deps.timeout_ms ? left
					       : op->svc->deps.timeout_ms;
}

void op_step(struct activity_op *op, const struct redis_script *script,
	     size_t argc, const struct bytes *argv, step_cb done, void *ctx)
{
	step_run(op->svc->deps.redis, script, op_id(op), argc, argv,
		 op_timeout(op), done, ctx);
}

void op_told(struct activity_service *svc, struct bytes activity_id,
	     const char *operation, Rain__Outcome outcome, const char *message)
{
	const ProtobufCEnumValue *name = protobuf_c_enum_descriptor_get_value(
		&rain__outcome__descriptor, (int)outcome);

	log_info("operator", log_str("operation", operation),
		 log_bytes("activity", activity_id),
		 log_str("outcome", name->name), log_str("message", message));
	if (outcome == RAIN__OUTCOME__DONE && svc->deps.changed != NULL) {
		svc->deps.changed(svc->deps.ctx, activity_id);
	}
}

static void send_reply(struct activity_op *op, const struct activity_view *view)
{
	Rain__ActivityReply m = RAIN__ACTIVITY_REPLY__INIT;
	struct view_message activity;

	m.outcome = op->outcome;
	m.message = to_pb_str(op->message);
	if (view != NULL && view->known && view->problem[0] == '\0') {
		view_message(view, &activity);
		m.activity = &activity.activity;
	}
	dubbo_reply(op->call, &m.base);
	op_end(op);
}

void op_reply(struct activity_op *op, const struct activity_view *view,
	      Rain__Outcome outcome, const char *fmt, ...)
{
	va_list args;

	op->outcome = outcome;
	va_start(args, fmt);
	(void)vsnprintf(op->message, sizeof(op->message), fmt, args);
	va_end(args);
	send_reply(op, view);
}

static void finish_cb(void *ctx, const struct activity_view *view,
		      const char *why)
{
	(void)why;
	send_reply(ctx, view);
}

void op_finish(struct activity_op *op, Rain__Outcome outcome, const char *fmt,
	       ...)
{
	va_list args;

	op->outcome = outcome;
	va_start(args, fmt);
	(void)vsnprintf(op->message, sizeof(op->message), fmt, args);
	va_end(args);
	view_read(op->svc->deps.redis, op_id(op), op_timeout(op), finish_cb,
		  op);
}

void op_wrong_state(const char *operation, int state,
		    char message[OP_MESSAGE_MAX])
{
	static const struct {
		const char *operation; /* NULL: any */
		int state;
		const char *advice;
	} table[] = {
		{ "open", RAIN__STATE__CREATED, "preload it first" },
		{ "open", RAIN__STATE__LOADING, "preload it to the end first" },
		{ "open", RAIN__STATE__STATE_PAUSED, "resume it" },
		{ "open", RAIN__STATE__HALTED,
		  "resume it, which leads to PAUSED, and resume it again" },
		{ "pause", RAIN__STATE__HALTED,
		  "nobody grabs; resume it, which leads to PAUSED, or close "
		  "it" },
		{ "cancel", RAIN__STATE__OPEN, "close it" },
		{ "cancel", RAIN__STATE__STATE_PAUSED, "close it" },
		{ "cancel", RAIN__STATE__HALTED, "close it" },
		{ "preload", RAIN__STATE__OPEN,
		  "its packets are there already" },
		{ NULL, RAIN__STATE__CREATED,
		  "preload it, then open it; or cancel it" },
		{ NULL, RAIN__STATE__LOADING,
		  "preload it to the end, then open it; or cancel it" },
		{ NULL, RAIN__STATE__LOADED, "open it; or cancel it" },
		{ NULL, RAIN__STATE__OPEN, "pause or close it" },
		{ NULL, RAIN__STATE__STATE_PAUSED, "resume or close it" },
		{ NULL, RAIN__STATE__HALTED,
		  "resume it, which leads to PAUSED, or close it" },
		{ NULL, RAIN__STATE__CLOSED,
		  "it is over, and settles by itself" },
		{ NULL, RAIN__STATE__SETTLED, "it is over" },
		{ NULL, RAIN__STATE__CANCELLED, "it is over" },
	};
	const char *advice = "show tells more";

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].state == state &&
		    (table[i].operation == NULL ||
		     strcmp(table[i].operation, operation) == 0)) {
			advice = table[i].advice;
			break;
		}
	}
	(void)snprintf(message, OP_MESSAGE_MAX,
		       "%s is not possible in state %s: %s", operation,
		       state_name(state), advice);
}

static bool begins_with_verb(struct bytes said)
{
	static const char *const verbs[] = { "is ", "was ", "has ", "exists " };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		size_t n = strlen(verbs[i]);

		if (said.n > n && memcmp(said.p, verbs[i], n) == 0) {
			return true;
		}
	}
	return false;
}

/* The sentences of the steps speak of the activity without naming it. */
static void say_refusal(const struct step_reply *reply,
			char message[OP_MESSAGE_MAX])
{
	struct bytes said = step_text(reply, 0);
	struct bytes tail = BYTES(" is not possible in state ");
	const uint8_t *at = memmem(said.p, said.n, tail.p, tail.n);
	char operation[24];

	if (at != NULL && reply->code == STEP_STATE) {
		bool loading =
			at - said.p == 7 && memcmp(said.p, "loading", 7) == 0;

		(void)snprintf(operation, sizeof(operation), "%.*s",
			       (int)(at - said.p), (const char *)said.p);
		op_wrong_state(loading ? "preload" : operation, reply->state,
			       message);
	} else if (said.n > 0) {
		(void)snprintf(message, OP_MESSAGE_MAX, "%s%.*s",
			       begins_with_verb(said) ? "it " : "",
			       BYTES_FMT(said));
	} else {
		(void)snprintf(message, OP_MESSAGE_MAX,
			       "refused by Redis' step with the code %s",
			       step_code_name(reply->code));
	}
}

Rain__Outcome op_outcome(const struct step_reply *reply,
			 char message[OP_MESSAGE_MAX])
{
	static const struct {
		enum step_code code;
		Rain__Outcome outcome;
		const char *text; /* where the step has no sentence */
	} table[] = {
		{ STEP_OK, RAIN__OUTCOME__DONE, "" },
		{ STEP_ALREADY, RAIN__OUTCOME__ALREADY, "it is so already" },
		{ STEP_NO_META, RAIN__OUTCOME__NOT_FOUND,
		  "there is no such activity" },
		{ STEP_SCHEMA, RAIN__OUTCOME__UNAVAILABLE_NOW,
		  "its data in Redis has a schema that this version cannot "
		  "read" },
		{ STEP_TYPE, RAIN__OUTCOME__UNAVAILABLE_NOW,
		  "a key of it in Redis has the wrong type: somebody else "
		  "wrote there" },
		{ STEP_ACL, RAIN__OUTCOME__UNAVAILABLE_NOW,
		  "the user of Redis may not run a command that this needs" },
		{ STEP_INCARNATION, RAIN__OUTCOME__UNAVAILABLE_NOW,
		  "Redis was restarted, and it is not shown yet that nothing "
		  "was lost" },
		{ STEP_COUNTS, RAIN__OUTCOME__CONFLICT,
		  "the lengths of its lists in Redis do not add up" },
		{ STEP_UNLINKED, RAIN__OUTCOME__CONFLICT,
		  "it is settled and its lists are gone" },
	};

	message[0] = '\0';
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].code == reply->code) {
			struct bytes said = step_text(reply, 0);

			(void)snprintf(
				message, OP_MESSAGE_MAX, "%.*s",
				BYTES_FMT(said.n > 0
						  ? said
						  : bytes_str(table[i].text)));
			return table[i].outcome;
		}
	}
	say_refusal(reply, message);
	return RAIN__OUTCOME__CONFLICT;
}

Rain__Outcome op_failure(enum redis_outcome outcome, struct bytes error,
			 char message[OP_MESSAGE_MAX])
{
	if (outcome == REDIS_NOT_EXECUTED) {
		(void)snprintf(message, OP_MESSAGE_MAX,
			       error.n > 0 ? "nothing was done, Redis says "
					     "%.*s"
					   : "nothing was done, Redis does "
					     "not answer%.*s",
			       BYTES_FMT(error));
		return RAIN__OUTCOME__UNAVAILABLE_NOW;
	}
	(void)snprintf(message, OP_MESSAGE_MAX,
		       "it is not known whether this was done: look again "
		       "(%s%.*s)",
		       error.n > 0 ? "Redis says " : "no answer of Redis",
		       BYTES_FMT(error));
	return RAIN__OUTCOME__UNKNOWN_OUTCOME;
}
