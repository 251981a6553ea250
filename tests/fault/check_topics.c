#include <stdio.h>

#include "console/topic_reader.h"
#include "fault/check.h"
#include "proto/proto_util.h"

enum { ARENA_MAX = 16384 };

/* The activity of a message, if it is one that we are to look at. */
static struct check_activity *wanted(struct check *c, ProtobufCBinaryData id)
{
	struct check_activity *a;
	char text[ID_MAX + 1];

	if (!id_valid(from_pb(id))) {
		return NULL;
	}
	snprintf(text, sizeof text, "%.*s", BYTES_FMT(from_pb(id)));
	HASH_FIND_STR(c->activities, text, a);
	return a != NULL && a->wanted ? a : NULL;
}

static void claim_cb(void *ctx, struct bytes key, struct bytes value)
{
	struct check *c = ctx;
	Rain__ClaimEvent *e =
		proto_unpack(&rain__claim_event__descriptor, value, ARENA_MAX);
	struct check_activity *a;
	struct check_claim claim;

	if (e == NULL) {
		check_violation(c,
				"the topic of the claims has a message of "
				"%zu bytes that is no claim",
				value.n);
		return;
	}
	a = wanted(c, e->activity_id);
	if (a != NULL) {
		claim = (struct check_claim){ .amount_cents = e->amount_cents,
					      .at_ms = e->at_ms,
					      .seq = e->seq,
					      .tranche = e->tranche };
		snprintf(claim.packet, sizeof claim.packet, "%.*s",
			 BYTES_FMT(from_pb(e->red_packet_id)));
		check_enter_claim(a, CHECK_TOPIC, &claim, from_pb(e->user_id));
		if (!bytes_eq(key, from_pb(e->user_id))) {
			check_violation(c,
					"%s: the claim of %.*s has the key "
					"%.*s",
					a->id, BYTES_FMT(from_pb(e->user_id)),
					BYTES_FMT(key));
		}
	}
	proto_free(e);
}

static void event_cb(void *ctx, struct bytes key, struct bytes value)
{
	struct check *c = ctx;
	Rain__ActivityEvent *e = proto_unpack(&rain__activity_event__descriptor,
					      value, ARENA_MAX);
	struct check_activity *a;

	(void)key;
	if (e == NULL) {
		check_violation(c,
				"the topic of the activities has a message "
				"of %zu bytes that is no event",
				value.n);
		return;
	}
	a = wanted(c, e->activity_id);
	if (a != NULL) {
		check_enter_message(a, CHECK_TOPIC, e);
	}
	proto_free(e);
}

int check_read_topics(struct ctl *ctl, struct check *c, struct buf *why)
{
	if (topic_read(ctl->config.pairs, ctl->config.pair_count,
		       ctl->options.topic_claims, claim_cb, c, why) != 0 ||
	    topic_read(ctl->config.pairs, ctl->config.pair_count,
		       ctl->options.topic_activities, event_cb, c, why) != 0) {
		return CTL_UNKNOWN;
	}
	return CTL_OK;
}
