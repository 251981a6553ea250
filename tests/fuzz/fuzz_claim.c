/* The text of packets and claims in Redis: what is read, written again, is the
 * same text, but for an amount that was not in its written form. */
#include <inttypes.h>
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "grab-service/claim.h"

static bool same_packet(const struct packet *a, const struct packet *b)
{
	return bytes_eq(a->red_packet_id, b->red_packet_id) &&
	       a->amount_cents == b->amount_cents;
}

static void check_packet(const struct packet *p)
{
	check(id_valid(p->red_packet_id));
	check(p->amount_cents >= 1 && p->amount_cents <= AMOUNT_MAX_CENTS);
}

/* Where the amount stands, the text may differ; its length is not bounded. */
static bool amount_as_written(struct bytes text, const struct packet *p)
{
	char amount[AMOUNT_TEXT_MAX];
	size_t n = amount_format(p->amount_cents, amount);
	const uint8_t *at = p->red_packet_id.p + p->red_packet_id.n +
			    strlen("\",\"amount\":\"");

	return (size_t)(text.p + text.n - at) > n &&
	       memcmp(at, amount, n) == 0 && at[n] == '"';
}

static void try_packet(struct bytes text)
{
	char again[PACKET_TEXT_MAX];
	const char *why = "";
	struct packet p;
	struct packet q;
	size_t n;

	if (!packet_parse(text, &p, &why)) {
		check(why != NULL);
		return;
	}
	check(why == NULL);
	check_packet(&p);
	n = packet_format(&p, again);
	check(bytes_eq(text, bytes_make(again, n)) ==
	      amount_as_written(text, &p));
	check(packet_parse(bytes_make(again, n), &q, &why));
	check(same_packet(&p, &q));
}

/* As lua/grab.lua writes it. */
static size_t write_claim(const struct claim *c, char *out, size_t size)
{
	size_t n = packet_format(&c->packet, out);
	int more =
		snprintf(out + n - 1, size - n + 1,
			 ",\"userId\":\"%.*s\",\"seq\":%" PRIu64
			 ",\"atMs\":%" PRId64 ",\"tranche\":%" PRIu32 "}",
			 BYTES_FMT(c->user_id), c->seq, c->at_ms, c->tranche);

	check(more > 0 && (size_t)more < size - n + 1);
	return n - 1 + (size_t)more;
}

static void try_claim(struct bytes text)
{
	char again[2 * PACKET_TEXT_MAX + ID_MAX];
	const char *why = "";
	struct claim c;
	struct claim d;
	size_t n;

	if (!claim_parse(text, &c, &why)) {
		check(why != NULL);
		return;
	}
	check(why == NULL);
	check_packet(&c.packet);
	check(id_valid_claimant(c.user_id));
	check(c.seq >= 1 && c.tranche >= 1 && c.at_ms >= 0);
	n = write_claim(&c, again, sizeof again);
	check(bytes_eq(text, bytes_make(again, n)) ==
	      amount_as_written(text, &c.packet));
	check(claim_parse(bytes_make(again, n), &d, &why));
	check(same_packet(&c.packet, &d.packet));
	check(bytes_eq(c.user_id, d.user_id) && c.seq == d.seq);
	check(c.at_ms == d.at_ms && c.tranche == d.tranche);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = fuzz_copy(bytes_make(data, size));

	try_packet(text);
	try_claim(text);
	fuzz_drop(text);
	return 0;
}
