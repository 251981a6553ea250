/*
 * rainctl doctor: looks at everything that a rain needs and says what to
 * change. Redis and Kafka have files of their own.
 */
#include "console/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "client/app_client.h"
#include "console/command.h"
#include "console/output.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

enum { FILES_WANTED = 65536, CONNECT_MS = 2000, LEDGER_PAGE = 1000 };

static const char *const finding_names[] = { "ok", "warning", "FAIL" };

void doctor_add(json_t *rows, const char *what, enum finding finding,
		const char *found, const char *change)
{
	json_array_append_new(rows,
			      json_pack("{s:s,s:s,s:s,s:s}", "check", what,
					"result", finding_names[finding],
					"found", found, "change", change));
}

static void service_away(json_t *rows, const char *name, struct bytes why,
			 const char *addresses)
{
	char found[256];

	snprintf(found, sizeof found, "%.*s (%s)", BYTES_FMT(why), addresses);
	doctor_add(rows, name, FINDING_FAIL, found,
		   "start it, or correct its address and secret");
}

static void service_there(json_t *rows, const char *name, const char *addresses)
{
	char found[256];

	snprintf(found, sizeof found, "answers at %s", addresses);
	doctor_add(rows, name, FINDING_OK, found, "");
}

/* The list of activities is read from Redis. *alive: the grab-service answers;
 * returns whether it has read the list. */
static bool ask_list(struct ctl *ctl, bool *alive, struct buf *why)
{
	Rain__ListRequest list = RAIN__LIST_REQUEST__INIT;
	const Rain__ListReply *r;
	bool done;
	void *reply;

	*alive = ctl_call(ctl, ctl_grab(ctl), &ctl_list, &list.base,
			  &rain__list_reply__descriptor, &reply, why) == CTL_OK;
	if (!*alive) {
		return false;
	}
	r = reply;
	done = r->outcome == RAIN__OUTCOME__DONE;
	proto_free(reply);
	return done;
}

/* A request that is refused without looking at Redis. */
static bool grab_service_lives(struct ctl *ctl)
{
	Rain__ActivityRequest nobody = RAIN__ACTIVITY_REQUEST__INIT;
	struct buf why;
	void *reply;
	bool alive;

	buf_init(&why);
	alive = ctl_call(ctl, ctl_grab(ctl), &ctl_get, &nobody.base,
			 &rain__activity_reply__descriptor, &reply,
			 &why) == CTL_OK;
	if (alive) {
		proto_free(reply);
	}
	buf_close(&why);
	return alive;
}

static void look_at_grab_service(struct ctl *ctl, json_t *rows, bool redis)
{
	const char *addresses = ctl->options.grab_addresses;
	bool alive;
	char found[256];
	struct buf why;

	buf_init(&why);
	if (ask_list(ctl, &alive, &why)) {
		service_there(rows, "grab-service", addresses);
	} else if (alive || grab_service_lives(ctl)) {
		snprintf(found, sizeof found, "answers at %s, waits for Redis",
			 addresses);
		doctor_add(rows, "grab-service",
			   redis ? FINDING_FAIL : FINDING_WARN, found,
			   redis ? "correct its redis.url: rainctl reaches one"
				 : "");
	} else {
		service_away(rows, "grab-service", buf_live(&why), addresses);
	}
	buf_close(&why);
}

/* What its audit found: no activity's alarm need say it. */
static void look_at_audit(json_t *rows, const Rain__PositionsReply *r)
{
	char found[512];

	if (r->violations > 0) {
		snprintf(found, sizeof found,
			 "%" PRId64 " violation%s; the first: %.*s",
			 r->violations, r->violations == 1 ? "" : "s",
			 BYTES_FMT(from_pb(r->first_violation)));
		doctor_add(rows, "ledger's audit", FINDING_FAIL, found,
			   "nobody but the settle-worker may write its tables; "
			   "its log names what else differs");
	} else {
		doctor_add(rows, "ledger's audit", FINDING_OK,
			   r->violations == 0 ? "the books are sound"
					      : "has not ended its first round",
			   "");
	}
}

static void look_at_settle_worker(struct ctl *ctl, json_t *rows)
{
	const char *addresses = ctl->options.ledger_addresses;
	Rain__PositionsRequest positions = RAIN__POSITIONS_REQUEST__INIT;
	struct buf why;
	void *reply;

	buf_init(&why);
	if (ctl_call(ctl, ctl_ledger(ctl), &ctl_positions, &positions.base,
		     &rain__positions_reply__descriptor, &reply,
		     &why) == CTL_OK) {
		service_there(rows, "settle-worker", addresses);
		look_at_audit(rows, reply);
		proto_free(reply);
	} else {
		service_away(rows, "settle-worker", buf_live(&why), addresses);
	}
	buf_close(&why);
}

