#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rand.h"
#include "console/command.h"
#include "console/output.h"

/* Below the range from which the system takes ports for outgoing connections:
 * one that is free now would else be gone when the server starts again. */
enum { PORT_MIN = 15000, PORT_MAX = 32000, PORTS_MAX = 64 };

/* A socket bound to port, or -1 if it is taken. */
static int bind_port(int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof sa) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int run_ports(struct ctl *ctl, const struct command *c,
	      const struct arguments *a)
{
	json_t *list = json_array();
	int fds[PORTS_MAX];
	uint64_t wanted;
	size_t got = 0;

	if (!bytes_to_u64(bytes_str(a->values[0]), PORTS_MAX, &wanted) ||
	    wanted == 0) {
		json_decref(list);
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("COUNT: allowed: 1 to 64"));
	}
	for (int tries = 0; got < wanted && tries < 10000; tries++) {
		int port = PORT_MIN + (int)rand_below(PORT_MAX - PORT_MIN);

		fds[got] = bind_port(port);
		if (fds[got] >= 0) {
			json_array_append_new(list, json_integer(port));
			got++;
		}
	}
	/* All were held until here, so that no two are the same. */
	for (size_t i = 0; i < got; i++) {
		close(fds[i]);
	}
	if (got < wanted) {
		json_decref(list);
		return output_error(ctl, CTL_NO, c->words,
				    BYTES("no free ports"));
	}
	if (ctl->json) {
		output_print(ctl, list);
		return CTL_OK;
	}
	for (size_t i = 0; i < got; i++) {
		printf("%lld\n",
		       (long long)json_integer_value(json_array_get(list, i)));
	}
	json_decref(list);
	return CTL_OK;
}
