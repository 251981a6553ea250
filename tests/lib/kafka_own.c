#include "lib/kafka_own.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run kafka.sh and return its exit code. The ports matter to start only. */
static int script(const struct kafka_own *k, const char *verb)
{
	const char *source = getenv("RAIN_SOURCE");
	bool ports = strcmp(verb, "start") == 0;
	char path[256];
	char port[16];
	char controller_port[16];
	int status = -1;
	pid_t pid;

	cr_assert_not_null(source, "RAIN_SOURCE is not set: run by ctest");
	(void)snprintf(path, sizeof(path), "%s/deploy/kafka/kafka.sh", source);
	(void)snprintf(port, sizeof(port), "%d", k->port);
	(void)snprintf(controller_port, sizeof(controller_port), "%d",
		       k->controller_port);
	pid = fork();
	cr_assert(pid >= 0);
	if (pid == 0) {
		(void)execl(path, path, verb, k->dir, ports ? port : NULL,
			    controller_port, (char *)NULL);
		_exit(127);
	}
	cr_assert(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A port that is free now; nobody is handed it again soon. */
static int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert(fd >= 0);
	cr_assert(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	cr_assert(getsockname(fd, (struct sockaddr *)&address, &n) == 0);
	(void)close(fd);
	return ntohs(address.sin_port);
}

/* A child that waits for our end, in a process group of its own so that
 * whatever ends us does not end it. */
static void watch(struct kafka_own *k)
{
	int ends[2];
	char byte;

	/* The broker must not hold our end of it. */
	cr_assert(pipe2(ends, O_CLOEXEC) == 0);
	k->watcher = fork();
	cr_assert(k->watcher >= 0);
	if (k->watcher > 0) {
		(void)close(ends[0]);
		k->watch = ends[1];
		return;
	}
	(void)setsid();
	(void)close(ends[1]);
	for (int fd = 3; fd < 256; fd++) {
		if (fd != ends[0]) {
			(void)close(fd);
		}
	}
	while (read(ends[0], &byte, 1) > 0) {
	}
	(void)script(k, "kill");
	(void)execlp("rm", "rm", "-rf", k->dir, (char *)NULL);
	_exit(1);
}

void kafka_own_restart(struct kafka_own *k)
{
	cr_assert_eq(script(k, "start"), 0, "the broker did not start");
}

void kafka_own_start(struct kafka_own *k)
{
	*k = (struct kafka_own){ .dir = "/tmp/rain-kafka-XXXXXX" };
	cr_assert_not_null(mkdtemp(k->dir));
	k->port = free_port();
	k->controller_port = free_port();
	(void)snprintf(k->address, sizeof(k->address), "127.0.0.1:%d", k->port);
	watch(k);
	kafka_own_restart(k);
}

void kafka_own_stop(struct kafka_own *k)
{
	cr_assert_eq(script(k, "stop"), 0);
}

void kafka_own_kill(struct kafka_own *k)
{
	cr_assert_eq(script(k, "kill"), 0);
}

void kafka_own_close(struct kafka_own *k)
{
	(void)close(k->watch);
	(void)waitpid(k->watcher, NULL, 0);
}
