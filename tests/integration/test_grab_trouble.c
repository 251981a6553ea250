/* Redis answers with trouble, or not at all; a fake says what a real one says
 * rarely. What users are told, and that the same grab is asked again. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lib/grab_rig.h"
#include "lib/redis_fake.h"
#include "rain/gateway.pb-c.h"

#define NOW           "1764430000000"
#define BULK(n, s)    "$" #n "\r\n" s "\r\n"
#define HEAD(n, code) "*" #n "\r\n" code ":" NOW "\r\n:5\r\n" BULK(4, "OPEN")
#define COUNTS        ":1\r\n:1\r\n:2\r\n:0\r\n"
/* What is said of the one user who was asked for. */
#define REPLY(answer)   HEAD(9, BULK(2, "OK")) COUNTS answer
#define REFUSAL(status) REPLY(":" #status "\r\n")
#define CLAIM                                                       \
	"{\"redPacketId\":\"1000\",\"amount\":\"1.00\",\"userId\":" \
	"\"u\",\"seq\":1,\"atMs\":1764430000000,\"tranche\":1}"
#define WIN  REPLY(BULK(92, CLAIM))
#define HELD REPLY(BULK(93, "*" CLAIM))

static struct grab_rig rig;
static struct fake fake;
static const char *script[8]; /* what is said to one script after the other;
			       * NULL hangs up */
static int said;
static int halts;

static void on_command(struct fake_conn *c, const redisReply *command)
{
	const char *text = "-ERR not now\r\n";

	if (strcmp(fake_word(command, 0), "TIME") == 0) {
		fake_say(c, "*2\r\n" BULK(10, "1764430000") BULK(1, "0"));
		return;
	}
	if (strcmp(fake_word(command, 9), "halt") == 0) {
		halts++;
	} else if (said < 8) {
		text = script[said++];
	}
	if (text == NULL) {
		fake_hang_up(c);
	} else {
		fake_say(c, text);
	}
}

static void to_the_fake(struct grab_options *o)
{
	o->redis_url = fake.url;
}

static void start(void)
{
	rig_open(&rig);
	memset(&fake, 0, sizeof fake);
	fake_open(&fake, rig.hub);
	fake.on_command = on_command;
	rig_service(&rig, 0, false, to_the_fake);
}

static void stop(void)
{
	rig_stop(&rig, 0);
	fake_close(&fake);
	rig_close(&rig);
}

TestSuite(grab_trouble, .init = start, .fini = stop, .timeout = 60);

static int grab(const char *first, const char *second)
{
	struct rig_got got;

	said = 0;
	script[0] = first;
	script[1] = second;
	rig_grab(&rig, 0, "a", "u", &got);
	return got.status;
}

Test(grab_trouble, fake_speaks_as_redis_does)
{
	cr_assert_eq(grab(WIN, NULL), RAIN__STATUS__WON);
	cr_assert_eq(grab(REFUSAL(3), NULL), RAIN__STATUS__SOLD_OUT);
}

Test(grab_trouble, what_surely_did_nothing_is_busy)
{
	static const char *const errors[] = {
		"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
		"-MISCONF Redis is configured to save RDB snapshots\r\n",
		"-BUSY Redis is busy running a script.\r\n",
		"-NOREPLICAS Not enough good replicas to write.\r\n",
		"-NOPERM this user has no permissions\r\n",
	};

	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		cr_expect_eq(grab(errors[i], NULL), RAIN__STATUS__BUSY, "%s",
			     errors[i]);
	}
	cr_assert_eq(halts, 0);
}

Test(grab_trouble, refusals_of_the_script_are_busy)
{
	cr_expect_eq(grab(HEAD(8, BULK(3, "ACL")) COUNTS, NULL),
		     RAIN__STATUS__BUSY);
	cr_expect_eq(grab(HEAD(8, BULK(6, "SCHEMA")) COUNTS, NULL),
		     RAIN__STATUS__BUSY);
	cr_expect_eq(grab(HEAD(8, BULK(11, "INCARNATION")) COUNTS, NULL),
		     RAIN__STATUS__BUSY);
}

Test(grab_trouble, script_that_failed_half_way_is_pending_and_halts)
{
	cr_assert_eq(grab("-ERR attempt to index a nil value script: f00, on "
			  "@user_script:9.\r\n",
			  NULL),
		     RAIN__STATUS__PENDING);
	RUN_UNTIL(&rig.loop, halts == 1);
}

Test(grab_trouble, reply_that_makes_no_sense_is_pending)
{
	cr_assert_eq(grab("*1\r\n:7\r\n", NULL), RAIN__STATUS__PENDING);
	cr_assert_eq(grab(HEAD(8, BULK(2, "OK")) COUNTS, NULL),
		     RAIN__STATUS__PENDING);
	cr_assert_eq(grab(REPLY(BULK(3, "???")), NULL), RAIN__STATUS__PENDING);
}

/* F12, F37: the connection is gone with the reply. */
Test(grab_trouble, lost_reply_is_asked_for_on_the_next_connection)
{
	cr_assert_eq(grab(NULL, HELD), RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(said, 2);
	cr_assert_eq(grab(NULL, REFUSAL(3)), RAIN__STATUS__SOLD_OUT);
	/* The first try may still be executed: no promise that it was not. */
	cr_assert_eq(grab(NULL, REFUSAL(11)), RAIN__STATUS__PENDING);
	cr_assert_eq(grab(NULL, REFUSAL(6)), RAIN__STATUS__PENDING);
	cr_assert_eq(grab(NULL, "-OOM command not allowed\r\n"),
		     RAIN__STATUS__PENDING);
}

Test(grab_trouble, result_never_says_busy_for_trouble)
{
	struct rig_got got;

	said = 0;
	script[0] = "-OOM command not allowed\r\n";
	rig_result(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	script[1] = NULL;
	script[2] = HELD;
	rig_result(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
}
