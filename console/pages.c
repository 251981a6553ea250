#include "console/pages.h"

#include "proto/proto_util.h"

enum { PAGE = 1000 };

/* Reading a list page by page: one request, sent again with *after moved. */
struct pages {
	struct dubbo_client *client;
	const struct dubbo_target *target;
	const ProtobufCMessage *request;
	uint64_t *after; /* in the request */
	uint32_t *limit; /* there too */
	const ProtobufCMessageDescriptor *d;
	/* Give what the page has to the caller and move *after. CTL_OK, *more if
	 * this was not the end; or another CTL_ with a sentence in why. */
	int (*give)(const struct pages *p, const void *reply, bool *more,
		    struct buf *why);
	claim_cb claim; /* the one that give needs */
	packet_cb packet;
	record_cb record;
	bad_cb bad; /* NULL: an element that can't be read ends it */
	void *ctx;
};

static int read_pages(struct ctl *ctl, const struct pages *p, struct buf *why)
{
	bool more = false;

	do {
		void *reply;
		int rc = ctl_call(ctl, p->client, p->target, p->request, p->d,
				  &reply, why);

		if (rc == CTL_OK) {
			rc = p->give(p, reply, &more, why);
			proto_free(reply);
		}
		if (rc != CTL_OK) {
			return rc;
		}
	} while (more);
	return CTL_OK;
}

/* What was given: n elements. */
static void gave(const struct pages *p, size_t n, bool *more)
{
	*more = n == *p->limit;
	*p->after += n;
	*p->limit = PAGE;
}

/* CONFLICT is only said of an element that can't be read, the one behind n
 * good ones. These are asked for alone, to have all that belongs to them. */
static int refused(const struct pages *p, Rain__Outcome outcome,
		   ProtobufCBinaryData message, size_t n, bool *more,
		   struct buf *why)
{
	if (outcome != RAIN__OUTCOME__CONFLICT || p->bad == NULL) {
		buf_put_bytes(why, from_pb(message));
		return refusal_rc(outcome);
	}
	if (n > 0 && n < *p->limit) {
		*p->limit = (uint32_t)n;
		*more = true;
		return CTL_OK;
	}
	*p->after += 1;
	*p->limit = PAGE;
	*more = p->bad(p->ctx, from_pb(message));
	return CTL_OK;
}

static int give_claims(const struct pages *p, const void *reply, bool *more,
		       struct buf *why)
{
	const Rain__ClaimsReply *r = reply;

	if (r->outcome != RAIN__OUTCOME__DONE) {
		return refused(p, r->outcome, r->message, r->n_claims, more,
			       why);
	}
	for (size_t i = 0; i < r->n_claims; i++) {
		p->claim(p->ctx, r->claims[i]);
	}
	gave(p, r->n_claims, more);
	return CTL_OK;
}

int pages_claims_past(struct ctl *ctl, const char *activity, claim_cb take,
		      bad_cb bad, void *ctx, struct buf *why)
{
	Rain__PageRequest q = RAIN__PAGE_REQUEST__INIT;
	struct pages p = { .client = ctl_grab(ctl),
			   .target = &ctl_claims,
			   .request = &q.base,
			   .after = &q.after,
			   .limit = &q.limit,
			   .d = &rain__claims_reply__descriptor,
			   .give = give_claims,
			   .claim = take,
			   .bad = bad,
			   .ctx = ctx };

	q.activity_id = to_pb_str(activity);
	q.limit = PAGE;
	return read_pages(ctl, &p, why);
}

int pages_claims(struct ctl *ctl, const char *activity, claim_cb take,
		 void *ctx, struct buf *why)
{
	return pages_claims_past(ctl, activity, take, NULL, ctx, why);
}

static int give_packets(const struct pages *p, const void *reply, bool *more,
			struct buf *why)
{
	const Rain__PacketsReply *r = reply;

	if (r->outcome != RAIN__OUTCOME__DONE) {
		return refused(p, r->outcome, r->message, r->n_packets, more,
			       why);
	}
	for (size_t i = 0; i < r->n_packets; i++) {
		p->packet(p->ctx, r->packets[i]);
	}
	gave(p, r->n_packets, more);
	return CTL_OK;
}

int pages_packets_past(struct ctl *ctl, const char *activity, packet_cb take,
		       bad_cb bad, void *ctx, struct buf *why)
{
	Rain__PageRequest q = RAIN__PAGE_REQUEST__INIT;
	struct pages p = { .client = ctl_grab(ctl),
			   .target = &ctl_packets,
			   .request = &q.base,
			   .after = &q.after,
			   .limit = &q.limit,
			   .d = &rain__packets_reply__descriptor,
			   .give = give_packets,
			   .packet = take,
			   .bad = bad,
			   .ctx = ctx };

	q.activity_id = to_pb_str(activity);
	q.limit = PAGE;
	return read_pages(ctl, &p, why);
}

int pages_packets(struct ctl *ctl, const char *activity, packet_cb take,
		  void *ctx, struct buf *why)
{
	return pages_packets_past(ctl, activity, take, NULL, ctx, why);
}

static int give_records(const struct pages *p, const void *reply, bool *more,
			struct buf *why)
{
	const Rain__RecordsReply *r = reply;

	(void)why;
	for (size_t i = 0; i < r->n_records; i++) {
		p->record(p->ctx, r->records[i]);
		*p->after = r->records[i]->seq;
	}
	*more = r->n_records == *p->limit;
	return CTL_OK;
}

int pages_records(struct ctl *ctl, const char *activity, record_cb take,
		  void *ctx, struct buf *why)
{
	Rain__RecordsRequest q = RAIN__RECORDS_REQUEST__INIT;
	struct pages p = { .client = ctl_ledger(ctl),
			   .target = &ctl_records,
			   .request = &q.base,
			   .after = &q.after,
			   .limit = &q.limit,
			   .d = &rain__records_reply__descriptor,
			   .give = give_records,
			   .record = take,
			   .ctx = ctx };

	q.activity_id = to_pb_str(activity);
	q.limit = PAGE;
	return read_pages(ctl, &p, why);
}
