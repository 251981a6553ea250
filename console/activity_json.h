/** What people and scripts are shown of an activity. */
#ifndef CONSOLE_ACTIVITY_JSON_H
#define CONSOLE_ACTIVITY_JSON_H

#include <jansson.h>

#include "console/ctl.h"
#include "rain/activity_service.pb-c.h"

/** The word for a state, static. */
const char *activity_state(Rain__State state);

/** An object of the caller's. Amounts are text as in Redis; times are as
 * output_time() has them. Once it was closed it has final_claims and final_left
 * (numbers of claims and of packets that were left), and leftover: the money of
 * these and of what was never loaded, null until it is counted. */
json_t *activity_json(const struct ctl *ctl, const Rain__Activity *a);

#endif
