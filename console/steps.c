#include "console/steps.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"

enum { STANDSTILL_MS = 60000 };

/* How many of the packets are in Redis; false if nobody answers that either. */
static bool look(struct ctl *ctl, const Rain__ActivityRequest *q,
		 uint64_t *loaded, uint64_t *packets)
{
	const Rain__ActivityReply *r;
	struct buf why;
	bool known = false;
	void *reply;

	buf_init(&why);
	if (ctl_call(ctl, ctl_grab(ctl), &ctl_get, &q->base,
		     &rain__activity_reply__descriptor, &reply,
		     &why) == CTL_OK) {
		r = reply;
		known = r->activity != NULL && r->activity->plan != NULL;
		*loaded = known ? r->activity->loaded : 0;
		*packets = known ? r->activity->plan->packets : 0;
		for (size_t i = 0; known && i < r->activity->n_topups; i++) {
			*packets += r->activity->topups[i]->packets;
		}
		proto_free(reply);
	}
	buf_close(&why);
	return known;
}

int step_repeat(struct ctl *ctl, const struct dubbo_target *target,
		const ProtobufCMessage *message, const char *id, void **reply,
		struct buf *why)
{
	uint64_t deadline = clock_mono_ms() + STANDSTILL_MS;
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;
	uint64_t before = 0;

	q.activity_id = to_pb_str(id);
	for (;;) {
		uint64_t loaded, packets;
		int rc;

		buf_take(why, buf_len(why));
		rc = ctl_call(ctl, ctl_grab(ctl), target, message,
			      &rain__activity_reply__descriptor, reply, why);
		if (rc != CTL_UNKNOWN || !look(ctl, &q, &loaded, &packets)) {
			return rc;
		}
		if (loaded != before) {
			deadline = clock_mono_ms() + STANDSTILL_MS;
			before = loaded;
			if (!ctl->json && loaded < packets) {
				fprintf(stderr,
					"%s: %" PRIu64 " of %" PRIu64
					" packets are in Redis\n",
					id, loaded, packets);
			}
		}
		if (clock_mono_ms() >= deadline) {
			return rc;
		}
	}
}

int step_long(struct ctl *ctl, const char *method, const char *id, void **reply,
	      struct buf *why)
{
	const struct dubbo_target target = { "rain.ActivityService", "1.0.0",
					     method, "Lrain/ActivityRequest;" };
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;

	q.activity_id = to_pb_str(id);
	return step_repeat(ctl, &target, &q.base, id, reply, why);
}

int step_get(struct ctl *ctl, const char *activity, void **reply,
	     struct buf *why)
{
	Rain__ActivityRequest q = RAIN__ACTIVITY_REQUEST__INIT;
	const Rain__ActivityReply *r;
	int rc;

	q.activity_id = to_pb_str(activity);
	rc = ctl_call(ctl, ctl_grab(ctl), &ctl_get, &q.base,
		      &rain__activity_reply__descriptor, reply, why);
	if (rc != CTL_OK) {
		return rc;
	}
	r = *reply;
	if (r->activity != NULL && r->activity->plan != NULL) {
		return CTL_OK;
	}
	buf_put_bytes(why, from_pb(r->message));
	rc = refusal_rc(r->outcome);
	proto_free(*reply);
	return rc;
}
