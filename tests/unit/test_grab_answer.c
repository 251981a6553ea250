/* From what Redis says about a user to what the user is told. */
#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <string.h>

#include "grab-service/answer.h"
#include "rain/gateway.pb-c.h"

#define CLAIM                                                              \
	"{\"redPacketId\":\"1000\",\"amount\":\"12.21\",\"userId\":\"u\"," \
	"\"seq\":17,\"atMs\":1764430000000,\"tranche\":1}"

static struct answer judge(int64_t status, const char *claim, bool unsure,
			   bool question, bool counts)
{
	struct verdict v = {
		.status = status,
		.claim = bytes_str(claim),
		.user = BYTES("u"),
		.unsure = unsure,
		.question = question,
		.counts = counts,
	};
	struct claim told;

	return answer_make(&v, &told);
}

/* What a gateway may tell again, and for how long. */
Test(answer, what_stands)
{
	static const int moves[] = { RAIN__STATUS__SOLD_OUT,
				     RAIN__STATUS__ENDED, RAIN__STATUS__PAUSED,
				     RAIN__STATUS__NOT_STARTED };
	static const int never[] = { RAIN__STATUS__WON,
				     RAIN__STATUS__ALREADY_GRABBED,
				     RAIN__STATUS__BUSY,
				     RAIN__STATUS__PENDING,
				     RAIN__STATUS__NO_SUCH_ACTIVITY,
				     RAIN__STATUS__DENIED,
				     RAIN__STATUS__NOT_YET };
	struct answer a;

	for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
		cr_expect_eq(answer_stands_ms(moves[i], 0), UINT32_MAX);
	}
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		cr_expect_eq(answer_stands_ms(never[i], 0), 0);
	}
	/* Not a millisecond longer than nobody can win. */
	cr_expect_eq(answer_stands_ms(RAIN__STATUS__NOT_STARTED, 700), 700);
	cr_expect_eq(answer_stands_ms(RAIN__STATUS__NOT_YET, 7), 7);
	cr_expect_eq(answer_stands_ms(RAIN__STATUS__NOT_YET, INT64_MAX),
		     UINT32_MAX);
	a = judge(RAIN__STATUS__SOLD_OUT, "", false, false, false);
	cr_expect_eq(a.stands_ms, UINT32_MAX);
	/* Of a question, or where the claim may be what is missing. */
	a = judge(RAIN__STATUS__SOLD_OUT, "", false, true, false);
	cr_expect_eq(a.stands_ms, 0);
	a = judge(RAIN__STATUS__ENDED, "", false, false, true);
	cr_expect_eq(a.stands_ms, 0);
	/* What is PENDING because an earlier try is on its way. */
	a = judge(RAIN__STATUS__PAUSED, "", true, false, false);
	cr_expect_eq(a.status, RAIN__STATUS__PENDING);
	cr_expect_eq(a.stands_ms, 0);
}

/* A reply of a grab with one user, whose answer is in RESP here. */
static void read_one(const char *resp, struct verdict *v)
{
	static const char before[] =
		"*9\r\n$2\r\nOK\r\n:1764430000000\r\n:5\r\n"
		"$4\r\nOPEN\r\n:3\r\n:17\r\n:20\r\n:0\r\n";
	redisReader *reader = redisReaderCreate();
	void *r = NULL;
	struct step_reply reply;

	cr_assert_eq(redisReaderFeed(reader, before, strlen(before)), REDIS_OK);
	cr_assert_eq(redisReaderFeed(reader, resp, strlen(resp)), REDIS_OK);
	cr_assert_eq(redisReaderGetReply(reader, &r), REDIS_OK);
	cr_assert(step_reply_read(r, &reply));
	/* Of one who was not asked for nothing is known. */
	answer_read(&reply, 1, v);
	cr_assert_eq(v->status, RAIN__STATUS__PENDING);
	answer_read(&reply, 0, v);
	freeReplyObject(r);
	redisReaderFree(reader);
}

