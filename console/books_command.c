#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "console/books.h"
#include "console/command.h"
#include "console/output.h"
#include "proto/proto_util.h"

static json_t *sum_json(const char *what, uint64_t count, int64_t cents)
{
	return json_pack("{s:s,s:I,s:o}", "what", what, "packets",
			 (json_int_t)count, "amount", output_cents(cents));
}

/* The rows of the table, top to bottom as the money flows. */
static json_t *rows(const struct books *b)
{
	const struct book_sum *s = b->sums;
	json_t *list = json_array();

	json_array_append_new(
		list, sum_json("funded", b->funded_packets, b->funded_cents));
	if (!b->lists_gone) {
		json_array_append_new(
			list,
			sum_json("left (Redis)", b->left.count, b->left.cents));
		if (b->unloaded_cents > 0) {
			json_array_append_new(
				list,
				sum_json("not loaded", 0, b->unloaded_cents));
		}
		json_array_append_new(list, sum_json("claimed (Redis)",
						     s[BOOK_REDIS].count,
						     s[BOOK_REDIS].cents));
	}
	json_array_append_new(list,
			      sum_json("published (Kafka)", s[BOOK_KAFKA].count,
				       s[BOOK_KAFKA].cents));
	json_array_append_new(list, sum_json("credited (ledger)",
					     s[BOOK_LEDGER].count,
					     s[BOOK_LEDGER].cents));
	json_array_append_new(
		list,
		sum_json("held (ledger)", b->ledger_conflicts, b->held_cents));
	json_array_append_new(list,
			      sum_json("refunded (ledger)",
				       b->refund_done && b->refunded_cents > 0
					       ? b->funded_packets -
							 s[BOOK_LEDGER].count -
							 b->ledger_conflicts
					       : 0,
				       b->refunded_cents));
	return list;
}

static void print_text(const struct books *b)
{
	json_t *list = rows(b);
	json_t *row;
	size_t i;

	printf("  %-20s%12s%18s\n", "", "packets", "amount");
	json_array_foreach(list, i, row)
	{
		char digits[32];
		char count[64];
		char amount[64];

		snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT,
			 json_integer_value(json_object_get(row, "packets")));
		output_grouped(digits, count);
		output_grouped(
			json_string_value(json_object_get(row, "amount")),
			amount);
		printf("  %-20s%12s%18s\n",
		       json_string_value(json_object_get(row, "what")), count,
		       amount);
	}
	json_decref(list);
	if (b->differences == 0) {
		uint64_t n = b->sums[BOOK_LEDGER].count;

		printf("books: exact, %" PRIu64
		       " claim%s compared one by one in %s\n",
		       n, n == 1 ? "" : "s",
		       b->lists_gone ? "Kafka and the ledger"
				     : "Redis, Kafka and the ledger");
		return;
	}
	printf("books: %" PRIu64 " difference%s\n", b->differences,
	       b->differences == 1 ? "" : "s");
	printf("%.*s", BYTES_FMT(buf_live(&b->report)));
	if (!books_at_rest(b)) {
		printf("not everything has arrived yet: --wait 60 waits for "
		       "it\n");
	}
}

void books_print(const struct ctl *ctl, const struct books *b)
{
	struct bytes report = buf_live(&b->report);

	if (!ctl->json) {
		print_text(b);
		return;
	}
	output_print(ctl,
		     json_pack("{s:s,s:b,s:I,s:o,s:b,s:I,s:o}", "activity",
			       b->activity, "exact", b->differences == 0,
			       "differences", (json_int_t)b->differences,
			       "report", output_text(to_pb(report)), "at_rest",
			       books_at_rest(b), "published_again",
			       (json_int_t)b->published_again, "rows",
			       rows(b)));
}

int run_books(struct ctl *ctl, const struct command *c,
	      const struct arguments *a)
{
	const char *wait = argument_option(c, a, "wait");
	uint64_t seconds = 0;
	struct books b;
	struct buf why;
	int rc;

	if (wait != NULL && !bytes_to_u64(bytes_str(wait), 86400, &seconds)) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("--wait: allowed: 0 to 86400"));
	}
	buf_init(&why);
	rc = books_wait(ctl, a->values[0], seconds, &b, &why);
	if (rc != CTL_OK) {
		output_error(ctl, rc, c->words, buf_live(&why));
	} else {
		books_print(ctl, &b);
		rc = b.differences == 0 ? CTL_OK : CTL_NO;
	}
	books_close(&b);
	buf_close(&why);
	return rc;
}
