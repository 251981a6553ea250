#include "console/pages.h"

#include "proto/proto_util.h"

enum { PAGE = 1000 };

/* Reading a list page by page: one request, sent again with *after moved. */
struct pages {
	struct dubbo_client *client;
	const struct dubbo_target *target;
	const ProtobufCMessage *request;
	uint64_t *after; /* in the request */
	const ProtobufCMessageDescriptor *d;
	/* Give what the page has to the caller and move *after. CTL_OK with *n
	 * elements, or another CTL_ with a sentence in why. */
	int (*give)(const struct pages *p, const void *reply, size_t *n,
		    struct buf *why);
	claim_cb claim; /* the one that give needs */
	packet_cb packet;
	record_cb record;
	void *ctx;
};

static int read_pages(struct ctl *ctl, const struct pages *p, struct buf *why)
{
	size_t n = 0;

	do {
		void *reply;
		int rc = ctl_call(ctl, p->client, p->target, p->request, p->d,
				  &reply, why);

		if (rc == CTL_OK) {
			rc = p->give(p, reply, &n, why);
			proto_free(reply);
		}
		if (rc != CTL_OK) {
			return rc;
		}
	} while (n == PAGE);
	return CTL_OK;
}

static int refused(Rain__Outcome outcome, ProtobufCBinaryData message,
		   struct buf *why)
{
	buf_put_bytes(why, from_pb(message));
	return refusal_rc(outcome);
}

static int give_claims(const struct pages *p, const void *reply, size_t *n,
		       struct buf *why)
{
	const Rain__ClaimsReply *r = reply;

	if (r->outcome != RAIN__OUTCOME__DONE) {
		return refused(r->outcome, r->message, why);
	}
	for (size_t i = 0; i < r->n_claims; i++) {
		p->claim(p->ctx, r->claims[i]);
	}
	*n = r->n_claims;
	*p->after += r->n_claims;
	return CTL_OK;
}

int pages_claims(struct ctl *ctl, const char *activity, claim_cb take,
		 void *ctx, struct buf *why)
{
	Rain__PageRequest q = RAIN__PAGE_REQUEST__INIT;
	struct pages p = { .client = ctl_grab(ctl),
			   .target = &ctl_claims,
			   .request = &q.base,
			   .after = &q.after,
			   .d = &rain__claims_reply__descriptor,
			   .give = give_claims,
			   .claim = take,
			   .ctx = ctx };

	q.activity_id = to_pb_str(activity);
	q.limit = PAGE;
	return read_pages(ctl, &p, why);
}

static int give_packets(const struct pages *p, const void *reply, size_t *n,
			struct buf *why)
{
	const Rain__PacketsReply *r = reply;

	if (r->outcome != RAIN__OUTCOME__DONE) {
		return refused(r->outcome, r->message, why);
	}
	for (size_t i = 0; i < r->n_packets; i++) {
		p->packet(p->ctx, r->packets[i]);
	}
	*n = r->n_packets;
	*p->after += r->n_packets;
	return CTL_OK;
}

int pages_packets(struct ctl *ctl, const char *activity, packet_cb take,
		  void *ctx, struct buf *why)
{
	Rain__PageRequest q = RAIN__PAGE_REQUEST__INIT;
	struct pages p = { .client = ctl_grab(ctl),
			   .target = &ctl_packets,
			   .request = &q.base,
			   .after = &q.after,
			   .d = &rain__packets_reply__descriptor,
			   .give = give_packets,
			   .packet = take,
			   .ctx = ctx };

	q.activity_id = to_pb_str(activity);
	q.limit = PAGE;
	return read_pages(ctl, &p, why);
}

static int give_records(const struct pages *p, const void *reply, size_t *n,
			struct buf *why)
{
	const Rain__RecordsReply *r = reply;

	(void)why;
	for (size_t i = 0; i < r->n_records; i++) {
		p->record(p->ctx, r->records[i]);
		*p->after = r->records[i]->seq;
	}
	*n = r->n_records;
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
			   .d = &rain__records_reply__descriptor,
			   .give = give_records,
			   .record = take,
			   .ctx = ctx };

	q.activity_id = to_pb_str(activity);
	q.limit = PAGE;
	return read_pages(ctl, &p, why);
}
