#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/proto_util.h"

#include "activity_op.h"
#include "claim_page.h"

enum { PAGE_MAX = 1000, KEY_MAX = ID_MAX + 24 };

/* op_for_activity() does not fit: op_reply() would answer with an
 * ActivityReply, and pages have replies of their own. */
struct page {
	struct activity_op op;
	const char *list; /* "claims" or "packets" */
	uint64_t after;
	uint64_t limit;
	uint64_t total; /* length of the list */
	bool once_more; /* read again: a user of a claim was not there */
	struct claim_page claims;
};

/* One reply of either kind. */
struct page_reply {
	Rain__Outcome outcome;
	char message[OP_MESSAGE_MAX];
	const redisReply *elements; /* oldest last; NULL for none */
};

static void fail(struct page_reply *r, Rain__Outcome outcome, const char *why)
{
	r->outcome = outcome;
	(void)snprintf(r->message, sizeof(r->message), "%s", why);
	r->elements = NULL;
}

static void element_wrong(const struct page *p, struct page_reply *r, size_t i,
			  const char *why)
{
	r->outcome = RAIN__OUTCOME__CONFLICT;
	(void)snprintf(r->message, sizeof(r->message),
		       "element %" PRIu64 " of %s: %s", p->after + i + 1,
		       p->list, why);
}

static struct bytes element(const struct page_reply *r, size_t i)
{
	const redisReply *e =
		r->elements->element[(size_t)r->elements->elements - 1 - i];

	return bytes_make(e->str, (size_t)e->len);
}

static size_t element_count(const struct page_reply *r)
{
	return r->elements != NULL ? (size_t)r->elements->elements : 0;
}

static bool is_claims(const struct page *p)
{
	return strcmp(p->list, "claims") == 0;
}

static void reply_claims(struct page *p, struct page_reply *r,
			 const redisReply *users)
{
	claim_page_reply(&p->claims, p->op.call, r->outcome, r->message,
			 p->total, users);
	claim_page_drop(&p->claims);
	op_end(&p->op);
}

static void reply_packets(struct page *p, struct page_reply *r)
{
	Rain__PacketsReply m = RAIN__PACKETS_REPLY__INIT;
	size_t n = element_count(r);
	Rain__Packet *packets = xcalloc(n + 1, sizeof(*packets));
	Rain__Packet **list = xcalloc(n + 1, sizeof(Rain__Packet *));

	for (size_t i = 0; i < n; i++) {
		const char *why = NULL;
		struct packet k;

		if (!packet_parse(element(r, i), &k, &why)) {
			element_wrong(p, r, i, why);
			break;
		}
		packets[i] = (Rain__Packet)RAIN__PACKET__INIT;
		packets[i].red_packet_id = to_pb(k.red_packet_id);
		packets[i].amount_cents = k.amount_cents;
		list[m.n_packets++] = &packets[i];
	}
	m.outcome = r->outcome;
	m.message = to_pb_str(r->message);
	m.packets = list;
	m.total = p->total;
	dubbo_reply(p->op.call, &m.base);
	free(list);
	free(packets);
	op_end(&p->op);
}

static void reply_page(struct page *p, struct page_reply *r)
{
	if (is_claims(p)) {
		reply_claims(p, r, NULL);
	} else {
		reply_packets(p, r);
	}
}

static void key(const struct page *p, const char *name, char out[KEY_MAX])
{
	(void)snprintf(out, KEY_MAX, "rain:{%s}:%s", p->op.id, name);
}

static void ask_meta(struct page *p);
static void ask_length(struct page *p);
static void ask_elements(struct page *p);
static void ask_users(struct page *p);

static void unanswered(struct page *p, const redisReply *reply)
{
	struct page_reply r = { 0 };

	fail(&r, RAIN__OUTCOME__UNAVAILABLE_NOW, "Redis does not answer");
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR) {
		(void)snprintf(r.message, sizeof(r.message), "Redis says %.*s",
			       (int)reply->len, reply->str);
	}
	reply_page(p, &r);
}

static void meta_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct page_reply r = { 0 };
	struct page *p = ctx;

	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements != 2) {
		unanswered(p, reply);
	} else if (reply->element[0]->type != REDIS_REPLY_STRING) {
		fail(&r, RAIN__OUTCOME__NOT_FOUND, "there is no such activity");
		reply_page(p, &r);
	} else if (reply->element[1]->type == REDIS_REPLY_STRING) {
		fail(&r, RAIN__OUTCOME__DONE,
		     "it is settled and its lists are gone: the ledger has "
		     "its records");
		reply_page(p, &r);
	} else {
		ask_length(p);
	}
}

static void ask_meta(struct page *p)
{
	char meta[KEY_MAX];

	key(p, "meta", meta);
	redis_command(p->op.svc->deps.redis, 4,
		      (const struct bytes[]){ BYTES("HMGET"), bytes_str(meta),
					      BYTES("schema"),
					      BYTES("unlinked") },
		      op_timeout(&p->op), meta_cb, p);
}

