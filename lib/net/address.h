/**
 * Addresses as people write them: "127.0.0.1:7000", "[::1]:7000",
 * "host.name:7000", "unix:/run/rain.sock". localhost is 127.0.0.1, always.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <sys/socket.h>

#include "base/buf.h"
#include "base/check.h"

enum {
	ADDRESS_TEXT_MAX = 300, /* with its NUL */
	ADDRESS_HOST_MAX = 256,
	ADDRESS_PATH_MAX = 108, /* of sockaddr_un */
	ADDRESS_LIST_MAX = 64,  /* addresses in a list */
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

/** For a configuration: whether text is an address that a service can listen
 * on; else a line is appended to problems, with key and what is allowed. An
 * empty text is the business of whoever has the key. */
bool address_check(const char *key, const char *text, struct buf *problems);

/** The same for addresses to connect to, with commas between, as
 * dubbo_client_new() takes them. */
bool address_list_check(const char *key, const char *list,
			struct buf *problems);

/** The length of what is in an IPv4 or IPv6 sock. */
socklen_t address_length(const struct sockaddr_storage *sock);

/** "127.0.0.1:7000" or "[::1]:7000"; "?" for another family. */
void address_format(const struct sockaddr_storage *sock,
		    char out[ADDRESS_TEXT_MAX]);

#endif
