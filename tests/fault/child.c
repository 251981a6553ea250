#include "fault/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CHILD_TEXT_MAX = 1 << 20 };

/* libuv has no hook between fork and exec, so that the way goes through our
 * own program: the death signal outlives an exec. */
void child_become(int argc, char **argv)
{
	if (argc < 4 || strcmp(argv[1], "--become") != 0) {
		return;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)strtol(argv[2], NULL, 10)) {
		_exit(127); /* the parent died meanwhile */
	}
	(void)execvp(argv[3], argv + 3);
	perror(argv[3]);
	_exit(127);
}

static void closed_cb(uv_handle_t *handle)
{
	struct child *c = handle->data;

	if (--c->open == 0 && c->on_end != NULL) {
		c->on_end(c);
	}
}

static void exit_cb(uv_process_t *process, int64_t status, int signum)
{
	struct child *c = process->data;

	c->running = false;
	c->code = signum != 0 ? 128 + signum : (int)status;
	uv_close((uv_handle_t *)process, closed_cb);
}

static void alloc_cb(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
	struct child *c = handle->data;

	(void)wanted;
	*buf = uv_buf_init(c->piece, sizeof c->piece);
}

static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct child *c = stream->data;

	if (n < 0) {
		uv_close((uv_handle_t *)stream, closed_cb);
	} else if (buf_len(&c->text) + (size_t)n <= CHILD_TEXT_MAX) {
		buf_put(&c->text, buf->base, (size_t)n);
	}
}

/* Collect what comes from fd until it ends. */
static void read_from(struct child *c, uv_loop_t *loop, int fd)
{
	int rv = uv_pipe_init(loop, &c->pipe, 0);

	check(rv == 0); /* creates no socket, so cannot fail */
	rv = uv_pipe_open(&c->pipe, fd);
	check(rv == 0); /* a pipe that was just made */
	rv = uv_read_start((uv_stream_t *)&c->pipe, alloc_cb, read_cb);
	check(rv == 0); /* the same */
}

/* Start args with out and err as its output. */
static int spawn(struct child *c, uv_loop_t *loop, const char *const *args,
		 int out, int err)
{
	uv_stdio_container_t stdio[3] = { 0 };
	uv_process_options_t o = { 0 };
	char *argv[CHILD_ARGS_MAX + 4];
	char parent[16];
	size_t n = 0;

	snprintf(parent, sizeof parent, "%d", (int)getpid());
	argv[n++] = (char *)(uintptr_t) "torture";
	argv[n++] = (char *)(uintptr_t) "--become";
	argv[n++] = parent;
	for (size_t i = 0; args[i] != NULL; i++) {
		check(n < CHILD_ARGS_MAX + 3);
		argv[n++] = (char *)(uintptr_t)args[i];
	}
	argv[n] = NULL;
	stdio[1].flags = stdio[2].flags = UV_INHERIT_FD;
	stdio[1].data.fd = out;
	stdio[2].data.fd = err;
	o.file = "/proc/self/exe";
	o.args = argv;
	o.flags = UV_PROCESS_DETACHED; /* Ctrl-C is for us */
	o.stdio = stdio;
	o.stdio_count = 3;
	o.exit_cb = exit_cb;
	return uv_spawn(loop, &c->process, &o);
}

int child_start(struct child *c, uv_loop_t *loop, const char *const *args,
		const char *log, bool collect, child_end_cb on_end)
{
	int log_fd = -1;
	int ends[2];
	int rv;

	check(child_ended(c));
	check(log != NULL || collect);
	if (log != NULL) {
		log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			      0644);
		if (log_fd < 0) {
			return uv_translate_sys_error(errno);
		}
	}
	rv = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
	if (rv != 0) {
		(void)close(log_fd);
		return rv;
	}
	c->process.data = c->pipe.data = c;
	c->code = -1;
	c->on_end = on_end;
	c->open = 2;
	buf_take(&c->text, buf_len(&c->text));
	rv = spawn(c, loop, args, collect ? ends[1] : log_fd,
		   log != NULL ? log_fd : ends[1]);
	c->running = rv == 0;
	(void)close(ends[1]);
	if (log != NULL) {
		(void)close(log_fd);
	}
	if (rv != 0) {
		c->on_end = NULL;
		uv_close((uv_handle_t *)&c->process, closed_cb);
	}
	read_from(c, loop, ends[0]);
	return rv;
}

bool child_ended(const struct child *c)
{
	return c->open == 0;
}

bool child_hears(const struct child *c, int signum)
{
	uint64_t bit = (uint64_t)1 << (signum - 1);
	uint64_t heard = 0;
	char line[128];
	FILE *status;

	if (!c->running) {
		return false;
	}
	snprintf(line, sizeof line, "/proc/%d/status", (int)c->process.pid);
	status = fopen(line, "r");
	while (status != NULL && fgets(line, sizeof line, status) != NULL) {
		if (strncmp(line, "SigBlk:", 7) == 0 ||
		    strncmp(line, "SigCgt:", 7) == 0) {
			heard |= strtoull(line + 7, NULL, 16);
		}
	}
	if (status != NULL) {
		(void)fclose(status);
	}
	return (heard & bit) != 0;
}

void child_signal(struct child *c, int signum)
{
	if (c->running) {
		(void)uv_process_kill(&c->process, signum);
	}
}

const char *child_text(struct child *c)
{
	*buf_room(&c->text, 1) = '\0';
	return (const char *)buf_live(&c->text).p;
}

void child_free(struct child *c)
{
	check(child_ended(c));
	buf_close(&c->text);
}
