#include "lib/redis_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

enum { READY_WITHIN_MS = 30000, LOG_TAIL = 2000 };

static _Noreturn void give_up(struct redis_server *s, const char *what)
{
	char name[96];
	char tail[LOG_TAIL + 1];
	FILE *f;

	fprintf(stderr, "redis_server: %s (%s)\n", what, strerror(errno));
	snprintf(name, sizeof name, "%s/log", s->dir);
	f = fopen(name, "r");
	if (f != NULL) {
		if (fseek(f, -LOG_TAIL, SEEK_END) != 0) {
			rewind(f);
		}
		tail[fread(tail, 1, LOG_TAIL, f)] = '\0';
		fprintf(stderr, "%s\n", tail);
		fclose(f);
	}
	abort();
}

static void must(struct redis_server *s, bool ok, const char *what)
{
	if (!ok) {
		give_up(s, what);
	}
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A port that is free now; somebody may still take it before Redis does, so
 * the first start tries several. */
static uint16_t free_port(struct redis_server *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(s, fd >= 0, "socket");
	must(s, bind(fd, (struct sockaddr *)&a, len) == 0, "bind");
	must(s, getsockname(fd, (struct sockaddr *)&a, &len) == 0, "name");
	close(fd);
	return ntohs(a.sin_port);
}

static void pick_port(struct redis_server *s)
{
	s->port = free_port(s);
	snprintf(s->tcp_address, sizeof s->tcp_address, "127.0.0.1:%u",
		 (unsigned)s->port);
	snprintf(s->tcp_url, sizeof s->tcp_url, "redis://%s", s->tcp_address);
}

/* In the child: become redis-server. The defaults come first, so that the
 * test's own arguments win. */
static _Noreturn void run(const struct redis_server *s, pid_t parent)
{
	const char *binary = getenv("REDIS_SERVER");
	char port[8];
	const char *argv[REDIS_SERVER_ARGS + 24];
	const char *defaults[] = {
		binary != NULL && *binary != '\0' ? binary : "redis-server",
		"--port",
		port,
		"--bind",
		"127.0.0.1",
		"--unixsocket",
		s->path,
		"--dir",
		s->dir,
		"--logfile",
		"log",
		"--save",
		"",
		"--daemonize",
		"no",
	};
	size_t n = sizeof defaults / sizeof defaults[0];
	int null;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
		_exit(126); /* the test died before we asked to be told */
	}
	snprintf(port, sizeof port, "%u", (unsigned)s->port);
	memcpy(argv, defaults, sizeof defaults);
	for (size_t i = 0; s->args[i] != NULL; i++) {
		argv[n++] = s->args[i];
	}
	argv[n] = NULL;
	null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static void spawn(struct redis_server *s)
{
	pid_t parent = getpid();

	s->pid = fork();
	must(s, s->pid >= 0, "fork");
	if (s->pid == 0) {
		run(s, parent);
	}
}

/* Whether the server answers; false if it ended before that. */
static bool wait_ready(struct redis_server *s)
{
	int64_t until = now_ms() + READY_WITHIN_MS;

	while (now_ms() < until) {
		/* A wrong password would be an answer too. */
		const char *answer = redis_server_ask(s, "PING");

		if (strcmp(answer, "(lost)") != 0 &&
		    strncmp(answer, "(error) LOADING", 15) != 0) {
			return true;
		}
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
			s->pid = 0;
			return false;
		}
		nap();
	}
	errno = ETIMEDOUT;
	give_up(s, "no answer");
}

static void start(struct redis_server *s, const char *const *args, bool tcp)
{
	size_t n = 0;

	memset(s, 0, sizeof *s);
	while (args != NULL && args[n] != NULL) {
		must(s, n + 1 < REDIS_SERVER_ARGS, "too many arguments");
		s->args[n] = args[n];
		n++;
	}
	snprintf(s->dir, sizeof s->dir, "/tmp/rain-redis-XXXXXX");
	must(s, mkdtemp(s->dir) != NULL, "mkdtemp");
	snprintf(s->path, sizeof s->path, "%s/sock", s->dir);
	snprintf(s->url, sizeof s->url, "unix:%s", s->path);
	for (int tries = 0; tries < 5; tries++) {
		if (tcp) {
			pick_port(s);
		}
		spawn(s);
		if (wait_ready(s)) {
			return;
		}
	}
	give_up(s, "redis-server does not start");
}

void redis_server_start(struct redis_server *s, const char *const *args)
{
	start(s, args, false);
}

void redis_server_start_tcp(struct redis_server *s, const char *const *args)
{
	start(s, args, true);
}

