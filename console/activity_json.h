/** What people and scripts are shown of an activity. */
#ifndef CONSOLE_ACTIVITY_JSON_H
#define CONSOLE_ACTIVITY_JSON_H

#include <jansson.h>

#include "console/ctl.h"
#include "rain/activity_service.pb-c.h"

/** The word for a state, static. */
const char *activity_state(Rain__State state);

/** An object of the caller's. Amounts are text as in Redis; times are as
 * output_time() has them. */
json_t *activity_json(const struct ctl *ctl, const Rain__Activity *a);

#endif
