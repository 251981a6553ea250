/**
 * A hash of an id with a key that nobody else knows: for tables of this
 * process, in which nobody can make ids meet on purpose.
 */
#ifndef GRAB_ID_HASH_H
#define GRAB_ID_HASH_H

#include "base/bytes.h"

/** Never 0. */
uint64_t id_hash(uint64_t key, struct bytes id);

#endif
