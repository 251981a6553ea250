/**
 * The fake services of gateway_rig.h: start and stop.
 */
#ifndef TESTS_LIB_GATEWAY_FAKE_H
#define TESTS_LIB_GATEWAY_FAKE_H

#include "lib/gateway_rig.h"

/** Listen on a free port; answers WON at first. */
void fake_start(struct fake *f, struct stream_hub *hub);

/** Stop listening and end what is held. Safe if it has vanished or never
 * started. */
void fake_stop(struct fake *f);

#endif
