#include <stdio.h>
#include <stdlib.h>

#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "activity_op.h"

static void get_cb(void *ctx, const struct activity_view *view, const char *why)
{
	struct activity_op *op = ctx;

	if (view == NULL) {
		op_reply(op, NULL, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s", why);
	} else if (!view->known) {
		op_reply(op, NULL, RAIN__OUTCOME__NOT_FOUND,
			 "there is no such activity");
	} else if (view->problem[0] != '\0') {
		op_reply(op, NULL, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
			 view->problem);
	} else {
		op_reply(op, view, RAIN__OUTCOME__DONE, "%s", "");
	}
}

void activity_get(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct activity_op *op =
		op_for_activity(ctx, call, argument, sizeof(*op));

	if (op != NULL) {
		view_read(op->svc->deps.redis, op_id(op), op_timeout(op),
			  get_cb, op);
	}
}

enum { LIST_MAX = 1000 };

/* A list is read one activity after the other: op.id is the one in question. */
struct list {
	struct activity_op op;
	char (*ids)[ID_MAX + 1];
	size_t id_count;
	size_t next;
	size_t all; /* members of the set, also those above LIST_MAX */
	struct activity_view *views;
	size_t view_count;
};

static int compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void list_reply(struct list *l, Rain__Outcome outcome)
{
	Rain__ListReply m = RAIN__LIST_REPLY__INIT;
	struct view_message *messages =
		xcalloc(l->view_count + 1, sizeof(*messages));
	Rain__Activity **activities =
		xcalloc(l->view_count + 1, sizeof(*activities));

	for (size_t i = 0; i < l->view_count; i++) {
		view_message(&l->views[i], &messages[i]);
		activities[i] = &messages[i].activity;
	}
	if (outcome == RAIN__OUTCOME__DONE && l->all > l->id_count) {
		(void)snprintf(l->op.message, sizeof(l->op.message),
			       "%zu of %zu are shown", l->id_count, l->all);
	}
	m.outcome = outcome;
	m.message = to_pb_str(l->op.message);
	m.activities = activities;
	m.n_activities = l->view_count;
	dubbo_reply(l->op.call, &m.base);
	free(activities);
	free(messages);
	free(l->views);
	free(l->ids);
	op_end(&l->op);
}

static void list_next(struct list *l);

static void list_view_cb(void *ctx, const struct activity_view *view,
			 const char *why)
{
	struct list *l = ctx;

	if (view == NULL) {
		(void)snprintf(l->op.message, sizeof(l->op.message), "%s", why);
		l->view_count = 0;
		list_reply(l, RAIN__OUTCOME__UNAVAILABLE_NOW);
		return;
	}
	/* An id comes into the set before there is an activity. */
	if (view->known && view->problem[0] == '\0') {
		l->views[l->view_count++] = *view;
	}
	list_next(l);
}

static void list_next(struct list *l)
{
	if (l->next == l->id_count) {
		list_reply(l, RAIN__OUTCOME__DONE);
		return;
	}
	memcpy(l->op.id, l->ids[l->next++], sizeof(l->op.id));
	view_read(l->op.svc->deps.redis, op_id(&l->op), op_timeout(&l->op),
		  list_view_cb, l);
}

static void list_ids_cb(void *ctx, enum redis_outcome outcome,
			const redisReply *reply)
{
	struct list *l = ctx;

	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY) {
		(void)snprintf(l->op.message, sizeof(l->op.message),
			       "Redis does not list the activities%s%.*s",
			       reply != NULL ? ": " : "",
			       reply != NULL ? (int)reply->len : 0,
			       reply != NULL ? reply->str : "");
		list_reply(l, RAIN__OUTCOME__UNAVAILABLE_NOW);
		return;
	}
	l->all = (size_t)reply->elements;
	l->ids = xcalloc(l->all + 1, sizeof(*l->ids));
	for (size_t i = 0; i < l->all; i++) {
		const redisReply *e = reply->element[i];

		if (e->type == REDIS_REPLY_STRING &&
		    id_valid(bytes_make(e->str, (size_t)e->len))) {
			memcpy(l->ids[l->id_count++], e->str, (size_t)e->len);
		}
	}
	qsort(l->ids, l->id_count, sizeof(*l->ids), compare_ids);
	if (l->id_count > LIST_MAX) {
		l->id_count = LIST_MAX;
	}
	l->views = xcalloc(l->id_count + 1, sizeof(*l->views));
	list_next(l);
}

