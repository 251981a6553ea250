#include "client/redis_url.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/rand.h"

static bool starts_with(struct bytes text, struct bytes prefix)
{
	return text.n >= prefix.n && memcmp(text.p, prefix.p, prefix.n) == 0;
}

static void skip(struct bytes *text, size_t n)
{
	text->p += n;
	text->n -= n;
}

/* Cut text at the last c: what is before it goes to *head. */
static bool cut_last(struct bytes *text, char c, struct bytes *head)
{
	const uint8_t *at = memrchr(text->p, c, text->n);

	if (at == NULL) {
		return false;
	}
	*head = bytes_make(text->p, (size_t)(at - text->p));
	skip(text, head->n + 1);
	return true;
}

/* Undo %XX. A NUL is refused: these are strings from here on. */
static bool decode(struct bytes in, char out[REDIS_SECRET_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < in.n; i++) {
		uint8_t c = in.p[i];

		if (c == '%') {
			if (i + 2 >= in.n ||
			    hex_decode((const char *)in.p + i + 1, 2, &c, 1) !=
				    0) {
				return false;
			}
			i += 2;
		}
		if (c == '\0' || n + 1 >= REDIS_SECRET_MAX) {
			return false;
		}
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return true;
}

/* "user:password", ":password"; without a colon it is a password alone, as
 * redis-cli reads it. */
static const char *parse_secret(struct bytes secret, struct redis_url *out)
{
	const uint8_t *colon = memchr(secret.p, ':', secret.n);
	struct bytes user = { secret.p, 0 };

	if (colon != NULL) {
		user.n = (size_t)(colon - secret.p);
		skip(&secret, user.n + 1);
	}
	if (!decode(user, out->user) || !decode(secret, out->password)) {
		return "user or password is too long or has a bad % in it";
	}
	if (out->user[0] != '\0' && out->password[0] == '\0') {
		return "a user needs a password";
	}
	return NULL;
}

static const char *parse_db(struct bytes text, struct redis_url *out)
{
	uint64_t db = 0;

	if (text.n > 0 && !bytes_to_u64(text, REDIS_DB_MAX, &db)) {
		return "the database must be a number";
	}
	out->db = (unsigned)db;
	return NULL;
}

static const char *parse_unix(struct bytes text, struct redis_url *out)
{
	const char *wrong = NULL;
	struct bytes path;
	struct bytes secret;

	if (starts_with(text, BYTES("//"))) {
		skip(&text, 2);
		if (text.n > 0 && text.p[0] != '/') {
			if (!cut_last(&text, '@', &secret)) {
				return "the path must begin with /";
			}
			wrong = parse_secret(secret, out);
		}
	}
	path = text;
	if (wrong == NULL && cut_last(&text, '?', &path)) {
		if (!starts_with(text, BYTES("db="))) {
			return "only ?db=N may follow the path";
		}
		skip(&text, 3);
		wrong = parse_db(text, out);
	}
	if (wrong != NULL) {
		return wrong;
	}
	if (path.n < 2 || path.p[0] != '/' || path.n >= ADDRESS_PATH_MAX) {
		return "the path must begin with / and be shorter than 108";
	}
	snprintf(out->address, sizeof(out->address), "unix:%.*s",
		 BYTES_FMT(path));
	return NULL;
}

static const char *parse_tcp(struct bytes text, struct redis_url *out)
{
	const char *wrong;
	struct bytes secret;
	struct bytes host;
	bool bare;

	if (cut_last(&text, '@', &secret)) {
		wrong = parse_secret(secret, out);
		if (wrong != NULL) {
			return wrong;
		}
	}
	host = text;
	if (cut_last(&text, '/', &host)) {
		wrong = parse_db(text, out);
		if (wrong != NULL) {
			return wrong;
		}
	}
	if (host.n == 0 || host.n >= ADDRESS_HOST_MAX) {
		return "a host is missing or too long";
	}
	bare = host.p[host.n - 1] == ']' || memchr(host.p, ':', host.n) == NULL;
	snprintf(out->address, sizeof(out->address), "%.*s%s", BYTES_FMT(host),
		 bare ? ":6379" : "");
	return NULL;
}

const char *redis_url_parse(const char *text, struct redis_url *out)
{
	struct bytes rest = bytes_str(text);
	struct address address;
	const char *wrong;

	memset(out, 0, sizeof(*out));
	if (starts_with(rest, BYTES("redis://"))) {
		skip(&rest, 8);
		wrong = parse_tcp(rest, out);
	} else if (starts_with(rest, BYTES("unix:"))) {
		skip(&rest, 5);
		wrong = parse_unix(rest, out);
	} else if (starts_with(rest, BYTES("rediss://"))) {
		wrong = "TLS to Redis is not supported: put stunnel between";
	} else {
		wrong = "it must begin with redis:// or unix:";
	}
	if (wrong == NULL && address_parse(out->address, &address) != 0) {
		wrong = "the address is not host:port";
	}
	return wrong;
}
