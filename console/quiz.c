/*
 * rainctl quiz: a whole quiz night. Creates, preloads and opens the activity of
 * a plan file, lets a crowd tap, closes, waits until the money has arrived,
 * compares what the users were told with the books, and makes the packets again
 * from the seed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "console/books.h"
#include "console/command.h"
#include "console/crowd.h"
#include "console/output.h"
#include "console/plan_file.h"
#include "console/quiz_report.h"
#include "console/steps.h"
#include "console/verify.h"
#include "proto/proto_util.h"

enum { BOOKS_WAIT_S = 60, PATIENCE_MS = 30000, POLL_MS = 200 };

/* The exit code that a reply means, with its sentence in why. */
static int outcome(const Rain__ActivityReply *r, struct buf *why)
{
	if (r->outcome == RAIN__OUTCOME__DONE ||
	    r->outcome == RAIN__OUTCOME__ALREADY) {
		return CTL_OK;
	}
	buf_put_bytes(why, from_pb(r->message));
	return refusal_rc(r->outcome);
}

/* One step of ActivityService. */
static int step(struct ctl *ctl, const char *method, const char *types,
		const ProtobufCMessage *request, struct buf *why)
{
	const struct dubbo_target target = { "rain.ActivityService", "1.0.0",
					     method, types };
	void *reply;
	int rc = ctl_call(ctl, ctl_grab(ctl), &target, request,
			  &rain__activity_reply__descriptor, &reply, why);

	if (rc == CTL_OK) {
		rc = outcome(reply, why);
		proto_free(reply);
	}
	return rc;
}

/* One that may take long. */
static int step_of_many(struct ctl *ctl, const char *method, const char *id,
			struct buf *why)
{
	void *reply;
	int rc = step_long(ctl, method, id, &reply, why);

	if (rc == CTL_OK) {
		rc = outcome(reply, why);
		proto_free(reply);
	}
	return rc;
}

/* Tell that a step failed, if it did; why is released. */
static int told(int rc, const char *method, struct buf *why)
{
	if (rc != CTL_OK) {
		fprintf(stderr, "rainctl quiz: %s: %.*s\n", method,
			BYTES_FMT(buf_live(why)));
	}
	buf_close(why);
	return rc;
}

/* Ask again while nobody answers: a service may be starting again. */
static int close_patiently(struct ctl *ctl, const char *id)
{
	uint64_t deadline = clock_mono_ms() + PATIENCE_MS;
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;
	struct buf why;
	int rc;

	q.activity_id = to_pb_str(id);
	buf_init(&why);
	for (;;) {
		rc = step(ctl, "close", "Lrain/ActivityRequest;", &q.base,
			  &why);
		if (rc != CTL_UNKNOWN || clock_mono_ms() >= deadline) {
			return told(rc, "close", &why);
		}
		buf_take(&why, buf_len(&why));
		ctl_rest(ctl, POLL_MS);
	}
}

/* The same for the proof; v is to be closed in any case. */
static int verify_patiently(struct ctl *ctl, const char *id, struct verify *v)
{
	uint64_t deadline = clock_mono_ms() + PATIENCE_MS;
	struct buf why;
	int rc;

	buf_init(&why);
	for (;;) {
		verify_init(v, id);
		rc = verify_read(ctl, v, &why);
		if (rc != CTL_UNKNOWN || clock_mono_ms() >= deadline) {
			return told(rc, "verify", &why);
		}
		verify_close(v);
		buf_take(&why, buf_len(&why));
		ctl_rest(ctl, POLL_MS);
	}
}

static int prepare(struct ctl *ctl, struct plan_file *plan)
{
	static const char *const methods[] = { "preload", "open" };
	Rain__CreateRequest q = RAIN__CREATE_REQUEST__INIT;
	struct buf why;
	int rc;

	q.plan = &plan->plan;
	buf_init(&why);
	rc = step(ctl, "create", "Lrain/CreateRequest;", &q.base, &why);
	rc = told(rc, "create", &why);
	for (size_t i = 0; i < 2 && rc == CTL_OK; i++) {
		buf_init(&why);
		rc = step_of_many(ctl, methods[i], plan->id, &why);
		rc = told(rc, methods[i], &why);
	}
	return rc;
}