/* What the ledger wants a person to see. */
static void look_at_alarms(struct ctl *ctl, json_t *rows)
{
	Rain__ActivitiesRequest q = RAIN__ACTIVITIES_REQUEST__INIT;
	const Rain__ActivitiesReply *r;
	size_t alarms = 0;
	struct buf why;
	void *reply;

	q.limit = LEDGER_PAGE;
	buf_init(&why);
	if (ctl_call(ctl, ctl_ledger(ctl), &ctl_ledger_activities, &q.base,
		     &rain__activities_reply__descriptor, &reply,
		     &why) == CTL_OK) {
		r = reply;
		for (size_t i = 0; i < r->n_activities; i++) {
			const Rain__TotalsReply *t = r->activities[i];
			char found[256];

			if (t->alarm.len == 0) {
				continue;
			}
			alarms++;
			snprintf(found, sizeof found, "%.*s: %.*s",
				 BYTES_FMT(from_pb(t->activity_id)),
				 BYTES_FMT(from_pb(t->alarm)));
			doctor_add(rows, "ledger", FINDING_WARN, found,
				   "rainctl books names what differs");
		}
		if (alarms == 0) {
			doctor_add(rows, "ledger", FINDING_OK,
				   "no activity has an alarm", "");
		}
		proto_free(reply);
	}
	buf_close(&why);
}

struct knock {
	struct app_client client;
	bool answered;
	bool closed;
};

/* Any frame back shows a gateway: a Ping before Hello is answered by an Error. */
static void knock_open_cb(struct app_client *c)
{
	app_client_ping(c);
}

static void knock_error_cb(struct app_client *c, uint64_t seq,
			   const Rain__Error *m)
{
	(void)seq;
	container_of(c, struct knock, client)->answered =
		m->code == RAIN__ERROR_CODE__HELLO_FIRST;
	app_client_close(c);
}

static void knock_close_cb(struct app_client *c, int why)
{
	(void)why;
	container_of(c, struct knock, client)->closed = true;
}

static void look_at_gateways(struct ctl *ctl, json_t *rows)
{
	static const struct app_client_ops ops = { .on_open = knock_open_cb,
						   .on_error = knock_error_cb,
						   .on_close = knock_close_cb };
	const char *list = ctl->options.gateway_addresses;

	while (*list != '\0') {
		struct knock knock = { 0 };
		size_t n = strcspn(list, ",");
		char address[128];
		char found[192];

		snprintf(address, sizeof address, "%.*s", (int)n, list);
		app_client_connect(&knock.client, ctl->hub, address, CONNECT_MS,
				   &ops);
		ctl_wait(ctl, &knock.closed);
		snprintf(found, sizeof found, "%s at %s",
			 knock.answered ? "answers" : "nobody answers",
			 address);
		doctor_add(rows, "rain-gateway",
			   knock.answered ? FINDING_OK : FINDING_FAIL, found,
			   knock.answered ? ""
					  : "start it, or correct its address");
		list += n + (list[n] == ',');
	}
}

static void look_at_limits(json_t *rows)
{
	struct rlimit limit = { 0 };
	char found[96];
	bool enough;

	getrlimit(RLIMIT_NOFILE, &limit);
	enough = limit.rlim_max >= FILES_WANTED;
	snprintf(found, sizeof found,
		 "a process started here may have %llu files",
		 (unsigned long long)limit.rlim_max);
	doctor_add(rows, "open files", enough ? FINDING_OK : FINDING_WARN,
		   found,
		   enough ? ""
			  : "LimitNOFILE=1048576 for the gateway: every app is "
			    "a file");
}

static json_t *examine(struct ctl *ctl)
{
	json_t *rows = json_array();
	bool redis = doctor_redis(ctl, rows);

	doctor_kafka(ctl, rows);
	look_at_grab_service(ctl, rows, redis);
	look_at_settle_worker(ctl, rows);
	look_at_alarms(ctl, rows);
	look_at_gateways(ctl, rows);
	look_at_limits(rows);
	return rows;
}

/* How many rows failed; the others are dropped if only those are wanted. */
static size_t keep_failures(json_t *rows, bool only)
{
	size_t failures = 0;

	for (size_t i = json_array_size(rows); i-- > 0;) {
		const char *result = json_string_value(
			json_object_get(json_array_get(rows, i), "result"));

		if (strcmp(result, finding_names[FINDING_FAIL]) == 0) {
			failures++;
		} else if (only) {
			json_array_remove(rows, i);
		}
	}
	return failures;
}

int run_doctor(struct ctl *ctl, const struct command *c,
	       const struct arguments *a)
{
	const char *wait = argument_option(c, a, "wait");
	bool quiet = argument_option(c, a, "quiet") != NULL;
	uint64_t seconds = 0;
	uint64_t deadline;
	json_t *rows;

	if (wait != NULL && !bytes_to_u64(bytes_str(wait), 3600, &seconds)) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("--wait: allowed: 0 to 3600"));
	}
	deadline = clock_mono_ms() + seconds * 1000;
	if (seconds > 0 && ctl->options.timeout_ms > 1000) {
		ctl->options.timeout_ms = 1000; /* a round a second */
	}
	for (;;) {
		size_t failures;

		rows = examine(ctl);
		failures = keep_failures(rows, quiet);
		if (failures == 0 || clock_mono_ms() >= deadline) {
			if (!quiet || failures > 0) {
				output_print(ctl, rows);
			} else {
				json_decref(rows);
			}
			return failures == 0 ? CTL_OK : CTL_NO;
		}
		json_decref(rows);
		ctl_rest(ctl, 100);
	}
}
