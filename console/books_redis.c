/*
 * Books: what Redis says of itself. A user's answer comes from the hash of
 * users, not from the list of claims: the two must be the same.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "console/books.h"
#include "console/output.h"

enum { ANSWER_SHOWN = 200 };

/* Packet and amount of a claim's text, as far as it has them. */
static bool told_packet(const char *text, char packet[80], int64_t *cents)
{
	json_t *o = json_loads(text, 0, NULL);
	const char *id = json_string_value(json_object_get(o, "redPacketId"));
	const char *amount = json_string_value(json_object_get(o, "amount"));
	bool ok = id != NULL && amount != NULL &&
		  amount_parse(bytes_str(amount), cents);

	if (ok) {
		snprintf(packet, 80, "%s", id);
	}
	json_decref(o);
	return ok;
}

static void judge_answer(struct books *b, uint64_t seq)
{
	const struct book_entry *e = &b->lines[seq - 1].in[BOOK_REDIS];
	const char *answer = b->lines[seq - 1].answer;
	struct amount_text told, claimed;
	char packet[80];
	int64_t cents = 0;
	bool has;

	if (answer == NULL || e->packet == NULL) {
		return;
	}
	claimed = amount_text(e->amount_cents);
	has = told_packet(answer, packet, &cents);
	told = amount_text(cents);
	if (answer[0] == '\0') {
		books_differ(b,
			     "seq %" PRIu64 ": %s is told nothing instead of "
			     "packet %s, %s",
			     seq, e->user, e->packet, claimed.text);
	} else if (has && (cents != e->amount_cents ||
			   strcmp(packet, e->packet) != 0)) {
		books_differ(b,
			     "seq %" PRIu64 ": %s is told packet %s, %s "
			     "instead of packet %s, %s",
			     seq, e->user, packet, told.text, e->packet,
			     claimed.text);
	} else {
		books_differ(b,
			     "seq %" PRIu64 ": %s is told %.*s instead of "
			     "the claim of packet %s, %s",
			     seq, e->user, ANSWER_SHOWN, answer, e->packet,
			     claimed.text);
	}
}

static void judge_counts(struct books *b)
{
	const struct book_counts *c = &b->counts;
	uint64_t claims = b->sums[BOOK_REDIS].count;

	if (c->users != c->claims) {
		books_differ(b,
			     "redis: %" PRIu64 " user%s told a packet, but "
			     "there %s %" PRIu64 " claim%s",
			     c->users, c->users == 1 ? " is" : "s are",
			     c->claims == 1 ? "is" : "are", c->claims,
			     c->claims == 1 ? "" : "s");
	}
	if (c->claims != claims) {
		books_differ(b,
			     "redis: the list of claims has %" PRIu64
			     " elements, but %" PRIu64 " could be read",
			     c->claims, claims);
	}
	if (c->left != b->left.count) {
		books_differ(b,
			     "redis: the list of packets has %" PRIu64
			     " elements, but %" PRIu64 " could be read",
			     c->left, b->left.count);
	}
}

void books_judge_redis(struct books *b)
{
	for (size_t i = 0; i < b->line_count; i++) {
		judge_answer(b, i + 1);
	}
	/* Else somebody grabbed, and the counts are of another moment. */
	if (b->steady) {
		judge_counts(b);
	}
}
