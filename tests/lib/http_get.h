/**
 * One HTTP request of a test, blocking, with a deadline.
 */
#ifndef TESTS_LIB_HTTP_GET_H
#define TESTS_LIB_HTTP_GET_H

#include "base/buf.h"

/** Ask 127.0.0.1:port for path. The status, 0 if nothing usable came; body (or
 * NULL) holds what followed the head, with a NUL behind. */
int http_request(int port, const char *method, const char *path,
		 struct buf *body);

#endif