/* A number, a claim, or a claim that was there before. */
Test(answer, what_a_reply_says_of_a_user)
{
	static const struct {
		const char *resp;
		int status;
		size_t claim_n;
	} rows[] = {
		{ "$5\r\n{\"a\"}\r\n", RAIN__STATUS__WON, 5 },
		{ "$6\r\n*{\"a\"}\r\n", RAIN__STATUS__ALREADY_GRABBED, 5 },
		/* A claim of which nothing is left is no refusal. */
		{ "$1\r\n*\r\n", RAIN__STATUS__ALREADY_GRABBED, 0 },
		{ ":3\r\n", RAIN__STATUS__SOLD_OUT, 0 },
		{ "$0\r\n\r\n", RAIN__STATUS__PENDING, 0 },
		{ "$-1\r\n", RAIN__STATUS__PENDING, 0 },
		{ "*0\r\n", RAIN__STATUS__PENDING, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct verdict v = { .status = RAIN__STATUS__WON };

		read_one(rows[i].resp, &v);
		cr_expect_eq(v.status, rows[i].status, "%zu", i);
		cr_expect_eq(v.claim.n, rows[i].claim_n, "%zu", i);
	}
}

Test(answer, packet_of_the_claim)
{
	struct answer a = judge(RAIN__STATUS__WON, CLAIM, false, false, false);

	cr_assert_eq(a.status, RAIN__STATUS__WON);
	cr_assert_eq(a.amount_cents, 1221);
	cr_assert_eq(a.at_ms, 1764430000000);
	cr_assert(bytes_eq(a.red_packet_id, BYTES("1000")));
	cr_assert_eq(a.retry_after_ms, 0);
}

Test(answer, claim_that_is_unreadable_or_anothers_is_pending)
{
	struct verdict v = {
		.status = RAIN__STATUS__WON,
		.claim = BYTES(CLAIM),
		.user = BYTES("v"),
	};
	struct claim claim;

	cr_assert_eq(answer_make(&v, &claim).status, RAIN__STATUS__PENDING);
	cr_assert_eq(claim.seq, 0);
	v.user = BYTES("u");
	(void)answer_make(&v, &claim);
	cr_assert_eq(claim.seq, 17);
	v.claim = BYTES("x");
	cr_assert_eq(answer_make(&v, &claim).status, RAIN__STATUS__PENDING);
}

Test(answer, busy_is_a_promise_that_an_unsure_grab_can_not_give)
{
	cr_assert_eq(judge(RAIN__STATUS__BUSY, "", false, false, false).status,
		     RAIN__STATUS__BUSY);
	cr_assert_eq(judge(RAIN__STATUS__BUSY, "", true, false, false).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(judge(RAIN__STATUS__PAUSED, "", true, false, false).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(
		judge(RAIN__STATUS__SOLD_OUT, "", true, false, false).status,
		RAIN__STATUS__SOLD_OUT);
}

Test(answer, question_under_wrong_counts_is_pending)
{
	cr_assert_eq(judge(RAIN__STATUS__BUSY, "", false, true, true).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(judge(RAIN__STATUS__BUSY, "", false, true, false).status,
		     RAIN__STATUS__BUSY);
	cr_assert_eq(judge(99, "", false, false, false).status,
		     RAIN__STATUS__PENDING);
}

Test(answer, every_wait_says_how_long)
{
	static const int waits[] = {
		RAIN__STATUS__NOT_STARTED, RAIN__STATUS__NOT_YET,
		RAIN__STATUS__PAUSED,      RAIN__STATUS__BUSY,
		RAIN__STATUS__PENDING,
	};

	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
		cr_expect_gt(answer_retry_ms(waits[i], 0), 0);
	}
	cr_assert_geq(answer_retry_ms(RAIN__STATUS__NOT_STARTED, 700), 700);
	cr_assert_leq(answer_retry_ms(RAIN__STATUS__NOT_STARTED, 86400000),
		      10050);
	/* Not before the next packet, and not all at once. */
	for (int i = 0; i < 100; i++) {
		uint32_t wait = answer_retry_ms(RAIN__STATUS__NOT_YET, 2000);

		cr_assert(wait >= 2000 && wait <= 3000, "%u", wait);
		wait = answer_retry_ms(RAIN__STATUS__NOT_YET, 1);
		cr_assert(wait >= 100 && wait <= 150, "%u", wait);
	}
	cr_assert_leq(answer_retry_ms(RAIN__STATUS__NOT_YET, 86400000), 15000);
	cr_assert_eq(answer_retry_ms(RAIN__STATUS__ENDED, 0), 0);
}
