/**
 * Captured bytes that tests read: files of lines "NAME HEX", # for comments,
 * below tests/unit/dubbo_vectors.
 */
#ifndef TESTS_LIB_VECTORS_H
#define TESTS_LIB_VECTORS_H

#include "base/buf.h"

/** The bytes called name in file; fails the test if there are none. The
 * caller gives them back by buf_close(). */
struct buf vector_load(const char *file, const char *name);

#endif
