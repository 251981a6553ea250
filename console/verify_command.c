#include <inttypes.h>
#include <stdio.h>

#include "console/command.h"
#include "console/output.h"
#include "console/verify.h"

static json_t *lines_json(const struct verify *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < VERIFY_LINES && v->lines[i] != NULL; i++) {
		json_t *line = json_string(v->lines[i]);

		/* A place may have told what is no text. */
		json_array_append_new(list,
				      line != NULL ? line : json_string("?"));
	}
	return list;
}

static void print_json(const struct ctl *ctl, const struct verify *v)
{
	output_print(
		ctl,
		json_pack("{s:s,s:s,s:b,s:b,s:I,s:I,s:I,s:I,s:I,s:b,s:I,s:o}",
			  "activity", v->activity, "commitment", v->commitment,
			  "proven", v->differences == 0, "cancelled",
			  v->cancelled, "packets", (json_int_t)v->packets,
			  "claimed", (json_int_t)v->claimed, "left",
			  (json_int_t)v->unclaimed, "credited",
			  (json_int_t)v->credited, "not_credited_yet",
			  (json_int_t)v->uncredited, "lists_gone",
			  v->lists_gone, "difference_count",
			  (json_int_t)v->differences, "differences",
			  lines_json(v)));
}

void verify_print(const struct verify *v)
{
	char summary[VERIFY_SUMMARY];

	for (size_t i = 0; i < VERIFY_LINES && v->lines[i] != NULL; i++) {
		printf("%s\n", v->lines[i]);
	}
	if (v->differences > VERIFY_LINES) {
		printf("… and %" PRIu64 " more\n",
		       v->differences - VERIFY_LINES);
	}
	verify_summary(v, summary);
	printf("%s\n", summary);
}

int run_verify(struct ctl *ctl, const struct command *c,
	       const struct arguments *a)
{
	struct verify v;
	struct buf why;
	int rc;

	buf_init(&why);
	verify_init(&v, a->values[0]);
	rc = verify_read(ctl, &v, &why);
	if (rc != CTL_OK) {
		output_error(ctl, rc, c->words, buf_live(&why));
	} else {
		if (ctl->json) {
			print_json(ctl, &v);
		} else {
			verify_print(&v);
		}
		rc = v.differences == 0 ? CTL_OK : CTL_NO;
	}
	verify_close(&v);
	buf_close(&why);
	return rc;
}
