/*
 * Redis as it is: no service stands between.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/redis_url.h"
#include "fault/check.h"
#include "grab-service/activity_view.h"
#include "grab-service/claim.h"
#include "grab-service/event_text.h"
#include "proto/proto_util.h"

enum { PAGE = 1000, ARENA_MAX = 16384 };

struct reader {
	redisContext *redis;
	struct check *check;
	struct check_activity *activity;
	struct buf *why;
	struct list_digest digest;   /* of claims and packets, as they come */
	char list[LIST_DIGEST_TEXT]; /* of the list that was opened, "": none */
};

static redisContext *connect_to(const struct redis_url *url)
{
	char host[ADDRESS_TEXT_MAX];
	const char *colon = strrchr(url->address, ':');
	uint64_t port = 0;

	if (strncmp(url->address, "unix:", 5) == 0) {
		return redisConnectUnix(url->address + 5);
	}
	if (colon == NULL ||
	    !bytes_to_u64(bytes_str(colon + 1), 65535, &port)) {
		return NULL;
	}
	snprintf(host, sizeof host, "%.*s", (int)(colon - url->address),
		 url->address);
	return redisConnect(host, (int)port);
}

/* A reply of this type, to be freed; NULL after telling why. */
static redisReply *ask(struct reader *r, int type, const char *fmt, ...)
{
	redisReply *reply;
	va_list args;

	va_start(args, fmt);
	reply = redisvCommand(r->redis, fmt, args);
	va_end(args);
	if (reply != NULL && reply->type == type) {
		return reply;
	}
	buf_printf(r->why, "Redis: %s: %s", fmt,
		   reply != NULL && reply->str != NULL ? reply->str
						       : r->redis->errstr);
	freeReplyObject(reply);
	return NULL;
}

static bool sign_in(struct reader *r, const struct redis_url *url)
{
	redisReply *reply = NULL;

	if (url->password[0] != '\0') {
		reply = ask(r, REDIS_REPLY_STATUS, "AUTH %s %s",
			    url->user[0] != '\0' ? url->user : "default",
			    url->password);
		if (reply == NULL) {
			return false;
		}
		freeReplyObject(reply);
	}
	reply = ask(r, REDIS_REPLY_STATUS, "SELECT %u", url->db);
	freeReplyObject(reply);
	return reply != NULL;
}

static void take_claim(struct reader *r, struct bytes text)
{
	struct check_claim claim;
	const char *why_not = "";
	struct claim parsed;

	if (!claim_parse(text, &parsed, &why_not)) {
		check_violation(r->check, "%s: Redis has the claim %.*s: %s",
				r->activity->id, BYTES_FMT(text), why_not);
		return;
	}
	claim = (struct check_claim){ .amount_cents =
					      parsed.packet.amount_cents,
				      .at_ms = parsed.at_ms,
				      .seq = parsed.seq,
				      .tranche = parsed.tranche };
	list_digest_add(&r->digest, &parsed.packet);
	snprintf(claim.packet, sizeof claim.packet, "%.*s",
		 BYTES_FMT(parsed.packet.red_packet_id));
	check_enter_claim(r->activity, CHECK_REDIS, &claim, parsed.user_id);
}

static void take_packet(struct reader *r, struct bytes text)
{
	struct packet packet;
	const char *why_not = "";

	if (!packet_parse(text, &packet, &why_not)) {
		check_violation(r->check, "%s: Redis has the packet %.*s: %s",
				r->activity->id, BYTES_FMT(text), why_not);
		return;
	}
	list_digest_add(&r->digest, &packet);
	check_enter_left(r->activity, packet.red_packet_id,
			 packet.amount_cents);
}

static void take_event(struct reader *r, struct bytes text)
{
	Rain__ActivityEvent *e = NULL;
	const char *why_not = "";
	struct buf packed;

	buf_init(&packed);
	if (event_text_pack(bytes_str(r->activity->id), text, &packed,
			    &why_not)) {
		e = proto_unpack(&rain__activity_event__descriptor,
				 buf_live(&packed), ARENA_MAX);
	}
	if (e == NULL) {
		check_violation(r->check, "%s: Redis has the event %.*s: %s",
				r->activity->id, BYTES_FMT(text), why_not);
	} else {
		check_enter_message(r->activity, CHECK_REDIS, e);
	}
	proto_free(e);
	buf_close(&packed);
}

/* All elements, the oldest first: it was pushed at the head. */
static bool read_list(struct reader *r, const char *list,
		      void (*take)(struct reader *r, struct bytes text))
{
	int64_t end = -1;
	size_t n;

	do {
		redisReply *reply =
			ask(r, REDIS_REPLY_ARRAY,
			    "LRANGE rain:{%s}:%s %" PRId64 " %" PRId64,
			    r->activity->id, list, end - PAGE + 1, end);

		if (reply == NULL) {
			return false;
		}
		n = reply->elements;
		for (size_t i = n; i-- > 0;) {
			take(r, bytes_make(reply->element[i]->str,
					   reply->element[i]->len));
		}
		freeReplyObject(reply);
		end -= PAGE;
	} while (n == PAGE);
	return true;
}

