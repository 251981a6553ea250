/* What a list must be that somebody else has made. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "grab-service/adopt.h"

static char why[ADOPT_WHY];
static char digest[LIST_DIGEST_TEXT];

static struct adopt *begin(uint64_t count, int64_t total_cents, uint64_t mask)
{
	const struct allocate_rule rule = {
		.total_cents = total_cents,
		.count = count,
		.min_cents = 10,
		.max_cents = 5000,
		.algorithm = ALLOCATE_ADOPTED,
	};

	return adopt_new(&rule, mask);
}

static enum adopt_result next(struct adopt *a, const char *element)
{
	return adopt_next(a, bytes_str(element), why);
}

/* sha256sum of the three lines. */
Test(adopt, a_list_that_is_good_has_a_digest)
{
	struct adopt *a = begin(3, 1731, UINT64_MAX);

	cr_assert_eq(next(a, "{\"redPacketId\":\"365628617880842241\","
			     "\"amount\":\"12.21\"}"),
		     ADOPT_GOOD);
	cr_assert_eq(next(a, "{\"redPacketId\":\"b\",\"amount\":\"5\"}"),
		     ADOPT_GOOD);
	cr_assert_eq(next(a, "{\"redPacketId\":\"a:1\",\"amount\":\"0.1\"}"),
		     ADOPT_GOOD);
	cr_assert(adopt_whole(a, digest, why), "%s", why);
	cr_assert_str_eq(
		digest,
		"f004acb90597eb0749a880b89f720f56c0a26e268ed0976089b2f72fc5cc7e8e");
	adopt_free(a);
	adopt_free(NULL);
}

static void wrong(const char *element, const char *said)
{
	struct adopt *a = begin(3, 300, UINT64_MAX);

	cr_assert_eq(next(a, "{\"redPacketId\":\"1\",\"amount\":\"1.00\"}"),
		     ADOPT_GOOD);
	cr_expect_eq(next(a, element), ADOPT_WRONG, "%s", element);
	cr_expect_str_eq(why, said);
	adopt_free(a);
}

Test(adopt, what_is_wrong_is_named_with_its_place)
{
	wrong("{\"redPacketId\":\"2\",\"amount\":\"0.09\"}",
	      "packet 2 in Redis has 0.09, which is out of the plan's bounds");
	wrong("{\"redPacketId\":\"2\",\"amount\":\"50.01\"}",
	      "packet 2 in Redis has 50.01, which is out of the plan's "
	      "bounds");
	wrong("{\"redPacketId\":\"2\",\"amount\":\"0.00\"}",
	      "packet 2 in Redis is no packet: the amount is not 0.01 or "
	      "more");
	wrong("{\"redPacketId\":\"2\",\"amount\":1.00}",
	      "packet 2 in Redis is no packet: no amount behind the id");
	wrong("{\"redPacketId\":\"a b\",\"amount\":\"1.00\"}",
	      "packet 2 in Redis is no packet: the id is not 1 to 64 "
	      "characters of A-Z a-z 0-9 _ . : @ -");
	wrong("{\"redPacketId\":\"2\",\"amount\":\"1.00\"} ",
	      "packet 2 in Redis is no packet: something behind the end");
	wrong("{ \"redPacketId\":\"2\",\"amount\":\"1.00\"}",
	      "packet 2 in Redis is no packet: does not begin with the id");
	wrong("", "packet 2 in Redis is no packet: does not begin with the id");
}

static const char *packet(unsigned id, char out[80])
{
	(void)snprintf(out, 80, "{\"redPacketId\":\"%u\",\"amount\":\"1.00\"}",
		       id);
	return out;
}

/* As the service does, with what lies at the older place. Returns how often it
 * had to look. */
static unsigned put(struct adopt *a, const unsigned *ids, unsigned n,
		    enum adopt_result *result)
{
	char text[80];
	unsigned looks = 0;

	*result = next(a, packet(ids[n], text));
	while (*result == ADOPT_LOOK) {
		looks++;
		*result = adopt_look(
			a, bytes_str(packet(ids[adopt_like(a) - 1], text)),
			why);
		if (*result == ADOPT_GOOD) {
			*result = next(a, packet(ids[n], text));
		}
	}
	return looks;
}

/* However many ids have the same hash, none is refused that is there once, and
 * one that is there twice is found. */
Test(adopt, equal_hashes_are_no_equal_ids)
{
	static const uint64_t masks[] = { 0, 1, 7, UINT64_MAX };

	for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
		struct adopt *a = begin(100, 9900, masks[m]);
		unsigned ids[100], looks = 0;
		enum adopt_result result;

		for (unsigned i = 0; i < 99; i++) {
			ids[i] = 5000 - i;
			looks += put(a, ids, i, &result);
			cr_assert_eq(result, ADOPT_GOOD, "%u: %s", i, why);
		}
		cr_assert(masks[m] == 0            ? looks == 98 * 99 / 2
			  : masks[m] == UINT64_MAX ? looks == 0
						   : looks > 0);
		ids[99] = 5000 - 60;
		(void)put(a, ids, 99, &result);
		cr_assert_eq(result, ADOPT_WRONG);
		cr_assert_str_eq(why, "packets 61 and 100 in Redis have the "
				      "same id 4940");
		adopt_free(a);
	}
}

static void hold(const char *amount, int64_t total_cents, const char *said)
{
	const struct allocate_rule rule = { .total_cents = total_cents,
					    .count = 2,
					    .min_cents = 1 };
	struct adopt *a = adopt_new(&rule, UINT64_MAX);
	char text[80];

	for (int i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof text,
			       "{\"redPacketId\":\"%d\",\"amount\":\"%s\"}", i,
			       amount);
		cr_assert_eq(next(a, text), ADOPT_GOOD);
	}
	cr_expect_not(adopt_whole(a, digest, why));
	cr_expect_str_eq(why, said);
	adopt_free(a);
}

Test(adopt, together_they_hold_the_total)
{
	hold("49.50", 10000,
	     "the packets in Redis hold 99.00, 100.00 in the plan");
	hold("50.01", 10000,
	     "the packets in Redis hold 100.02, 100.00 in the plan");
	hold("90071992547409.91", AMOUNT_MAX_CENTS,
	     "the packets in Redis hold more than 90071992547409.91, "
	     "90071992547409.91 in the plan");
}