struct show {
	struct crowd *crowd;
	bool quiet;
	bool terminal;
};

static void progress_cb(void *ctx)
{
	const struct show *show = ctx;
	const struct crowd *c = show->crowd;

	if (show->quiet) {
		return;
	}
	printf("%s  %5.1f s  %6" PRIu64 " of %" PRIu64 " users done, %6" PRIu64
	       " winners, %7" PRIu64 " taps%s",
	       show->terminal ? "\r" : "", (double)c->elapsed_us / 1e6,
	       c->finished, c->options.users, c->winners, c->taps,
	       show->terminal ? "" : "\n");
	fflush(stdout);
}

/* Compare and report; the books are at rest, or will not be. */
static int judge(struct ctl *ctl, const struct plan_file *plan,
		 struct crowd *crowd, const struct books *books)
{
	struct verify v;
	int rc = verify_patiently(ctl, plan->id, &v);

	quiz_compare(crowd, books);
	quiz_report(ctl, plan, crowd, books, rc == CTL_OK ? &v : NULL);
	if (crowd->wrong > 0 || books->differences > 0 ||
	    !books_at_rest(books) || (rc == CTL_OK && v.differences > 0)) {
		rc = CTL_NO;
	}
	verify_close(&v);
	return rc;
}

/* Let them tap, then close and compare. */
static int play(struct ctl *ctl, const struct plan_file *plan,
		struct crowd_options *o)
{
	struct crowd crowd;
	struct show show = { &crowd, ctl->json, isatty(STDOUT_FILENO) };
	struct books books;
	struct buf why;
	int rc;

	o->activity = plan->id;
	o->progress = progress_cb;
	o->ctx = &show;
	rc = crowd_run(ctl, o, &crowd);
	if (!ctl->json) {
		progress_cb(&show);
		printf("%s", show.terminal ? "\n" : "");
	}
	if (rc != CTL_OK) {
		fprintf(stderr, "rainctl quiz: nobody answered any more\n");
	}
	rc = close_patiently(ctl, plan->id) == CTL_OK ? rc : CTL_NO;
	buf_init(&why);
	if (books_wait(ctl, plan->id, BOOKS_WAIT_S, &books, &why) != CTL_OK) {
		fprintf(stderr, "rainctl quiz: books: %.*s\n",
			BYTES_FMT(buf_live(&why)));
		rc = CTL_UNKNOWN;
	} else {
		int judged = judge(ctl, plan, &crowd, &books);

		rc = judged != CTL_OK ? judged : rc;
	}
	buf_close(&why);
	books_close(&books);
	crowd_close(&crowd);
	return rc;
}

int run_quiz(struct ctl *ctl, const struct command *c,
	     const struct arguments *a)
{
	const char *id = argument_option(c, a, "id");
	struct crowd_options o = { .gateways = ctl->options.gateway_addresses,
				   .prefix = "fan",
				   .users = 60000,
				   .taps = 3,
				   .at_once = 10000,
				   .think_ms = 300,
				   .patience_ms = 60000 };
	struct token_keys *keys = NULL;
	struct plan_file plan;
	struct buf why;
	int rc = CTL_USAGE;

	buf_init(&why);
	if (plan_file_read(a->values[0], id, clock_wall_ms(), &plan, &why) ==
		    0 &&
	    argument_number(c, a, "users", 1, 5000000, &o.users, &why) &&
	    argument_number(c, a, "taps", 1, 1000, &o.taps, &why) &&
	    argument_number(c, a, "at-once", 1, 18000, &o.at_once, &why) &&
	    (keys = ctl_token_keys(ctl, &why)) != NULL) {
		o.keys = keys;
		if (!ctl->json) {
			printf("%s: %s %s in %" PRIu64 " packets; %" PRIu64
			       " users, at most %" PRIu64 " connected\n",
			       plan.id, plan.values.total, plan.values.currency,
			       plan.plan.packets, o.users, o.at_once);
			fflush(stdout);
		}
		rc = prepare(ctl, &plan);
		rc = rc == CTL_OK ? play(ctl, &plan, &o) : rc;
	} else {
		output_error(ctl, rc, c->words, buf_live(&why));
	}
	plan_file_close(&plan);
	token_keys_free(keys);
	buf_close(&why);
	return rc;
}
