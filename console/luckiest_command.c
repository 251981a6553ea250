#include <stdio.h>
#include <stdlib.h>

#include "console/command.h"
#include "console/luckiest.h"
#include "console/output.h"
#include "console/pages.h"
#include "console/steps.h"
#include "proto/proto_util.h"

enum { COUNT = 10 };

static void take_record(void *ctx, const Rain__LedgerRecord *r)
{
	struct luckiest_one one = { .amount_cents = r->amount_cents,
				    .at_ms = r->at_ms,
				    .seq = r->seq };

	(void)bytes_readable(from_pb(r->user_id), one.user, sizeof one.user);
	luckiest_enter(ctx, &one);
}

static json_t *rows(const struct ctl *ctl, const struct luckiest *l)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct luckiest_one *one = &l->best[i];

		json_array_append_new(
			list,
			json_pack("{s:I,s:s,s:o,s:o,s:I}", "place",
				  (json_int_t)i + 1, "user", one->user,
				  "amount", output_cents(one->amount_cents),
				  "won", output_time(ctl, one->at_ms), "seq",
				  (json_int_t)one->seq));
	}
	return list;
}

static int read_all(struct ctl *ctl, const char *id, struct luckiest *l,
		    struct buf *why)
{
	const Rain__Activity *a;
	void *reply;
	int rc = step_get(ctl, id, &reply, why);

	if (rc != CTL_OK) {
		return rc;
	}
	a = ((const Rain__ActivityReply *)reply)->activity;
	rc = luckiest_over(a, why);
	if (rc == CTL_OK) {
		rc = pages_records(ctl, id, take_record, l, why);
	}
	if (rc == CTL_OK) {
		rc = luckiest_enough(a, l->entered, why);
	}
	proto_free(reply);
	return rc;
}

int run_luckiest(struct ctl *ctl, const struct command *c,
		 const struct arguments *a)
{
	struct luckiest *l;
	struct buf why;
	uint64_t most = COUNT;
	int rc;

	if (a->count > 1 &&
	    (!bytes_to_u64(bytes_str(a->values[1]), LUCKIEST_MAX, &most) ||
	     most == 0)) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("COUNT must be 1 to 1000"));
	}
	l = xcalloc(1, sizeof *l);
	l->most = (size_t)most;
	buf_init(&why);
	rc = read_all(ctl, a->values[0], l, &why);
	if (rc == CTL_OK) {
		output_print(ctl, rows(ctl, l));
		if (buf_len(&why) > 0) {
			fprintf(stderr, "rainctl %s: %.*s\n", c->words,
				BYTES_FMT(buf_live(&why)));
		}
	} else {
		(void)output_error(ctl, rc, c->words, buf_live(&why));
	}
	buf_close(&why);
	free(l);
	return rc;
}
