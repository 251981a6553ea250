/**
 * Ids of users and activities: [A-Za-z0-9_.:@-]{1,64}, opaque, compared byte
 * by byte, checked at every door.
 */
#ifndef BASE_ID_H
#define BASE_ID_H

#include "base/bytes.h"

enum { ID_MAX = 64 };

#define ID_RULE "1 to 64 characters of A-Z a-z 0-9 _ . : @ -"

/** True for a well-formed id. */
bool id_valid(struct bytes id);

/** A user id, or the user of a void claim: '#' and digits. */
bool id_valid_claimant(struct bytes id);

#endif
