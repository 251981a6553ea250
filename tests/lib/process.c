#include "lib/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { PIECE_BYTES = 4096, POLL_MS = 20 };

/* In the child: becomes the program or exits with 127. */
static void become(const char *const *argv, const char *const *env, int fd,
		   pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		_exit(127); /* the test died meanwhile */
	}
	(void)dup2(fd, STDOUT_FILENO);
	(void)dup2(fd, STDERR_FILENO);
	for (; env != NULL && *env != NULL; env++) {
		(void)putenv((char *)(uintptr_t)*env);
	}
	(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

void process_start(struct process *p, const char *const *argv,
		   const char *const *env)
{
	pid_t parent = getpid();
	int ends[2];

	check(pipe2(ends, O_CLOEXEC) == 0);
	p->pid = fork();
	check(p->pid >= 0);
	if (p->pid == 0) {
		become(argv, env, ends[1], parent);
	}
	(void)close(ends[1]);
	p->fd = ends[0];
	p->code = -1;
	buf_init(&p->text);
}

/* Take what comes within timeout_ms; the end of the output closes fd. */
static void take_output(struct process *p, int timeout_ms)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };
	ssize_t n;

	if (poll(&pfd, 1, timeout_ms) <= 0 || p->fd < 0) {
		return;
	}
	n = read(p->fd, buf_room(&p->text, PIECE_BYTES), PIECE_BYTES);
	if (n > 0) {
		buf_wrote(&p->text, (size_t)n);
	} else if (n == 0 || errno != EINTR) {
		(void)close(p->fd);
		p->fd = -1;
	}
}

const char *process_text(struct process *p)
{
	*buf_room(&p->text, 1) = '\0';
	return (const char *)buf_live(&p->text).p;
}

bool process_wait_text(struct process *p, const char *part, int timeout_ms)
{
	uint64_t end = clock_mono_ms() + (uint64_t)timeout_ms;

	while (strstr(process_text(p), part) == NULL) {
		if (p->fd < 0 || clock_mono_ms() > end) {
			return false;
		}
		take_output(p, POLL_MS);
	}
	return true;
}

int process_wait(struct process *p, int timeout_ms)
{
	uint64_t end = clock_mono_ms() + (uint64_t)timeout_ms;
	int status;

	while (p->pid > 0 && waitpid(p->pid, &status, WNOHANG) == 0) {
		if (clock_mono_ms() > end) {
			process_signal(p, SIGKILL);
			(void)waitpid(p->pid, &status, 0);
			p->pid = 0;
			return -1;
		}
		take_output(p, POLL_MS);
	}
	if (p->pid > 0) {
		p->code = WIFEXITED(status) ? WEXITSTATUS(status)
					    : 128 + WTERMSIG(status);
		p->pid = 0;
	}
	while (p->fd >= 0 && clock_mono_ms() <= end) {
		take_output(p, POLL_MS);
	}
	return p->code;
}

void process_signal(struct process *p, int signum)
{
	if (p->pid > 0) {
		(void)kill(p->pid, signum);
	}
}

void process_close(struct process *p)
{
	if (p->pid > 0) {
		process_signal(p, SIGKILL);
		(void)waitpid(p->pid, NULL, 0);
		p->pid = 0;
	}
	if (p->fd >= 0) {
		(void)close(p->fd);
		p->fd = -1;
	}
	buf_close(&p->text);
}
