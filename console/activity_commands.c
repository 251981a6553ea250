#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/activity_json.h"
#include "console/command.h"
#include "console/output.h"
#include "console/plan_file.h"
#include "console/steps.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

/* What binds us from now on, for whoever will compare. */
static void print_binding(const char *words, const Rain__Activity *a)
{
	if (strcmp(words, "activity create") == 0) {
		if (plan_message_is_live(a->plan)) {
			printf("mode live: each amount is drawn when its "
			       "packet is grabbed\n");
		}
		printf("commitment %.*s\n", BYTES_FMT(from_pb(a->commitment)));
	} else if (strcmp(words, "activity entropy") == 0) {
		printf("entropy %.*s by %.*s\n", BYTES_FMT(from_pb(a->entropy)),
		       BYTES_FMT(from_pb(a->entropy_by)));
	}
}

/* Print what ActivityService said; returns the exit code. */
static int print_reply(const struct ctl *ctl, const char *words,
		       const Rain__ActivityReply *r)
{
	bool done = r->outcome == RAIN__OUTCOME__DONE ||
		    r->outcome == RAIN__OUTCOME__ALREADY;
	const Rain__Activity *a = r->activity;

	if (!done) {
		return output_error(ctl, refusal_rc(r->outcome), words,
				    from_pb(r->message));
	}
	if (ctl->json) {
		output_print(ctl,
			     a != NULL ? activity_json(ctl, a) : json_object());
	} else if (a != NULL && a->plan != NULL) {
		bool before = r->outcome == RAIN__OUTCOME__ALREADY;
		/* What there is to say of what was done now. */
		struct bytes more = before ? BYTES("") : from_pb(r->message);
		/* Only a halted one is paused by that. */
		bool again = a->state == RAIN__STATE__STATE_PAUSED &&
			     strcmp(words, "activity resume") == 0;

		printf("%.*s is %s%s%s%s%.*s\n",
		       BYTES_FMT(from_pb(a->plan->activity_id)),
		       activity_state(a->state), before ? ", as before" : "",
		       again ? ", no longer HALTED; resume it again to open it"
			     : "",
		       more.n > 0 ? ": " : "", BYTES_FMT(more));
		print_binding(words, a);
	} else {
		printf("done%s%.*s\n", r->message.len > 0 ? ": " : "",
		       BYTES_FMT(from_pb(r->message)));
	}
	return CTL_OK;
}

static int call_activity(struct ctl *ctl, const char *words,
			 const struct dubbo_target *target,
			 const ProtobufCMessage *message)
{
	struct buf why;
	void *reply;
	int rc;

	buf_init(&why);
	rc = ctl_call(ctl, ctl_grab(ctl), target, message,
		      &rain__activity_reply__descriptor, &reply, &why);
	if (rc == CTL_OK) {
		rc = print_reply(ctl, words, reply);
		proto_free(reply);
	} else {
		output_error(ctl, rc, words, buf_live(&why));
	}
	buf_close(&why);
	return rc;
}

int run_activity_create(struct ctl *ctl, const struct command *c,
			const struct arguments *a)
{
	static const struct dubbo_target create = { "rain.ActivityService",
						    "1.0.0", "create",
						    "Lrain/CreateRequest;" };
	Rain__CreateRequest request = RAIN__CREATE_REQUEST__INIT;
	const char *path = argument_option(c, a, "f");
	struct plan_file file;
	struct buf why;
	int rc;

	if (path == NULL) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("-f FILE is missing"));
	}
	buf_init(&why);
	if (plan_file_read(path, a->count > 0 ? a->values[0] : NULL,
			   clock_wall_ms(), &file, &why) != 0) {
		rc = output_error(ctl, CTL_USAGE, c->words, buf_live(&why));
	} else {
		if (argument_option(c, a, "adopt") != NULL) {
			file.plan.algorithm =
				to_pb_str(allocate_name(ALLOCATE_ADOPTED));
		}
		request.plan = &file.plan;
		rc = call_activity(ctl, c->words, &create, &request.base);
	}
	plan_file_close(&file);
	buf_close(&why);
	return rc;
}

