#include "lib/http_get.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PIECE_BYTES = 4096, TIMEOUT_S = 10 };

/* A connected socket, -1 if nobody listens. */
static int dial(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port) };
	struct timeval limit = { .tv_sec = TIMEOUT_S };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(fd >= 0);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static void read_all(int fd, struct buf *out)
{
	ssize_t n;

	do {
		n = recv(fd, buf_room(out, PIECE_BYTES), PIECE_BYTES, 0);
		buf_wrote(out, n > 0 ? (size_t)n : 0);
	} while (n > 0);
	*buf_room(out, 1) = '\0';
}

int http_request(int port, const char *method, const char *path,
		 struct buf *body)
{
	int fd = dial(port);
	struct buf text;
	const char *at;
	int status = 0;

	if (fd < 0) {
		return 0;
	}
	buf_init(&text);
	buf_printf(&text,
		   "%s %s HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
		   method, path);
	(void)!send(fd, buf_live(&text).p, buf_len(&text), MSG_NOSIGNAL);
	buf_take(&text, buf_len(&text));
	read_all(fd, &text);
	(void)close(fd);
	at = (const char *)text.mem;
	if (strncmp(at, "HTTP/1.1 ", 9) == 0) {
		status = (int)strtol(at + 9, NULL, 10);
	}
	at = strstr(at, "\r\n\r\n");
	if (body != NULL) {
		buf_printf(body, "%s", at != NULL ? at + 4 : "");
		*buf_room(body, 1) = '\0';
	}
	buf_close(&text);
	return status;
}
