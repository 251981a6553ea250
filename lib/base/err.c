#include "base/err.h"

#include <assert.h>
#include <uv.h>

/* The enumerators above ERR_BASE must not run into libuv's codes. */
static_assert((int)ERR_END < (int)UV_EOF, "our codes lie below libuv's");

const char *err_str(int code)
{
	switch (code) {
	case 0:
		return "success";
#define X(name, text)    \
	case ERR_##name: \
		return text;
		ERR_MAP(X)
#undef X
		/* uv_strerror() would allocate for a code that it does not
		 * know, so its list is spelled out. */
#define X(name, text)   \
	case UV_##name: \
		return text;
		UV_ERRNO_MAP(X)
#undef X
	default:
		return "unknown error";
	}
}
