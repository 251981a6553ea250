/**
 * From an element of events (lua/README.md) to the ActivityEvent that Kafka
 * carries.
 */
#ifndef GRAB_EVENT_TEXT_H
#define GRAB_EVENT_TEXT_H

#include "base/buf.h"

/**
 * Append the packed rain.ActivityEvent. False if the text is not an element of
 * events; then *why (static) says what is wrong and out is untouched.
 */
must_check bool event_text_pack(struct bytes activity_id, struct bytes text,
				struct buf *out, const char **why);

#endif
