#include <criterion/criterion.h>

#include "client/redis_url.h"

struct good {
	const char *text;
	const char *address;
	const char *user;
	const char *password;
	unsigned db;
};

static const struct good good[] = {
	{ "redis://127.0.0.1:6379", "127.0.0.1:6379", "", "", 0 },
	{ "redis://localhost", "localhost:6379", "", "", 0 },
	{ "redis://localhost/", "localhost:6379", "", "", 0 },
	{ "redis://h:1/15", "h:1", "", "", 15 },
	{ "redis://[::1]:7000/2", "[::1]:7000", "", "", 2 },
	{ "redis://[::1]", "[::1]:6379", "", "", 0 },
	{ "redis://u:p@h:1", "h:1", "u", "p", 0 },
	{ "redis://:p@h:1/3", "h:1", "", "p", 3 },
	{ "redis://p@h:1", "h:1", "", "p", 0 },
	{ "redis://u%3a:p%40%2F%25@h:1", "h:1", "u:", "p@/%", 0 },
	{ "redis://u:a:b@c@h:1", "h:1", "u", "a:b@c", 0 },
	{ "redis://u:a/b@h:1", "h:1", "u", "a/b", 0 },
	{ "unix:/run/redis.sock", "unix:/run/redis.sock", "", "", 0 },
	{ "unix:///run/redis.sock", "unix:/run/redis.sock", "", "", 0 },
	{ "unix:/run/redis.sock?db=4", "unix:/run/redis.sock", "", "", 4 },
	{ "unix://u:p@/run/r?db=4", "unix:/run/r", "u", "p", 4 },
};

static const char *const bad[] = {
	"",
	"redis",
	"redis:/",
	"redis://",
	"redis://:6379",
	"redis://h:port",
	"redis://h:70000",
	"redis://h:1/x",
	"redis://h:1/99999",
	"redis://u:@h:1",
	"redis://u:%zz@h:1",
	"redis://u:%0@h:1",
	"redis://u:%00@h:1",
	"rediss://h:1",
	"http://h:1",
	"unix:",
	"unix:/",
	"unix:run/redis.sock",
	"unix://run/redis.sock",
	"unix:/run/redis.sock?d=4",
	"unix:/run/redis.sock?db=x",
};

Test(redis_url, good)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct good *g = &good[i];
		struct redis_url u;

		cr_expect_null(redis_url_parse(g->text, &u), "%s: %s", g->text,
			       redis_url_parse(g->text, &u));
		cr_expect_str_eq(u.address, g->address, "%s", g->text);
		cr_expect_str_eq(u.user, g->user, "%s", g->text);
		cr_expect_str_eq(u.password, g->password, "%s", g->text);
		cr_expect_eq(u.db, g->db, "%s", g->text);
	}
}

Test(redis_url, bad)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct redis_url u;

		cr_expect_not_null(redis_url_parse(bad[i], &u), "%s", bad[i]);
	}
}

Test(redis_url, too_long)
{
	char text[2000] = "redis://:";
	struct redis_url u;

	memset(text + 9, 'p', REDIS_SECRET_MAX);
	memcpy(text + 9 + REDIS_SECRET_MAX, "@h:1", 5);
	cr_expect_not_null(redis_url_parse(text, &u));
	memcpy(text + 9 + REDIS_SECRET_MAX - 1, "@h:1", 5);
	cr_expect_null(redis_url_parse(text, &u));
	memcpy(text, "unix:/sss", 9);
	cr_expect_not_null(redis_url_parse(text, &u));
}
