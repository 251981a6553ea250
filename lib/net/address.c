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

bool address_check(const char *key, const char *text, struct buf *problems)
{
	struct address a;

	if (text[0] == '\0' || address_parse(text, &a) == 0) {
		return true;
	}
	buf_printf(problems,
		   "%s: \"%s\" is no address; allowed: host:port, "
		   "[IPv6]:port or unix:/path\n",
		   key, text);
	return false;
}

static bool element_check(const char *key, struct bytes text,
			  struct buf *problems)
{
	struct address a;
	char *copy;
	bool ok;

	while (text.n > 0 && text.p[0] == ' ') {
		text = bytes_make(text.p + 1, text.n - 1);
	}
	while (text.n > 0 && text.p[text.n - 1] == ' ') {
		text.n--;
	}
	copy = xstrndup(text.p, text.n);
	ok = address_parse(copy, &a) == 0;
	if (!ok) {
		buf_printf(problems,
			   "%s: \"%s\" is no address; allowed: host:port, "
			   "[IPv6]:port or unix:/path, at most %d of them with "
			   "commas between\n",
			   key, copy, ADDRESS_LIST_MAX);
	}
	free(copy);
	return ok;
}

bool address_list_check(const char *key, const char *list, struct buf *problems)
{
	bool ok = true;
	int count = 0;

	while (list[0] != '\0') {
		size_t n = strcspn(list, ",");

		ok = element_check(key, bytes_make(list, n), problems) && ok;
		count++;
		list += n;
		if (list[0] == ',' && list[1] == '\0') {
			ok = element_check(key, BYTES(""), problems) && ok;
		}
		list += list[0] == ',';
	}
	if (count > ADDRESS_LIST_MAX) {
		buf_printf(problems, "%s: %d addresses; allowed: at most %d\n",
			   key, count, ADDRESS_LIST_MAX);
		return false;
	}
	return ok;
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
