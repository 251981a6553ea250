#include "roll_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"

#include "claim.h"

enum { PAGE = 1000, FRUITLESS_MAX = 4 };

struct reading {
	struct redis *redis;
	uint64_t timeout_ms;
	const bool *give_up;
	roll_read_cb done;
	void *ctx;
	char id[ID_MAX + 1];
	char list[LIST_DIGEST_TEXT]; /* what the digest must be */
	uint64_t count;
	struct roll *roll;
	struct list_digest digest;
	uint64_t next; /* the packet that is read next, from 1 */
	uint64_t want; /* elements that were asked for */
	int fruitless; /* pages in a row that had nothing */
};

static void read_left(struct reading *g);

static void end(struct reading *g, enum roll_read_end how, const char *why)
{
	if (how != ROLL_READ) {
		roll_free(g->roll);
		g->roll = NULL;
	}
	g->done(g->ctx, how, g->roll, why);
	list_digest_close(&g->digest);
	free(g);
}

static void compare(struct reading *g)
{
	char digest[LIST_DIGEST_TEXT];

	list_digest_hex(&g->digest, digest);
	if (strcmp(digest, g->list) == 0) {
		end(g, ROLL_READ, "");
	} else {
		end(g, ROLL_FOREIGN,
		    "its packets are not those that were opened");
	}
}

static void foreign(struct reading *g, const char *what, const char *wrong)
{
	char why[160];

	(void)snprintf(why, sizeof why,
		       "its packets are not those that were opened: %s "
		       "%" PRIu64 ": %s",
		       what, g->next, wrong);
	end(g, ROLL_FOREIGN, why);
}

static void take(struct reading *g, const struct packet *p)
{
	list_digest_add(&g->digest, p);
	roll_add(g->roll, g->next, p);
	g->next++;
	g->fruitless = 0;
}

static bool take_claim(struct reading *g, struct bytes text)
{
	const char *wrong = NULL;
	struct claim c;

	if (!claim_parse(text, &c, &wrong) || c.seq != g->next) {
		foreign(g, "claim", wrong != NULL ? wrong : "another seq");
		return false;
	}
	take(g, &c.packet);
	return true;
}

static bool take_packet(struct reading *g, struct bytes text)
{
	const char *wrong = NULL;
	struct packet p;

	if (!packet_parse(text, &p, &wrong)) {
		foreign(g, "packet", wrong);
		return false;
	}
	take(g, &p);
	return true;
}

/* Both lists have the next packet at the tail side of a page. False if the
 * reading has ended. */
static bool take_page(struct reading *g, const redisReply *page,
		      bool (*take_one)(struct reading *, struct bytes))
{
	for (size_t i = (size_t)page->elements; i > 0; i--) {
		const redisReply *e = page->element[i - 1];

		if (!take_one(g, bytes_make(e->str, (size_t)e->len))) {
			return false;
		}
	}
	return true;
}

static bool is_page(const struct reading *g, enum redis_outcome outcome,
		    const redisReply *reply)
{
	return !*g->give_up && outcome == REDIS_DONE &&
	       reply->type == REDIS_REPLY_ARRAY;
}

static void ask(struct reading *g, const char *list, const char *from,
		const char *to, redis_cb done)
{
	char key[ID_MAX + 24];

	(void)snprintf(key, sizeof key, "rain:{%s}:%s", g->id, list);
	redis_command(g->redis, 4,
		      (const struct bytes[]){ BYTES("LRANGE"), bytes_str(key),
					      bytes_str(from), bytes_str(to) },
		      g->timeout_ms, done, g);
}

static uint64_t page_size(const struct reading *g)
{
	uint64_t rest = g->count - g->next + 1;

	return rest < PAGE ? rest : PAGE;
}

static void read_claims(struct reading *g);

static void claims_cb(void *ctx, enum redis_outcome outcome,
		      const redisReply *reply)
{
	struct reading *g = ctx;

	if (!is_page(g, outcome, reply)) {
		end(g, ROLL_SILENT, "");
	} else if (take_page(g, reply, take_claim)) {
		if ((uint64_t)reply->elements == g->want &&
		    g->next <= g->count) {
			read_claims(g);
		} else {
			read_left(g);
		}
	}
}

static void read_claims(struct reading *g)
{
	char from[24], to[24];

	g->want = page_size(g);
	(void)snprintf(from, sizeof from, "-%" PRIu64, g->next - 1 + g->want);
	(void)snprintf(to, sizeof to, "-%" PRIu64, g->next);
	ask(g, "claims", from, to, claims_cb);
}

static void left_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct reading *g = ctx;

	if (!is_page(g, outcome, reply)) {
		end(g, ROLL_SILENT, "");
		return;
	}
	/* Fewer: the next packet is a claim by now. */
	if ((uint64_t)reply->elements < g->want) {
		if (g->fruitless++ < FRUITLESS_MAX) {
			read_claims(g);
		} else {
			foreign(g, "packet", "it is in neither list");
		}
	} else if (take_page(g, reply, take_packet)) {
		read_left(g);
	}
}

static void read_left(struct reading *g)
{
	uint64_t first;
	char from[24], to[24];

	if (g->next > g->count) {
		compare(g);
		return;
	}
	g->want = page_size(g);
	first = g->count - g->next + 1 - g->want;
	(void)snprintf(from, sizeof from, "%" PRIu64, first);
	(void)snprintf(to, sizeof to, "%" PRIu64, first + g->want - 1);
	ask(g, "packets", from, to, left_cb);
}

void roll_read(struct redis *redis, const struct activity_view *v,
	       uint64_t timeout_ms, const bool *give_up, roll_read_cb done,
	       void *ctx)
{
	struct reading *g = xcalloc(1, sizeof *g);

	*g = (struct reading){
		.redis = redis,
		.timeout_ms = timeout_ms,
		.give_up = give_up,
		.done = done,
		.ctx = ctx,
		.count = v->plan.rule.count,
		.roll = roll_new_adopted(v->plan.rule.count),
		.next = 1,
	};
	memcpy(g->id, v->plan.activity_id, sizeof g->id);
	memcpy(g->list, v->list, sizeof g->list);
	list_digest_init(&g->digest);
	read_left(g);
}
