/* The text of packets and claims, and nothing like it. */
#include <criterion/criterion.h>

#include "grab-service/claim.h"

#define PACKET "{\"redPacketId\":\"365628617880842241\",\"amount\":\"12.21\"}"
#define CLAIM                                                           \
	"{\"redPacketId\":\"365628617880842241\",\"amount\":\"12.21\"," \
	"\"userId\":\"u:1\",\"seq\":17,\"atMs\":1764430000000,"         \
	"\"tranche\":2}"

Test(claim, a_packet_is_read_and_written)
{
	struct packet p;
	const char *why;
	char text[PACKET_TEXT_MAX];

	cr_assert(packet_parse(bytes_str(PACKET), &p, &why), "%s", why);
	cr_assert(bytes_eq(p.red_packet_id, BYTES("365628617880842241")));
	cr_assert_eq(p.amount_cents, 1221);
	cr_assert_eq(packet_format(&p, text), strlen(PACKET));
	cr_assert_str_eq(text, PACKET);
}

Test(claim, the_longest_packet_fits)
{
	char id[ID_MAX];
	char text[PACKET_TEXT_MAX];
	const char *why;
	struct packet p = { .red_packet_id = { (const uint8_t *)id, ID_MAX },
			    .amount_cents = AMOUNT_MAX_CENTS };
	size_t n;

	memset(id, '9', ID_MAX);
	n = packet_format(&p, text);
	cr_assert(packet_parse(bytes_make(text, n), &p, &why), "%s", why);
	cr_assert_eq(p.amount_cents, AMOUNT_MAX_CENTS);
}

Test(claim, a_claim_is_read)
{
	struct claim c;
	const char *why;

	cr_assert(claim_parse(bytes_str(CLAIM), &c, &why), "%s", why);
	cr_assert(
		bytes_eq(c.packet.red_packet_id, BYTES("365628617880842241")));
	cr_assert_eq(c.packet.amount_cents, 1221);
	cr_assert(bytes_eq(c.user_id, BYTES("u:1")));
	cr_assert_eq(c.seq, 17);
	cr_assert_eq(c.at_ms, 1764430000000);
	cr_assert_eq(c.tranche, 2);
}

Test(claim, a_void_claim_has_a_user_of_its_own)
{
	struct claim c;
	const char *why;

	cr_assert(claim_parse(BYTES("{\"redPacketId\":\"1\",\"amount\":\"1\","
				    "\"userId\":\"#3\",\"seq\":3,\"atMs\":0,"
				    "\"tranche\":1}"),
			      &c, &why),
		  "%s", why);
	cr_assert(bytes_eq(c.user_id, BYTES("#3")));
	cr_assert_eq(c.packet.amount_cents, 100);
}

Test(claim, no_other_text_is_a_packet)
{
	static const char *const wrong[] = {
		"",
		"{}",
		" " PACKET,
		PACKET " ",
		PACKET "\n",
		CLAIM,
		"{\"amount\":\"12.21\",\"redPacketId\":\"1\"}",
		"{\"redPacketId\": \"1\",\"amount\":\"12.21\"}",
		"{\"redPacketId\":1,\"amount\":\"12.21\"}",
		"{\"redPacketId\":\"1\",\"amount\":12.21}",
		"{\"redPacketId\":\"1\",\"amount\":\"12.211\"}",
		"{\"redPacketId\":\"1\",\"amount\":\"-1\"}",
		"{\"redPacketId\":\"1\",\"amount\":\"1e2\"}",
		"{\"redPacketId\":\"1\",\"amount\":\"0.00\"}",
		"{\"redPacketId\":\"1\",\"amount\":\"0\"}",
		"{\"redPacketId\":\"1\",\"amount\":\"\"}",
		"{\"redPacketId\":\"\",\"amount\":\"1.00\"}",
		"{\"redPacketId\":\"a\\u0041\",\"amount\":\"1.00\"}",
		"{\"redPacketId\":\"#1\",\"amount\":\"1.00\"}",
		"{'redPacketId':'1','amount':'1.00'}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct packet p;
		const char *why = NULL;

		cr_expect(!packet_parse(bytes_str(wrong[i]), &p, &why), "%s",
			  wrong[i]);
		cr_expect(why != NULL && why[0] != '\0');
	}
}

/* Every prefix, and every text with one byte changed to a space. */
Test(claim, no_other_text_is_a_claim)
{
	char text[sizeof(CLAIM)];
	struct claim c;
	const char *why;

	for (size_t n = 0; n < strlen(CLAIM); n++) {
		cr_expect(!claim_parse(bytes_make(CLAIM, n), &c, &why), "%zu",
			  n);
		memcpy(text, CLAIM, sizeof(text));
		text[n] = ' ';
		cr_expect(!claim_parse(bytes_str(text), &c, &why), "%s", text);
	}
	cr_expect(!claim_parse(bytes_str(CLAIM " "), &c, &why));
	cr_expect(!claim_parse(
		BYTES("{\"redPacketId\":\"1\",\"amount\":\"1.00\",\"userId\":"
		      "\"u\",\"seq\":017,\"atMs\":1,\"tranche\":1}"),
		&c, &why));
	cr_expect(!claim_parse(
		BYTES("{\"redPacketId\":\"1\",\"amount\":\"1.00\",\"userId\":"
		      "\"u\",\"seq\":0,\"atMs\":1,\"tranche\":1}"),
		&c, &why));
}
