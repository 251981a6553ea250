/**
 * Addresses as people write them: "127.0.0.1:7000", "[::1]:7000",
 * "host.name:7000", "unix:/run/rain.sock". localhost is 127.0.0.1, always.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <sys/socket.h>

#include "base/check.h"

enum {
	ADDRESS_TEXT_MAX = 300, /* with its NUL */
	ADDRESS_HOST_MAX = 256,
	ADDRESS_PATH_MAX = 108, /* of sockaddr_un */
};

enum address_kind {
	ADDRESS_IP,   /* sock is complete */
	ADDRESS_NAME, /* host must be resolved */
	ADDRESS_UNIX, /* path */
};

struct address {
	enum address_kind kind;
	struct sockaddr_storage sock; /* ADDRESS_IP */
	char host[ADDRESS_HOST_MAX];  /* not ADDRESS_UNIX */
	char port[6];                 /* not ADDRESS_UNIX; "0" to "65535" */
	char path[ADDRESS_PATH_MAX];  /* ADDRESS_UNIX */
};

/** 0, or UV_EINVAL if text is none of the above. Resolves nothing. */
must_check int address_parse(const char *text, struct address *a);

/** The length of what is in an IPv4 or IPv6 sock. */
socklen_t address_length(const struct sockaddr_storage *sock);

/** "127.0.0.1:7000" or "[::1]:7000"; "?" for another family. */
void address_format(const struct sockaddr_storage *sock,
		    char out[ADDRESS_TEXT_MAX]);

#endif
