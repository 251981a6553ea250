/**
 * Asking for an activity, and for its steps that take long: preload, the check
 * before open, top-up.
 */
#ifndef CONSOLE_STEPS_H
#define CONSOLE_STEPS_H

#include "console/ctl.h"

/**
 * Call a method about activity id with message, and ask again while the answer
 * does not come in time: whoever asks again joins the work that goes on.
 * Tells on stderr how far it is, but not with --json. CTL_OK with *reply, a
 * Rain__ActivityReply to be freed by proto_free(); else another CTL_ with a
 * sentence in why, CTL_UNKNOWN too when nothing has moved for a minute.
 */
int step_repeat(struct ctl *ctl, const struct dubbo_target *target,
		const ProtobufCMessage *message, const char *id, void **reply,
		struct buf *why);

/** The same for method ("preload", "open") with an ActivityRequest. */
int step_long(struct ctl *ctl, const char *method, const char *id, void **reply,
	      struct buf *why);

/** Ask for an activity. CTL_OK with *reply, a Rain__ActivityReply that has the
 * activity and its plan, to be freed by proto_free(); else another CTL_ with a
 * sentence in why. */
int step_get(struct ctl *ctl, const char *activity, void **reply,
	     struct buf *why);

#endif
