#include "lib/java_peer.h"

#include <stdlib.h>

#include "lib/dubbo_peer.h"

struct java java;

static void exit_cb(uv_process_t *process, int64_t status, int signal)
{
	(void)process;
	java.ended = true;
	java.status = signal != 0 ? 128 + signal : status;
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	(void)handle;
	(void)suggested;
	*buf = uv_buf_init(java.piece, sizeof(java.piece));
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	if (n > 0) {
		buf_put(&java.said, buf->base, (size_t)n);
	} else if (n < 0) {
		uv_read_stop(stream);
	}
}

void java_start(const char *role, const char *what)
{
	static const char *const words[] = { "sh", "-c",
					     "set -f; exec $JAVA_PEER \"$@\"",
					     "sh" };
	char *args[7] = { NULL };
	uv_stdio_container_t stdio[3] = {
		{ .flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
		  .data.stream = (uv_stream_t *)&java.in },
		{ .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
		  .data.stream = (uv_stream_t *)&java.out },
		{ .flags = UV_INHERIT_FD, .data.fd = 2 },
	};
	uv_process_options_t options = {
		.exit_cb = exit_cb,
		.file = "sh",
		.args = args,
		.stdio = stdio,
		.stdio_count = 3,
	};

	cr_assert(getenv("JAVA_PEER") != NULL, "start this through run.sh");
	for (int i = 0; i < 4; i++) {
		args[i] = xstrndup(words[i], strlen(words[i]));
	}
	args[4] = xstrndup(role, strlen(role));
	args[5] = xstrndup(what, strlen(what));
	buf_init(&java.said);
	uv_pipe_init(&loop, &java.in, 0);
	uv_pipe_init(&loop, &java.out, 0);
	cr_assert_eq(uv_spawn(&loop, &java.process, &options), 0);
	uv_read_start((uv_stream_t *)&java.out, alloc_cb, read_cb);
	for (int i = 0; i < 6; i++) {
		free(args[i]);
	}
}

bool java_said(const char *text)
{
	return buf_len(&java.said) > 0 &&
	       memmem(buf_live(&java.said).p, buf_len(&java.said), text,
		      strlen(text)) != NULL;
}

void expect_said(const char *line)
{
	cr_assert(java_said(line), "Java did not say \"%s\" but:\n%.*s", line,
		  BYTES_FMT(buf_live(&java.said)));
}

void java_let_go(void)
{
	if (!uv_is_closing((uv_handle_t *)&java.in)) {
		uv_close((uv_handle_t *)&java.in, NULL);
	}
}

void java_end(void)
{
	java_let_go();
	RUN_UNTIL_MS(&loop, START_MS, java.ended);
	uv_close((uv_handle_t *)&java.out, NULL);
	uv_close((uv_handle_t *)&java.process, NULL);
	buf_close(&java.said);
}
