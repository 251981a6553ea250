/* The tables of the limits: what is kept, what makes room, what an address
 * is counted as. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "gateway/limits.h"
#include "gateway/options.h"

static const int64_t second = 1000000000;
static const struct gateway_options options = {
	.connections_max = 10,
	.users_max = 90,
	.addresses_max = 1,
	.activities_max = 1,
};

static struct bytes name_of(char *text, size_t size, unsigned n)
{
	(void)snprintf(text, size, "user-%u", n);
	return bytes_str(text);
}

Test(tables, one_entry_for_one_name)
{
	struct limits *l = limits_new(&options);
	struct limited *a = limits_pin(l, LIMIT_USER, BYTES("alice"), second);
	struct limited *b = limits_pin(l, LIMIT_USER, BYTES("alice2"), second);

	cr_assert(a != NULL && b != NULL && a != b);
	cr_assert_eq(limits_pin(l, LIMIT_USER, BYTES("alice"), second), a);
	cr_assert_eq(limits_pins(l, LIMIT_USER, a), 2);
	cr_assert(limits_names(a, BYTES("alice")));
	cr_assert(!limits_names(a, BYTES("alice2")));
	limits_unpin(l, LIMIT_USER, a, second);
	cr_assert_eq(limits_count(l, LIMIT_USER), 2);
	limits_unpin(l, LIMIT_USER, a, second);
	/* Nobody needs it and it owes nothing. */
	cr_assert_eq(limits_count(l, LIMIT_USER), 1);
	limits_unpin(l, LIMIT_USER, b, second);
	limits_unpin(l, LIMIT_USER, NULL, second);
	limits_free(l);
}

/* Or a user would be rid of what it owes by coming again. */
Test(tables, who_owes_is_remembered)
{
	struct limits *l = limits_new(&options);
	struct rate r = rate_make(1, 2);
	struct limited *a = limits_pin(l, LIMIT_USER, BYTES("alice"), second);

	cr_assert_eq(bucket_take(&a->taken, r, second), 0);
	cr_assert_eq(bucket_take(&a->taken, r, second), 0);
	limits_unpin(l, LIMIT_USER, a, second);
	cr_assert_gt(limits_take(l, LIMIT_USER, BYTES("alice"), r, second), 0);
	a = limits_pin(l, LIMIT_USER, BYTES("alice"), second);
	cr_assert_gt(bucket_take(&a->taken, r, second), 0);
	limits_unpin(l, LIMIT_USER, a, 4 * second);
	cr_assert_eq(limits_count(l, LIMIT_USER), 0);
	limits_free(l);
}

Test(tables, the_newest_is_refused_and_those_who_owe_nothing_go)
{
	struct limits *l = limits_new(&options);
	struct rate slow = rate_make(1, 1000);
	struct rate quick = rate_make(100, 1);
	char text[32];

	/* One who owes for long came first: it must not hide the others. */
	for (unsigned i = 0; i < 1000; i++) {
		cr_assert_eq(
			limits_take(l, LIMIT_USER, BYTES("long"), slow, second),
			0);
	}
	for (unsigned i = 1; i < 100; i++) {
		cr_assert_eq(limits_take(l, LIMIT_USER,
					 name_of(text, sizeof text, i), quick,
					 second),
			     0);
	}
	cr_assert_eq(limits_count(l, LIMIT_USER), 100);
	cr_assert_eq(limits_take(l, LIMIT_USER, BYTES("new"), quick, second),
		     -1);
	cr_assert(limits_pin(l, LIMIT_USER, BYTES("new"), second) == NULL);
	/* Whoever is known is not new. */
	cr_assert_gt(limits_take(l, LIMIT_USER, BYTES("user-7"), quick, second),
		     0);
	/* 10 ms later most are full again. */
	for (unsigned i = 1000; i < 1099; i++) {
		cr_assert_eq(limits_take(l, LIMIT_USER,
					 name_of(text, sizeof text, i), quick,
					 second + 20000000),
			     0, "%u", i);
	}
	cr_assert_gt(limits_take(l, LIMIT_USER, BYTES("long"), slow, second),
		     0);
	limits_free(l);
}

Test(tables, as_many_as_come)
{
	enum { MANY = 5000 };
	struct gateway_options large = options;
	struct limited **pinned = xcalloc(MANY, sizeof(pinned[0]));
	struct limits *l;
	char text[32];

	large.connections_max = MANY;
	l = limits_new(&large);
	for (unsigned i = 0; i < MANY; i++) {
		pinned[i] = limits_pin(l, LIMIT_USER,
				       name_of(text, sizeof text, i), second);
		cr_assert_eq(limits_count(l, LIMIT_USER), i + 1);
	}
	for (unsigned i = 0; i < MANY; i++) {
		struct bytes name = name_of(text, sizeof text, i);

		cr_assert(limits_names(pinned[i], name));
		cr_assert_eq(limits_pin(l, LIMIT_USER, name, second),
			     pinned[i]);
		limits_unpin(l, LIMIT_USER, pinned[i], second);
		cr_assert_eq(limits_pins(l, LIMIT_USER, pinned[i]), 1);
	}
	for (unsigned i = 0; i < MANY; i++) {
		limits_unpin(l, LIMIT_USER, pinned[i], second);
	}
	cr_assert_eq(limits_count(l, LIMIT_USER), 0);
	free(pinned);
	limits_free(l);
}

/* Strangers choose the ids of activities: a million of them leave nothing. */
Test(tables, names_without_number)
{
	struct limits *l = limits_new(&options);
	struct rate r = rate_make(1000000, 1000);
	char text[32];

	for (unsigned i = 0; i < 1000000; i++) {
		int64_t now = second + (int64_t)i * 2000;

		cr_assert_eq(limits_take(l, LIMIT_ACTIVITY,
					 name_of(text, sizeof text, i), r, now),
			     0);
		cr_assert_leq(limits_count(l, LIMIT_ACTIVITY), 11);
	}
	limits_free(l);
}

static size_t key_of(const char *address, uint8_t key[LIMIT_ADDRESS_SIZE])
{
	struct sockaddr_storage sock = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&sock;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&sock;

	if (inet_pton(AF_INET, address, &in->sin_addr) == 1) {
		sock.ss_family = AF_INET;
	} else if (inet_pton(AF_INET6, address, &in6->sin6_addr) == 1) {
		sock.ss_family = AF_INET6;
	} else {
		sock.ss_family = AF_UNIX;
	}
	return limit_address_key(&sock, key);
}

static bool same(const char *a, const char *b)
{
	uint8_t one[LIMIT_ADDRESS_SIZE];
	uint8_t two[LIMIT_ADDRESS_SIZE];
	size_t n = key_of(a, one);

	return n == key_of(b, two) && memcmp(one, two, n) == 0;
}

Test(tables, addresses)
{
	cr_assert(same("192.0.2.1", "192.0.2.1"));
	cr_assert(!same("192.0.2.1", "192.0.2.2"));
	cr_assert(same("::ffff:192.0.2.1", "192.0.2.1"));
	/* Whoever has an IPv6 address has 2^64 of them. */
	cr_assert(same("2001:db8::1", "2001:db8::ffff:1:2:3"));
	cr_assert(!same("2001:db8::1", "2001:db8:0:1::1"));
	cr_assert(same("unix", "unix"));
	cr_assert(!same("unix", "0.0.0.0"));
}