static void forget_connection(struct redis_server *s)
{
	if (s->ask != NULL) {
		redisFree(s->ask);
		s->ask = NULL;
	}
}

static void end(struct redis_server *s, int sig)
{
	forget_connection(s);
	if (s->pid == 0) {
		return;
	}
	kill(s->pid, sig);
	kill(s->pid, SIGCONT);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR) {
	}
	s->pid = 0;
}

void redis_server_stop(struct redis_server *s)
{
	end(s, SIGTERM);
}

void redis_server_kill(struct redis_server *s)
{
	end(s, SIGKILL);
}

void redis_server_restart_only(struct redis_server *s)
{
	redis_server_stop(s);
	spawn(s);
}

void redis_server_restart(struct redis_server *s)
{
	redis_server_restart_only(s);
	must(s, wait_ready(s), "redis-server does not start again");
}

void redis_server_pause(struct redis_server *s)
{
	int status;

	must(s, kill(s->pid, SIGSTOP) == 0, "SIGSTOP");
	/* The signal is delivered some time after kill() returns. */
	must(s, waitpid(s->pid, &status, WUNTRACED) == s->pid, "stopped");
	must(s, WIFSTOPPED(status), "stopped");
}

void redis_server_resume(struct redis_server *s)
{
	must(s, kill(s->pid, SIGCONT) == 0, "SIGCONT");
}

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void redis_server_close(struct redis_server *s)
{
	redis_server_kill(s);
	free(s->text);
	s->text = NULL;
	if (s->dir[0] != '\0') {
		nftw(s->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
		s->dir[0] = '\0';
	}
}

static void write_reply(FILE *f, const redisReply *r)
{
	switch (r->type) {
	case REDIS_REPLY_ERROR:
		fputs("(error) ", f);
		fwrite(r->str, 1, r->len, f);
		break;
	case REDIS_REPLY_INTEGER:
		fprintf(f, "%lld", r->integer);
		break;
	case REDIS_REPLY_NIL:
		fputs("(nil)", f);
		break;
	case REDIS_REPLY_ARRAY:
		for (size_t i = 0; i < r->elements; i++) {
			fputs(i > 0 ? "\n" : "", f);
			write_reply(f, r->element[i]);
		}
		break;
	default: /* a string or a status */
		fwrite(r->str, 1, r->len, f);
		break;
	}
}

static bool connected(struct redis_server *s)
{
	const struct timeval limit = { .tv_sec = 5 };

	if (s->ask == NULL) {
		s->ask = redisConnectUnixWithTimeout(s->path, limit);
		must(s, s->ask != NULL, "memory");
		if (s->ask->err != 0) {
			forget_connection(s);
			return false;
		}
		redisSetTimeout(s->ask, limit);
	}
	return true;
}

/* Takes reply, NULL if there was none. */
static const char *answer(struct redis_server *s, redisReply *reply)
{
	size_t n;
	FILE *f;

	free(s->text);
	s->text = NULL;
	f = open_memstream(&s->text, &n);
	must(s, f != NULL, "memory");
	if (reply == NULL) {
		fputs("(lost)", f);
		forget_connection(s);
	} else {
		write_reply(f, reply);
		freeReplyObject(reply);
	}
	fclose(f);
	return s->text;
}

const char *redis_server_ask(struct redis_server *s, const char *format, ...)
{
	redisReply *reply = NULL;
	va_list ap;

	va_start(ap, format);
	if (connected(s)) {
		reply = redisvCommand(s->ask, format, ap);
	}
	va_end(ap);
	return answer(s, reply);
}

const char *redis_server_askv(struct redis_server *s, int argc,
			      const char *const *argv)
{
	redisReply *reply = NULL;

	if (connected(s)) {
		reply = redisCommandArgv(s->ask, argc,
					 (const char **)(uintptr_t)argv, NULL);
	}
	return answer(s, reply);
}

long long redis_server_info(struct redis_server *s, const char *section,
			    const char *field, const char *key)
{
	char want[128];
	const char *line = redis_server_ask(s, "INFO %s", section);
	const char *end_of_line;
	const char *at;

	snprintf(want, sizeof want, "\n%s:", field);
	line = strstr(line, want);
	if (line == NULL) {
		return -1;
	}
	line += strlen(want);
	if (key == NULL) {
		return strtoll(line, NULL, 10);
	}
	snprintf(want, sizeof want, "%s=", key);
	end_of_line = strchrnul(line, '\n');
	at = strstr(line, want);
	if (at == NULL || at > end_of_line) {
		return -1;
	}
	return strtoll(at + strlen(want), NULL, 10);
}
