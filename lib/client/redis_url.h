/**
 * The address of a Redis as people write it:
 *
 *   redis://[[user]:password@]host[:port][/db]     IPv6: redis://[::1]:6379
 *   unix:/path[?db=N]
 *   unix://[[user]:password@]/path[?db=N]
 *
 * User and password may hold %XX.
 */
#ifndef CLIENT_REDIS_URL_H
#define CLIENT_REDIS_URL_H

#include "base/check.h"
#include "net/address.h"

enum { REDIS_SECRET_MAX = 512, REDIS_DB_MAX = 65535 };

struct redis_url {
	char address[ADDRESS_TEXT_MAX];  /* for stream_connect(); no secret */
	char user[REDIS_SECRET_MAX];     /* "": the default user */
	char password[REDIS_SECRET_MAX]; /* "": no AUTH */
	unsigned db;                     /* 0: no SELECT */
};

/** Parse text into *out; resolves nothing. NULL, or what is wrong with it: a
 * static sentence that repeats nothing of text, which may hold a password. */
must_check const char *redis_url_parse(const char *text, struct redis_url *out);

#endif
