#include "claim.h"

/* What is left of the text while it is read from the front. */
struct reader {
	struct bytes rest;
	const char *why; /* the first thing that was wrong, or NULL */
};

static void fail(struct reader *r, const char *why)
{
	if (r->why == NULL) {
		r->why = why;
	}
}

static void skip(struct reader *r, size_t n)
{
	r->rest.p += n;
	r->rest.n -= n;
}

static void expect(struct reader *r, struct bytes literal, const char *why)
{
	if (r->why != NULL) {
		return;
	}
	if (r->rest.n < literal.n ||
	    memcmp(r->rest.p, literal.p, literal.n) != 0) {
		fail(r, why);
		return;
	}
	skip(r, literal.n);
}

/* Up to the next quote, which stays. */
static struct bytes text(struct reader *r)
{
	const uint8_t *quote = NULL;
	struct bytes out = { 0 };

	if (r->why == NULL && r->rest.n > 0) {
		quote = memchr(r->rest.p, '"', r->rest.n);
	}
	if (quote == NULL) {
		fail(r, "a text that does not end");
		return out;
	}
	out = bytes_make(r->rest.p, (size_t)(quote - r->rest.p));
	skip(r, out.n);
	return out;
}

/* Digits without a superfluous zero in front. */
static uint64_t number(struct reader *r, uint64_t max, const char *why)
{
	uint64_t out = 0;
	size_t n = 0;

	if (r->why != NULL) {
		return 0;
	}
	while (n < r->rest.n && r->rest.p[n] >= '0' && r->rest.p[n] <= '9') {
		n++;
	}
	if (n == 0 || (n > 1 && r->rest.p[0] == '0') ||
	    !bytes_to_u64(bytes_make(r->rest.p, n), max, &out)) {
		fail(r, why);
		return 0;
	}
	skip(r, n);
	return out;
}

static void packet(struct reader *r, struct packet *p)
{
	struct bytes amount;

	expect(r, BYTES("{\"redPacketId\":\""), "does not begin with the id");
	p->red_packet_id = text(r);
	expect(r, BYTES("\",\"amount\":\""), "no amount behind the id");
	amount = text(r);
	if (r->why != NULL) {
		return;
	}
	if (!id_valid(p->red_packet_id)) {
		fail(r, "the id is not " ID_RULE);
	} else if (!amount_parse(amount, &p->amount_cents) ||
		   p->amount_cents < 1) {
		fail(r, "the amount is not 0.01 or more");
	}
}

static bool finish(struct reader *r, const char **why)
{
	if (r->why == NULL && r->rest.n > 0) {
		fail(r, "something behind the end");
	}
	*why = r->why;
	return r->why == NULL;
}

bool packet_parse(struct bytes whole, struct packet *p, const char **why)
{
	struct reader r = { .rest = whole };

	*p = (struct packet){ 0 };
	packet(&r, p);
	expect(&r, BYTES("\"}"), "no end behind the amount");
	return finish(&r, why);
}

bool claim_parse(struct bytes whole, struct claim *c, const char **why)
{
	struct reader r = { .rest = whole };

	*c = (struct claim){ 0 };
	packet(&r, &c->packet);
	expect(&r, BYTES("\",\"userId\":\""), "no user behind the amount");
	c->user_id = text(&r);
	if (r.why == NULL && !id_valid_claimant(c->user_id)) {
		fail(&r, "the user is not " ID_RULE);
	}
	expect(&r, BYTES("\",\"seq\":"), "no seq behind the user");
	c->seq = number(&r, AMOUNT_MAX_CENTS, "the seq is no number");
	expect(&r, BYTES(",\"atMs\":"), "no atMs behind the seq");
	c->at_ms =
		(int64_t)number(&r, AMOUNT_MAX_CENTS, "the atMs is no number");
	expect(&r, BYTES(",\"tranche\":"), "no tranche behind the atMs");
	c->tranche =
		(uint32_t)number(&r, UINT32_MAX, "the tranche is no number");
	expect(&r, BYTES("}"), "no end behind the tranche");
	if (r.why == NULL && (c->seq == 0 || c->tranche == 0)) {
		fail(&r, "seq and tranche begin at 1");
	}
	return finish(&r, why);
}

static char *put(char *at, struct bytes b)
{
	memcpy(at, b.p, b.n);
	return at + b.n;
}

/* PACKET_TEXT_MAX has room for the longest id and amount. */
size_t packet_format(const struct packet *p, char out[PACKET_TEXT_MAX])
{
	char amount[AMOUNT_TEXT_MAX];
	char *at = out;

	check(id_valid(p->red_packet_id));
	at = put(at, BYTES("{\"redPacketId\":\""));
	at = put(at, p->red_packet_id);
	at = put(at, BYTES("\",\"amount\":\""));
	at = put(at,
		 bytes_make(amount, amount_format(p->amount_cents, amount)));
	at = put(at, BYTES("\"}"));
	*at = '\0';
	return (size_t)(at - out);
}
