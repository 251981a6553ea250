/* The bytes of a command. */
#include <criterion/criterion.h>

#include "client/redis_internal.h"

static void expect(struct redis_call *c, const char *wire)
{
	struct buf out;

	buf_init(&out);
	redis_call_write(c, &out);
	buf_put_u8(&out, 0);
	cr_expect_str_eq((const char *)buf_live(&out).p, wire);
	buf_close(&out);
}

Test(redis_call, command)
{
	struct redis_call *c = redis_call_new(
		3, (struct bytes[]){ BYTES("SET"), BYTES("k"), { NULL, 0 } });

	expect(c, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n");
	redis_call_free(c);
}

Test(redis_call, bytes_pass_unchanged)
{
	static const uint8_t odd[] = { 0, '\r', '\n', 255, '$' };
	struct redis_call *c = redis_call_new(
		2, (struct bytes[]){ BYTES("ECHO"), { odd, sizeof(odd) } });
	struct buf out;

	buf_init(&out);
	redis_call_write(c, &out);
	cr_assert_eq(buf_len(&out), 4 + 10 + 4 + 5 + 2);
	cr_assert_arr_eq(buf_live(&out).p + 18, odd, sizeof(odd));
	buf_close(&out);
	redis_call_free(c);
}

Test(redis_call, script_as_evalsha_then_eval)
{
	static const struct redis_script script = {
		.name = "one",
		.source = { (const uint8_t *)"return 1", 8 },
		.sha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
	};
	struct redis_call *c = redis_call_new_script(
		&script, 1, 2, (struct bytes[]){ BYTES("key"), BYTES("arg") },
		0, NULL);

	expect(c, "*5\r\n$7\r\nEVALSHA\r\n$40\r\n"
		  "e0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n"
		  "$1\r\n1\r\n$3\r\nkey\r\n$3\r\narg\r\n");
	c->eval = true;
	expect(c, "*5\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n"
		  "$1\r\n1\r\n$3\r\nkey\r\n$3\r\narg\r\n");
	redis_call_free(c);
}

Test(redis_call, transaction_around_a_script_and_what_follows)
{
	static const struct redis_script script = {
		.name = "one",
		.source = { (const uint8_t *)"return 1", 8 },
		.sha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db",
	};
	const struct redis_words then[] = {
		{ 2, (struct bytes[]){ BYTES("LLEN"), BYTES("k") } },
		{ 1, (struct bytes[]){ BYTES("PING") } },
	};
	struct redis_call *c =
		redis_call_new_script(&script, 0, 0, NULL, 2, then);

	expect(c, "*1\r\n$5\r\nMULTI\r\n"
		  "*3\r\n$7\r\nEVALSHA\r\n$40\r\n"
		  "e0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n$1\r\n0\r\n"
		  "*2\r\n$4\r\nLLEN\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n"
		  "*1\r\n$4\r\nEXEC\r\n");
	cr_assert_eq(redis_call_replies(c), 5);
	redis_call_free(c);
}

Test(redis_call, lengths_of_all_digits)
{
	static uint8_t big[1000000];

	for (size_t n = 1; n <= sizeof(big); n *= 10) {
		for (size_t less = 0; less < 2; less++) {
			struct redis_call *c = redis_call_new(
				1, (struct bytes[]){ { big, n - less } });

			/* The encoder checks that it filled what it counted. */
			cr_expect_gt(c->n, n - less);
			redis_call_free(c);
		}
	}
}

Test(redis_call, no_secret_in_the_log)
{
	struct bytes text = BYTES("ERR unknown command 'AUTH', with args "
				  "beginning with: 'secret' ");

	text = redis_loggable(text);
	cr_assert_null(memmem(text.p, text.n, "secret", 6));
	cr_assert_gt(text.n, 20);
	text = BYTES("NOAUTH Authentication required.");
	cr_assert(bytes_eq(redis_loggable(text), text));
}