int run_activity_long(struct ctl *ctl, const struct command *c,
		      const struct arguments *a)
{
	struct buf why;
	void *reply;
	int rc;

	buf_init(&why);
	rc = step_long(ctl, strchr(c->words, ' ') + 1, a->values[0], &reply,
		       &why);
	if (rc == CTL_OK) {
		rc = print_reply(ctl, c->words, reply);
		proto_free(reply);
	} else {
		output_error(ctl, rc, c->words, buf_live(&why));
	}
	buf_close(&why);
	return rc;
}

int run_activity_step(struct ctl *ctl, const struct command *c,
		      const struct arguments *a)
{
	Rain__ActivityRequest request = RAIN__ACTIVITY_REQUEST__INIT;
	struct dubbo_target target = { "rain.ActivityService", "1.0.0",
				       strchr(c->words, ' ') + 1,
				       "Lrain/ActivityRequest;" };

	request.activity_id = to_pb_str(a->values[0]);
	return call_activity(ctl, c->words, &target, &request.base);
}

/* USER@HOST as far as an id may have its letters. */
static void own_name(char out[ID_MAX + 1])
{
	const struct passwd *user = getpwuid(geteuid());
	char host[HOST_NAME_MAX + 1] = "";

	(void)gethostname(host, sizeof(host) - 1);
	(void)snprintf(out, ID_MAX + 1, "%.31s@%.32s",
		       user != NULL ? user->pw_name : "uid", host);
	for (char *c = out; *c != '\0'; c++) {
		if (!id_valid(bytes_make(c, 1))) {
			*c = '_';
		}
	}
}

int run_activity_entropy(struct ctl *ctl, const struct command *c,
			 const struct arguments *a)
{
	Rain__EntropyRequest request = RAIN__ENTROPY_REQUEST__INIT;
	const char *by = argument_option(c, a, "by");
	char own[ID_MAX + 1];

	own_name(own);
	request.activity_id = to_pb_str(a->values[0]);
	request.entropy = to_pb_str(a->values[1]);
	request.by = to_pb_str(by != NULL ? by : own);
	return call_activity(ctl, c->words, &ctl_entropy, &request.base);
}

int run_relay_rewind(struct ctl *ctl, const struct command *c,
		     const struct arguments *a)
{
	Rain__RewindRequest request = RAIN__REWIND_REQUEST__INIT;

	request.activity_id = to_pb_str(a->values[0]);
	if (a->count > 1 &&
	    !bytes_to_u64(bytes_str(a->values[1]), UINT32_MAX, &request.seq)) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("SEQ must be a number"));
	}
	return call_activity(ctl, c->words, &ctl_rewind, &request.base);
}

/* Add the counters of the activity to o, if they can be had. */
static void add_counters(struct ctl *ctl, Rain__ActivityRequest *request,
			 json_t *o)
{
	struct buf why;
	void *reply;

	buf_init(&why);
	if (ctl_call(ctl, ctl_grab(ctl), &ctl_counters, &request->base,
		     &rain__counters_reply__descriptor, &reply,
		     &why) == CTL_OK) {
		const Rain__CountersReply *r = reply;

		json_object_set_new(o, "packets_left",
				    json_integer((json_int_t)r->packets_left));
		json_object_set_new(o, "claims",
				    json_integer((json_int_t)r->claims));
		json_object_set_new(
			o, "claims_published",
			json_integer((json_int_t)r->claims_published));
		json_object_set_new(o, "events",
				    json_integer((json_int_t)r->events));
		json_object_set_new(
			o, "events_published",
			json_integer((json_int_t)r->events_published));
		json_object_set_new(o, "relay_owner",
				    output_text(r->relay_owner));
		proto_free(reply);
	}
	buf_close(&why);
}

