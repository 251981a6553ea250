#include <criterion/criterion.h>
#include <uv.h>

#include "base/err.h"

Test(err, ours_lie_below_libuvs)
{
	cr_assert_gt((int)ERR_PROTO, (int)ERR_BASE);
	cr_assert_lt((int)ERR_END, (int)UV_EOF);
}

Test(err, has_a_text_for_every_code)
{
	cr_assert_str_eq(err_str(ERR_BUSY), "a limit is reached, try later");
	cr_assert_str_eq(err_str(UV_ECONNREFUSED), "connection refused");
	cr_assert_str_eq(err_str(0), "success");
	cr_assert_str_eq(err_str(-123456), "unknown error");
	for (int code = ERR_BASE + 1; code < ERR_END; code++) {
		cr_assert_str_neq(err_str(code), "unknown error");
	}
#define X(name, text) cr_assert_str_eq(err_str(UV_##name), text);
	UV_ERRNO_MAP(X)
#undef X
}
