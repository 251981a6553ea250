#include "net/address.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <uv.h>

#include "base/bytes.h"

static int parse_path(const char *path, struct address *a)
{
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(a->path)) {
		return UV_EINVAL;
	}
	a->kind = ADDRESS_UNIX;
	memcpy(a->path, path, n + 1);
	return 0;
}

int address_parse(const char *text, struct address *a)
{
	static const char loopback[] = "127.0.0.1";
	const char *colon = strrchr(text, ':');
	const char *host = text;
	struct bytes digits;
	uint64_t port;
	size_t n;

	memset(a, 0, sizeof(*a));
	if (strncmp(text, "unix:", 5) == 0) {
		return parse_path(text + 5, a);
	}
	if (colon == NULL) {
		return UV_EINVAL;
	}
	digits = bytes_str(colon + 1);
	n = (size_t)(colon - text);
	if (digits.n == 0 || digits.n > 5 ||
	    !bytes_to_u64(digits, 65535, &port)) {
		return UV_EINVAL;
	}
	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	} else if (memchr(host, ':', n) != NULL) {
		return UV_EINVAL; /* where an IPv6 address ends is unclear */
	}
	if (n == 0 || n >= sizeof(a->host)) {
		return UV_EINVAL;
	}
	memcpy(a->host, host, n);
	snprintf(a->port, sizeof(a->port), "%u", (unsigned)port);
	a->kind = ADDRESS_IP;
	/* A minimal machine has no /etc/hosts, and localhost is no business of
	 * a name server (RFC 6761). */
	if (strcasecmp(a->host, "localhost") == 0) {
		memcpy(a->host, loopback, sizeof(loopback));
	}
	if (uv_ip4_addr(a->host, (int)port, (struct sockaddr_in *)&a->sock) !=
		    0 &&
	    uv_ip6_addr(a->host, (int)port, (struct sockaddr_in6 *)&a->sock) !=
		    0) {
		a->kind = ADDRESS_NAME;
	}
	return 0;
}

socklen_t address_length(const struct sockaddr_storage *sock)
{
	return sock->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in);
}

void address_format(const struct sockaddr_storage *sock,
		    char out[ADDRESS_TEXT_MAX])
{
	const struct sockaddr_in *in4 = (const void *)sock;
	const struct sockaddr_in6 *in6 = (const void *)sock;
	char host[INET6_ADDRSTRLEN] = "";

	if (sock->ss_family == AF_INET) {
		(void)uv_ip4_name(in4, host, sizeof(host));
		snprintf(out, ADDRESS_TEXT_MAX, "%s:%u", host,
			 ntohs(in4->sin_port));
	} else if (sock->ss_family == AF_INET6) {
		(void)uv_ip6_name(in6, host, sizeof(host));
		snprintf(out, ADDRESS_TEXT_MAX, "[%s]:%u", host,
			 ntohs(in6->sin6_port));
	} else {
		snprintf(out, ADDRESS_TEXT_MAX, "?");
	}
}
