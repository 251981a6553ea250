/*
 * rainctl activity topup: another tranche while people grab.
 */
#include <inttypes.h>
#include <stdio.h>

#include "console/activity_json.h"
#include "console/command.h"
#include "console/output.h"
#include "console/plan_file.h"
#include "console/steps.h"
#include "proto/proto_util.h"

/* The tranche that is not whole yet, or else the one after the last. */
static int next_tranche(struct ctl *ctl, const char *id, uint32_t *out,
			struct buf *why)
{
	const Rain__ActivityReply *r;
	void *reply;
	int rc = step_get(ctl, id, &reply, why);

	if (rc != CTL_OK) {
		return rc;
	}
	r = reply;
	/* Before it is loaded none is whole: the service says that it must be
	 * open. */
	*out = (uint32_t)r->activity->tranches + 1;
	*out = *out < 2 ? 2 : *out;
	proto_free(reply);
	return CTL_OK;
}

static int print_reply(const struct ctl *ctl, const Rain__TopUpRequest *q,
		       const Rain__ActivityReply *r, struct buf *why)
{
	const Rain__Activity *a = r->activity;

	if (r->outcome != RAIN__OUTCOME__DONE &&
	    r->outcome != RAIN__OUTCOME__ALREADY) {
		buf_put_bytes(why, from_pb(r->message));
		return refusal_rc(r->outcome);
	}
	if (ctl->json) {
		output_print(ctl,
			     a != NULL ? activity_json(ctl, a) : json_object());
		return CTL_OK;
	}
	printf("%.*s: %.*s\n", BYTES_FMT(from_pb(q->activity_id)),
	       BYTES_FMT(from_pb(r->message)));
	/* What binds us from now on, for whoever will compare. */
	for (size_t i = 0; a != NULL && i < a->n_topups; i++) {
		if (a->topups[i]->number == q->tranche) {
			printf("commitment %.*s\n",
			       BYTES_FMT(from_pb(a->topups[i]->commitment)));
		}
	}
	return CTL_OK;
}

/* Ask, with the number of the tranche: so it is safe to ask again. */
static int ask(struct ctl *ctl, Rain__TopUpRequest *q, const char *id,
	       const char *path, struct buf *why)
{
	void *reply;
	int rc = step_repeat(ctl, &ctl_topup, &q->base, id, &reply, why);

	if (rc == CTL_OK) {
		rc = print_reply(ctl, q, reply, why);
		proto_free(reply);
	}
	if (rc == CTL_UNKNOWN) {
		buf_printf(why,
			   "\nto go on with it: rainctl activity topup %s "
			   "-f %s --tranche %" PRIu32,
			   id, path, q->tranche);
	}
	return rc;
}

int run_activity_topup(struct ctl *ctl, const struct command *c,
		       const struct arguments *a)
{
	Rain__TopUpRequest q = RAIN__TOP_UP_REQUEST__INIT;
	const char *path = argument_option(c, a, "f");
	const char *which = argument_option(c, a, "tranche");
	uint64_t number = 0;
	struct plan_file file;
	struct buf why;
	int rc = CTL_OK;

	if (path == NULL) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("-f FILE is missing"));
	}
	if (which != NULL &&
	    (!bytes_to_u64(bytes_str(which), TRANCHES_MAX, &number) ||
	     number < 2)) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("--tranche must be 2 to 16: the "
					  "first one is the plan"));
	}
	buf_init(&why);
	q.tranche = (uint32_t)number;
	q.activity_id = to_pb_str(a->values[0]);
	q.plan = &file.plan;
	if (topup_file_read(path, &file, &why) != 0) {
		rc = CTL_USAGE;
	}
	if (rc == CTL_OK && which == NULL) {
		rc = next_tranche(ctl, a->values[0], &q.tranche, &why);
	}
	if (rc == CTL_OK) {
		rc = ask(ctl, &q, a->values[0], path, &why);
	}
	if (rc != CTL_OK) {
		output_error(ctl, rc, c->words, buf_live(&why));
	}
	plan_file_close(&file);
	buf_close(&why);
	return rc;
}
