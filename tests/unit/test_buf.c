#include <criterion/criterion.h>
#include <signal.h>

#include "base/buf.h"

Test(buf, owns_nothing_while_empty)
{
	struct buf b;

	buf_init(&b);
	cr_assert_null(b.mem);
	cr_assert_eq(buf_live(&b).n, 0);
	buf_put(&b, "x", 1);
	cr_assert_not_null(b.mem);
	buf_shrink(&b);
	cr_assert_eq(buf_len(&b), 1, "live bytes stay");
	buf_take(&b, 1);
	buf_shrink(&b);
	cr_assert_null(b.mem);
	buf_close(&b);
}

Test(buf, writes_big_endian)
{
	struct buf b;

	buf_init(&b);
	buf_put_u8(&b, 0xff);
	buf_put_u32(&b, 0x01020304);
	buf_put_u64(&b, 0x1122334455667788);
	cr_assert(bytes_eq(buf_live(&b),
			   BYTES("\xff\x01\x02\x03\x04\x11\x22\x33\x44\x55\x66"
				 "\x77\x88")));
	buf_close(&b);
}

Test(buf, prints_any_length)
{
	struct buf b;

	buf_init(&b);
	buf_printf(&b, "%s=%d;", "a", 7);
	buf_printf(&b, "%0500d", 1);
	buf_printf(&b, "%s", "");
	cr_assert_eq(buf_len(&b), 504);
	cr_assert_eq(memcmp(b.mem, "a=7;000", 7), 0);
	cr_assert_eq(b.mem[503], '1');
	buf_close(&b);
}

/* A queue that is written and read for ever needs a bounded memory, and keeps
 * the order of its bytes. */
Test(buf, moves_its_rest_rather_than_grow)
{
	struct buf b;
	uint8_t next_in = 0;
	uint8_t next_out = 0;

	buf_init(&b);
	for (int turn = 0; turn < 10000; turn++) {
		for (int i = 0; i < 37; i++) {
			buf_put_u8(&b, next_in++);
		}
		while (buf_len(&b) > 20) {
			cr_assert_eq(buf_live(&b).p[0], next_out);
			next_out++;
			buf_take(&b, 1);
		}
	}
	cr_assert_leq(b.size, 256);
	buf_close(&b);
}

Test(buf, taking_all_starts_over)
{
	struct buf b;

	buf_init(&b);
	buf_put_bytes(&b, BYTES("hello"));
	buf_take(&b, 2);
	cr_assert(bytes_eq(buf_live(&b), BYTES("llo")));
	buf_take(&b, 3);
	cr_assert_eq(b.head, 0);
	cr_assert_eq(b.tail, 0);
	(void)memcpy(buf_room(&b, 3), "abc", 3);
	buf_wrote(&b, 2);
	cr_assert(bytes_eq(buf_live(&b), BYTES("ab")));
	buf_close(&b);
}

Test(buf, taking_too_much_is_our_mistake, .signal = SIGABRT)
{
	struct buf b;

	buf_init(&b);
	buf_put_u8(&b, 1);
	buf_take(&b, 2);
}