static void length_cb(void *ctx, enum redis_outcome outcome,
		      const redisReply *reply)
{
	struct page *p = ctx;

	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_INTEGER) {
		unanswered(p, reply);
		return;
	}
	p->total = (uint64_t)reply->integer;
	ask_elements(p);
}

static void ask_length(struct page *p)
{
	char list[KEY_MAX];

	key(p, p->list, list);
	redis_command(p->op.svc->deps.redis, 2,
		      (const struct bytes[]){ BYTES("LLEN"), bytes_str(list) },
		      op_timeout(&p->op), length_cb, p);
}

static void elements_cb(void *ctx, enum redis_outcome outcome,
			const redisReply *reply)
{
	struct page_reply r = { .outcome = RAIN__OUTCOME__DONE };
	struct page *p = ctx;
	const char *why = NULL;

	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY) {
		unanswered(p, reply);
		return;
	}
	r.elements = reply;
	if (!is_claims(p)) {
		reply_page(p, &r);
		return;
	}
	for (size_t i = 0; i < element_count(&r); i++) {
		claim_page_add(&p->claims, element(&r, i));
	}
	if (!claim_page_parse(&p->claims, &why)) {
		element_wrong(p, &r, p->claims.count, why);
	}
	if (r.outcome != RAIN__OUTCOME__DONE || p->claims.count == 0) {
		reply_claims(p, &r, NULL);
	} else {
		ask_users(p);
	}
}

static bool some_nil(const redisReply *reply)
{
	for (size_t i = 0; i < reply->elements; i++) {
		if (reply->element[i]->type == REDIS_REPLY_NIL) {
			return true;
		}
	}
	return false;
}

static void users_cb(void *ctx, enum redis_outcome outcome,
		     const redisReply *reply)
{
	struct page_reply r = { .outcome = RAIN__OUTCOME__DONE };
	struct page *p = ctx;

	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY ||
	    (size_t)reply->elements != p->claims.count) {
		claim_page_drop(&p->claims);
		unanswered(p, reply);
	} else if (some_nil(reply) && !p->once_more) {
		/* The lists may have been unlinked between the two reads. */
		p->once_more = true;
		claim_page_drop(&p->claims);
		ask_meta(p);
	} else {
		reply_claims(p, &r, reply);
	}
}

/* A claim and its user are written in one step, and the claims were read
 * before: each user must be there. */
static void ask_users(struct page *p)
{
	size_t n = p->claims.count;
	struct bytes *argv = xcalloc(n + 2, sizeof(*argv));
	char users[KEY_MAX];

	key(p, "users", users);
	argv[0] = BYTES("HMGET");
	argv[1] = bytes_str(users);
	for (size_t i = 0; i < n; i++) {
		argv[i + 2] = p->claims.list[i].user_id;
	}
	redis_command(p->op.svc->deps.redis, n + 2, argv, op_timeout(&p->op),
		      users_cb, p);
	free(argv);
}

/* The tail of both lists is their first element. */
static void ask_elements(struct page *p)
{
	char list[KEY_MAX], from[24], to[24];

	key(p, p->list, list);
	(void)snprintf(from, sizeof(from), "-%" PRIu64, p->after + p->limit);
	(void)snprintf(to, sizeof(to), "-%" PRIu64, p->after + 1);
	redis_command(p->op.svc->deps.redis, 4,
		      (const struct bytes[]){ BYTES("LRANGE"), bytes_str(list),
					      bytes_str(from), bytes_str(to) },
		      op_timeout(&p->op), elements_cb, p);
}

static void page(void *ctx, struct dubbo_call *call, struct bytes argument,
		 const char *list)
{
	Rain__PageRequest *m = proto_unpack(&rain__page_request__descriptor,
					    argument, OP_ARGUMENT_MAX);
	struct page_reply r = { 0 };
	struct page *p;
	struct bytes id;

	if (m == NULL) {
		op_malformed(call);
		return;
	}
	p = op_new(ctx, call, sizeof(*p));
	p->list = list;
	p->after = m->after;
	p->limit = m->limit;
	id = from_pb(m->activity_id);
	if (!id_valid(id)) {
		fail(&r, RAIN__OUTCOME__INVALID,
		     "activity_id must be " ID_RULE);
	} else if (m->limit > PAGE_MAX || m->limit == 0 ||
		   m->after > AMOUNT_MAX_CENTS) {
		fail(&r, RAIN__OUTCOME__INVALID,
		     "limit must be 1 to 1000, and after less than 2^53");
	} else {
		memcpy(p->op.id, id.p, id.n);
	}
	proto_free(m);
	if (r.message[0] != '\0') {
		reply_page(p, &r);
	} else {
		ask_meta(p);
	}
}

void activity_claims(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	page(ctx, call, argument, "claims");
}

void activity_packets(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	page(ctx, call, argument, "packets");
}
