/* Addresses and the URL of a Redis, as people write them; the first byte
 * chooses. */
#include <netinet/in.h>
#include <stdlib.h>

#include "client/redis_url.h"
#include "fuzz/fuzz.h"

/* The interface of fe80::1%eth0 is not shown. */
static bool shown_whole(const struct sockaddr_storage *sock)
{
	const struct sockaddr_in6 *in6 = (const void *)sock;

	return sock->ss_family != AF_INET6 || in6->sin6_scope_id == 0;
}

static void check_address(const struct address *a)
{
	char again[ADDRESS_TEXT_MAX];
	struct address b;
	uint64_t port;

	switch (a->kind) {
	case ADDRESS_UNIX:
		check(a->path[0] != '\0');
		check(memchr(a->path, 0, sizeof a->path) != NULL);
		return;
	case ADDRESS_NAME:
		check(a->host[0] != '\0');
		break;
	case ADDRESS_IP:
		address_format(&a->sock, again);
		check(address_parse(again, &b) == 0);
		check(b.kind == ADDRESS_IP);
		check(!shown_whole(&a->sock) ||
		      memcmp(&a->sock, &b.sock, address_length(&a->sock)) == 0);
		break;
	}
	check(memchr(a->host, 0, sizeof a->host) != NULL);
	check(bytes_to_u64(bytes_str(a->port), UINT16_MAX, &port));
}

static void try_address(const char *text)
{
	struct address a;
	struct buf problems;
	bool good;

	buf_init(&problems);
	good = address_parse(text, &a) == 0;
	if (good) {
		check_address(&a);
	}
	check(address_check("a.b", text, &problems) ==
	      (good || text[0] == '\0'));
	check((good || text[0] == '\0') == (buf_len(&problems) == 0));
	buf_take(&problems, buf_len(&problems));
	good = address_list_check("a.b", text, &problems);
	check(good == (buf_len(&problems) == 0));
	check(good || fuzz_is_lines(buf_live(&problems)));
	buf_close(&problems);
}

static void try_redis(const char *text)
{
	struct redis_url url;
	const char *wrong = redis_url_parse(text, &url);
	struct address a;

	if (wrong != NULL) {
		check(wrong[0] != '\0');
		return;
	}
	check(address_parse(url.address, &a) == 0);
	check_address(&a);
	check(url.user[0] == '\0' || url.password[0] != '\0');
	check(url.db <= REDIS_DB_MAX);
	/* What stands behind an @ has no secret, and nothing else is logged. */
	check(a.kind == ADDRESS_UNIX || strchr(url.address, '@') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = bytes_make(data, size);
	bool redis = fuzz_choice(&input) % 2 == 1;
	char *text = xstrndup(input.p, input.n);

	if (redis) {
		try_redis(text);
	} else {
		try_address(text);
	}
	free(text);
	return 0;
}
