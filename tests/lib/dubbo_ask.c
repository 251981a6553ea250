#include "lib/dubbo_ask.h"

#include <stdlib.h>

struct peer peer;
struct dubbo_server *server;

void begin(const struct dubbo_server_options *o)
{
	server = server_start(o);
	peer_connect(&peer, dubbo_server_address(server));
}

void end(void)
{
	peer_end(&peer);
	dubbo_server_free(server);
}

void begin_plain(void)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");

	begin(&o);
}

void ask(uint64_t id, const char *what)
{
	struct buf b;

	buf_init(&b);
	put_grab(&b, id, true, what);
	peer_send(&peer, buf_live(&b).p, buf_len(&b));
	buf_close(&b);
}

void expect_answer(uint64_t id, const char *text)
{
	struct buf body;
	struct dubbo_result r = peer_result(&peer, id, &body);

	assert_answer(&r, text);
	buf_close(&body);
}

void expect_error(uint64_t id, uint8_t status, const char *part)
{
	struct buf body;
	struct dubbo_result r = peer_result(&peer, id, &body);
	char *text = xstrndup(r.message.p, r.message.n);

	cr_assert_eq(r.kind, DUBBO_ERROR);
	cr_assert_eq(r.status, status, "%d: %s", r.status, text);
	cr_assert(strstr(text, part) != NULL, "%s", text);
	free(text);
	buf_close(&body);
}

/* It still serves, on this connection. */
void still_serves(void)
{
	ask(9999, "fine");
	expect_answer(9999, "fine");
}

static void put_frame(struct buf *b, uint8_t flags, uint64_t id,
		      uint32_t length, struct bytes body)
{
	buf_put(b, "\xda\xbb", 2);
	buf_put_u8(b, flags);
	buf_put_u8(b, 0);
	buf_put_u64(b, id);
	buf_put_u32(b, length);
	buf_put_bytes(b, body);
}

void send_frame(uint8_t flags, uint64_t id, uint32_t length, struct bytes body)
{
	struct buf b;

	buf_init(&b);
	put_frame(&b, flags, id, length, body);
	peer_send(&peer, buf_live(&b).p, buf_len(&b));
	buf_close(&b);
}

void ask_other(uint64_t id, const char *path, const char *version,
	       const char *method, const char *types, const char *key,
	       const char *value)
{
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;
	struct dubbo_request r = {
		.protocol = BYTES("2.0.2"),
		.path = bytes_str(path),
		.version = bytes_str(version),
		.method = bytes_str(method),
		.types = bytes_str(types),
		.attachment_count = key != NULL ? 1 : 0,
		.attachments = { { bytes_str(key), bytes_str(value) } },
	};
	struct buf b;

	buf_init(&b);
	dubbo_request_encode(&b, id, true, &r, &m.base);
	peer_send(&peer, buf_live(&b).p, buf_len(&b));
	buf_close(&b);
}