void activity_list(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	Rain__ListRequest *m = proto_unpack(&rain__list_request__descriptor,
					    argument, OP_ARGUMENT_MAX);
	struct list *l;

	if (m == NULL) {
		op_malformed(call);
		return;
	}
	proto_free(m);
	l = op_new(ctx, call, sizeof(*l));
	redis_command(l->op.svc->deps.redis, 2,
		      (const struct bytes[]){ BYTES("SMEMBERS"),
					      BYTES("rain:activities") },
		      op_timeout(&l->op), list_ids_cb, l);
}

/* Places in the rest of the reply to relay_read.lua. */
enum {
	READ_OWNER = 0,
	READ_GENERATION = 2,
	READ_CLAIMS_PUBLISHED = 3,
	READ_EVENTS_PUBLISHED = 4,
	READ_CLAIMS = 5,
	READ_EVENTS = 6,
	READ_PACKETS = 9,
	READ_USERS = 10,
};

static uint64_t count_at(const struct step_reply *reply, size_t i)
{
	int64_t n = 0;

	return step_number(reply, i, &n) && n > 0 ? (uint64_t)n : 0;
}

static void counters_cb(void *ctx, enum redis_outcome outcome,
			const struct step_reply *reply, struct bytes error)
{
	struct activity_op *op = ctx;
	Rain__CountersReply m = RAIN__COUNTERS_REPLY__INIT;
	char message[OP_MESSAGE_MAX] = "";

	m.activity_id = to_pb_str(op->id);
	if (reply == NULL) {
		(void)op_failure(outcome, error, message);
		m.outcome = RAIN__OUTCOME__UNAVAILABLE_NOW;
	} else if (reply->rest_count <= READ_USERS) {
		m.outcome = op_outcome(reply, message);
		m.time_ms = reply->time_ms;
	} else {
		struct step_reply bare = *reply;

		/* Counts that do not hold are still the counts. */
		bare.rest_count = 0;
		if (reply->code != STEP_OK) {
			(void)op_outcome(&bare, message);
		}
		m.outcome = RAIN__OUTCOME__DONE;
		m.state = (Rain__State)reply->state;
		m.revision = reply->revision;
		m.packets_left = count_at(reply, READ_PACKETS);
		m.claims = count_at(reply, READ_CLAIMS);
		m.users = count_at(reply, READ_USERS);
		m.events = count_at(reply, READ_EVENTS);
		m.claims_published = count_at(reply, READ_CLAIMS_PUBLISHED);
		m.events_published = count_at(reply, READ_EVENTS_PUBLISHED);
		m.relay_owner = to_pb(step_text(reply, READ_OWNER));
		m.relay_generation = count_at(reply, READ_GENERATION);
		m.time_ms = reply->time_ms;
	}
	m.message = to_pb_str(message);
	dubbo_reply(op->call, &m.base);
	op_end(op);
}

void activity_counters(void *ctx, struct dubbo_call *call,
		       struct bytes argument)
{
	struct activity_op *op =
		op_for_activity(ctx, call, argument, sizeof(*op));

	if (op != NULL) {
		op_step(op, &lua_relay_read, 4,
			(const struct bytes[]){ BYTES("0"), BYTES("0"),
						BYTES("0"), BYTES("0") },
			counters_cb, op);
	}
}