int run_activity_show(struct ctl *ctl, const struct command *c,
		      const struct arguments *a)
{
	Rain__ActivityRequest request = RAIN__ACTIVITY_REQUEST__INIT;
	struct buf why;
	void *reply;
	int rc;

	request.activity_id = to_pb_str(a->values[0]);
	buf_init(&why);
	rc = ctl_call(ctl, ctl_grab(ctl), &ctl_get, &request.base,
		      &rain__activity_reply__descriptor, &reply, &why);
	if (rc == CTL_OK) {
		const Rain__ActivityReply *r = reply;

		if (r->activity != NULL) {
			json_t *o = activity_json(ctl, r->activity);

			add_counters(ctl, &request, o);
			output_print(ctl, o);
		} else {
			rc = output_error(ctl, refusal_rc(r->outcome), c->words,
					  from_pb(r->message));
		}
		proto_free(reply);
	} else {
		output_error(ctl, rc, c->words, buf_live(&why));
	}
	buf_close(&why);
	return rc;
}

static json_t *list_row(json_t *id, json_t *state, json_t *total,
			json_t *packets, json_t *title)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "id", id, "state", state,
			 "total", total, "packets", packets, "title", title);
}

/* Rows of those that the ledger knows and rows does not have yet. */
static int add_from_ledger(struct ctl *ctl, json_t *rows, json_t *seen,
			   struct buf *why)
{
	Rain__ActivitiesRequest request = RAIN__ACTIVITIES_REQUEST__INIT;
	char after[128] = "";
	size_t n;

	request.limit = 200;
	do {
		void *reply;
		const Rain__ActivitiesReply *r;
		int rc;

		request.after = to_pb_str(after);
		rc = ctl_call(ctl, ctl_ledger(ctl), &ctl_ledger_activities,
			      &request.base,
			      &rain__activities_reply__descriptor, &reply, why);
		if (rc != CTL_OK) {
			return rc;
		}
		r = reply;
		n = r->n_activities;
		for (size_t i = 0; i < n; i++) {
			const Rain__TotalsReply *t = r->activities[i];

			snprintf(after, sizeof after, "%.*s",
				 BYTES_FMT(from_pb(t->activity_id)));
			if (json_object_get(seen, after) == NULL) {
				json_array_append_new(
					rows,
					list_row(
						output_text(t->activity_id),
						output_text(t->state),
						output_cents(t->total_cents),
						json_integer(
							(json_int_t)t
								->total_packets),
						output_text(t->title)));
			}
		}
		proto_free(reply);
	} while (n == request.limit);
	return CTL_OK;
}

int run_activity_list(struct ctl *ctl, const struct command *c,
		      const struct arguments *a)
{
	Rain__ListRequest request = RAIN__LIST_REQUEST__INIT;
	json_t *rows = json_array();
	json_t *seen = json_object();
	bool missing = false;
	struct buf why;
	void *reply;
	int rc;

	(void)a;
	buf_init(&why);
	rc = ctl_call(ctl, ctl_grab(ctl), &ctl_list, &request.base,
		      &rain__list_reply__descriptor, &reply, &why);
	if (rc == CTL_OK) {
		const Rain__ListReply *r = reply;

		for (size_t i = 0; i < r->n_activities; i++) {
			json_t *o = activity_json(ctl, r->activities[i]);
			json_t *id = json_object_get(o, "id");

			json_object_set_new(seen, json_string_value(id),
					    json_true());
			json_array_append_new(
				rows,
				list_row(json_incref(id),
					 json_incref(
						 json_object_get(o, "state")),
					 json_incref(
						 json_object_get(o, "total")),
					 json_incref(
						 json_object_get(o, "packets")),
					 json_incref(
						 json_object_get(o, "title"))));
			json_decref(o);
		}
		/* Without Redis, or too many of them: what there is. */
		if (r->message.len > 0) {
			fprintf(stderr, "rainctl %s: not all: %.*s\n", c->words,
				BYTES_FMT(from_pb(r->message)));
		}
		missing = r->outcome != RAIN__OUTCOME__DONE;
		proto_free(reply);
		rc = add_from_ledger(ctl, rows, seen, &why);
	}
	if (rc == CTL_OK) {
		output_print(ctl, json_incref(rows));
		rc = missing ? CTL_UNKNOWN : CTL_OK;
	} else {
		output_error(ctl, rc, c->words, buf_live(&why));
	}
	json_decref(rows);
	json_decref(seen);
	buf_close(&why);
	return rc;
}