/* What each user is told must be the claim, and every user have one. */
static bool read_users(struct reader *r)
{
	struct check_activity *a = r->activity;
	redisReply *reply =
		ask(r, REDIS_REPLY_ARRAY, "HGETALL rain:{%s}:users", a->id);

	if (reply == NULL) {
		return false;
	}
	for (size_t i = 0; i + 1 < reply->elements; i += 2) {
		struct bytes user = bytes_make(reply->element[i]->str,
					       reply->element[i]->len);
		struct bytes text = bytes_make(reply->element[i + 1]->str,
					       reply->element[i + 1]->len);
		const struct check_claim *in =
			&check_person(a, user)->in[CHECK_REDIS];
		const char *why_not = "";
		struct claim claim;

		if (!claim_parse(text, &claim, &why_not) ||
		    !bytes_eq(claim.user_id, user) || claim.seq != in->seq ||
		    claim.at_ms != in->at_ms ||
		    claim.packet.amount_cents != in->amount_cents ||
		    !bytes_eq(claim.packet.red_packet_id,
			      bytes_str(in->packet))) {
			check_violation(r->check,
					"%s: %.*s is told %.*s, and has "
					"claimed packet '%s', %" PRId64
					" cents, seq %" PRIu64,
					a->id, BYTES_FMT(user), BYTES_FMT(text),
					in->packet, in->amount_cents, in->seq);
		}
	}
	a->books.counts.users = reply->elements / 2;
	freeReplyObject(reply);
	return true;
}

static void take_view(struct check_activity *a, const struct activity_view *v)
{
	a->known = v->known;
	a->state = v->state;
	a->revision = v->revision;
	a->start_ms = v->plan.start_ms;
	a->end_ms = v->plan.end_ms;
	a->release_ms = v->plan.release_ms;
	a->leftover_cents = v->leftover_cents;
	a->lists_gone = v->unlinked;
	a->adopted = plan_is_adopted(&v->plan);
	a->live = v->plan.rule.live;
	a->books.plan_cents = view_cents(v);
	a->books.plan_packets = view_packets(v);
	a->books.topped_up = v->topup_count > 0;
	a->books.unloaded_cents = v->unloaded_cents;
	check_enter_tranche(a, v->mixed, &v->plan.rule, v->id_base);
	snprintf(a->tranches[0].commitment, PLAN_COMMITMENT, "%s",
		 v->commitment);
	for (size_t i = 0; i < v->topup_count; i++) {
		const struct view_topup *t = &v->topups[i];

		check_enter_tranche(a, t->seed, &t->tranche.rule, t->id_base);
		snprintf(a->tranches[i + 1].commitment, PLAN_COMMITMENT, "%s",
			 t->commitment);
		a->tranches[i + 1].loaded = t->loaded;
	}
}

static int64_t number_of(const redisReply *meta, const char *name)
{
	uint64_t n;

	return bytes_to_u64(view_field(meta, name), AMOUNT_MAX_CENTS, &n)
		       ? (int64_t)n
		       : -1;
}

/* Of these three the view knows no difference between none and 0. */
static void take_drawn(struct check_activity *a, const redisReply *meta)
{
	const struct check_live drawn = {
		.left = number_of(meta, "left"),
		.balance_cents = number_of(meta, "balance"),
		.claimed_cents = number_of(meta, "claimed_cents"),
	};

	check_enter_drawn(a, &drawn);
}

static bool read_meta(struct reader *r)
{
	redisReply *reply = ask(r, REDIS_REPLY_ARRAY, "HGETALL rain:{%s}:meta",
				r->activity->id);
	struct activity_view view;

	if (reply == NULL) {
		return false;
	}
	view_parse(reply, &view);
	if (view.problem[0] != '\0') {
		check_violation(r->check, "%s: %s", r->activity->id,
				view.problem);
	} else if (view.known) {
		if (!view_is_committed(&view)) {
			check_violation(r->check,
					"%s: seed and plan are not those of "
					"the commitment",
					r->activity->id);
		}
		if (r->activity->plan != NULL && !plan_is_adopted(&view.plan)) {
			check_violation(r->check,
					"%s: its list was to be adopted, and "
					"its plan makes packets",
					r->activity->id);
			r->activity->plan_count = 0;
		}
		snprintf(r->list, sizeof r->list, "%s", view.list);
		take_view(r->activity, &view);
		if (view.plan.rule.live) {
			take_drawn(r->activity, reply);
		}
	}
	freeReplyObject(reply);
	return true;
}

/* What was claimed and what is left is still the list that was opened. */
static void judge_list(struct reader *r)
{
	char found[LIST_DIGEST_TEXT];

	list_digest_hex(&r->digest, found);
	if (r->list[0] != '\0' && !r->activity->lists_gone &&
	    strcmp(found, r->list) != 0) {
		check_violation(
			r->check,
			"%s: claims and packets make the digest %s, the "
			"list that was opened had %s",
			r->activity->id, found, r->list);
	}
}

static bool read_all(struct reader *r)
{
	struct check_activity *a = r->activity;

	if (!read_meta(r) || !read_list(r, "claims", take_claim) ||
	    !read_list(r, "packets", take_packet) ||
	    !read_list(r, "events", take_event) || !read_users(r)) {
		return false;
	}
	judge_list(r);
	a->books.counts.claims = a->books.sums[BOOK_REDIS].count;
	a->books.counts.left = a->books.left.count;
	return true;
}

int check_read_redis(const char *url, struct check_activity *a, struct check *c,
		     struct buf *why)
{
	struct reader r = { .check = c, .activity = a, .why = why };
	struct redis_url parsed;
	const char *wrong = redis_url_parse(url, &parsed);
	bool ok = false;

	if (wrong != NULL) {
		buf_printf(why, "redis.url: %s", wrong);
		return CTL_USAGE;
	}
	r.redis = connect_to(&parsed);
	if (r.redis == NULL || r.redis->err != 0) {
		buf_printf(why, "Redis at %s: %s", parsed.address,
			   r.redis != NULL ? r.redis->errstr : "no address");
	} else {
		list_digest_init(&r.digest);
		ok = sign_in(&r, &parsed) && read_all(&r);
		list_digest_close(&r.digest);
	}
	redisFree(r.redis);
	return ok ? CTL_OK : CTL_UNKNOWN;
}
