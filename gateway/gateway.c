#include "gateway/gateway.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/rand.h"
#include "gateway/loop.h"
#include "proto/frame.h"
#include "proto/proto_util.h"

enum { FILES_SPARE_MIN = 8 };

struct gateway {
	const struct gateway_options *options;
	struct listener *listener; /* NULL once it drains */
	struct gateway_loop **loops;
	size_t loop_count;
	struct limits *limits; /* NULL once all loops have ended */
	uv_async_t ended;      /* loops have ended */
	_Atomic size_t ended_count;
	bool draining;
	void (*done)(void *ctx);
	void *done_ctx;
};

/* ---- Accepting ---- */

/* Say why on a socket that no loop has, as well as one write can, and when to
 * come back: not all at once. */
static void turn_away(struct gateway *g, int fd, enum refusal why,
		      const char *message)
{
	Rain__ServerMessage m = RAIN__SERVER_MESSAGE__INIT;
	Rain__Error error = RAIN__ERROR__INIT;
	uint8_t unread[1024];
	struct bytes frame;
	struct buf out;

	gateway_refused(why);
	buf_init(&out);
	error.retry_after_ms =
		(uint32_t)(1 + rand_below((uint64_t)g->options->spread_ms + 1));
	error.code = RAIN__ERROR_CODE__UNAVAILABLE;
	error.message = to_pb_str(message);
	m.body_case = RAIN__SERVER_MESSAGE__BODY_ERROR;
	m.error = &error;
	frame_put(&out, &m.base);
	frame = buf_live(&out);
	(void)send(fd, frame.p, frame.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* Closing with unread bytes would take our words back. */
	(void)shutdown(fd, SHUT_WR);
	(void)recv(fd, unread, sizeof(unread), MSG_DONTWAIT);
	(void)close(fd);
	buf_close(&out);
}

/* The lowest number that is free is what a new file gets: whether this one is
 * among the last twentieth. Those are for the connections to the services, for
 * HTTP, for the log, so that whoever is connected goes on. */
static bool files_short(int fd)
{
	struct rlimit limit;
	rlim_t spare;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY) {
		return false;
	}
	spare = limit.rlim_cur / 20;
	if (spare < FILES_SPARE_MIN) {
		spare = FILES_SPARE_MIN;
	}
	return (rlim_t)fd + spare >= limit.rlim_cur;
}

/* The pin of the address that fd comes from; NULL: it was turned away. */
static struct limited *admit_address(struct gateway *g, int fd, int64_t now_ns)
{
	struct sockaddr_storage sock = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(sock);
	int64_t most = g->options->address_connections_max;
	uint8_t key[LIMIT_ADDRESS_SIZE];
	struct limited *address;
	size_t n;

	(void)getpeername(fd, (struct sockaddr *)&sock, &len);
	n = limit_address_key(&sock, key);
	address = limits_pin(g->limits, LIMIT_ADDRESS, bytes_make(key, n),
			     now_ns);
	if (address == NULL) {
		turn_away(g, fd, REFUSAL_LIMIT_TABLE,
			  "this gateway knows too many other addresses");
		return NULL;
	}
	if (most > 0 && limits_pins(g->limits, LIMIT_ADDRESS, address) > most) {
		limits_unpin(g->limits, LIMIT_ADDRESS, address, now_ns);
		turn_away(g, fd, REFUSAL_ADDRESS_CONNECTIONS,
			  "too many connections from this address");
		return NULL;
	}
	return address;
}

static void accept_cb(void *ctx, int fd)
{
	struct gateway *g = ctx;
	struct gateway_loop *least = g->loops[0];
	struct limited *address;
	int64_t total = 0;

	for (size_t i = 0; i < g->loop_count; i++) {
		int64_t n = atomic_load(&g->loops[i]->connections);

		total += n;
		if (n < atomic_load(&least->connections)) {
			least = g->loops[i];
		}
	}
	metric_add(&gateway_metrics.accepted, 1);
	if (total >= g->options->connections_max) {
		turn_away(g, fd, REFUSAL_CONNECTIONS,
			  "this gateway is full; connect to another");
		return;
	}
	if (files_short(fd)) {
		turn_away(g, fd, REFUSAL_FILES,
			  "this gateway is short of files; connect to another");
		return;
	}
	address = admit_address(g, fd, (int64_t)uv_hrtime());
	if (address == NULL) {
		return;
	}
	(void)atomic_fetch_add(&least->connections, 1);
	metric_add(&gateway_metrics.connections, 1);
	loop_hand_over(least, fd, address);
}

/* ---- Keys ---- */

/* NULL with *bad false: there is no key file. */
static struct key_set *load_keys(const struct gateway_options *o, bool *bad)
{
	struct token_keys *keys;
	struct buf why;

	*bad = false;
	if (o->keys[0] == '\0') {
		return NULL;
	}
	buf_init(&why);
	keys = token_keys_load(o->keys, &why);
	if (keys == NULL) {
		log_error("the key file is bad",
			  log_bytes("why", buf_live(&why)));
		*bad = true;
	} else {
		log_info("keys loaded", log_str("file", o->keys),
			 log_int("keys", (int64_t)token_keys_count(keys)));
	}
	buf_close(&why);
	return keys != NULL ? key_set_new(keys) : NULL;
}

static int first_keys(const struct gateway_options *o, struct key_set **keys)
{
	bool bad;

	*keys = load_keys(o, &bad);
	if (bad) {
		return ERR_CONFIG;
	}
	if (o->trust_plain_users) {
		log_warn("gateway.trust_plain_users is on: whoever connects is "
			 "believed to be the user it names. For development "
			 "only, never where money is real");
	} else if (*keys == NULL) {
		log_error("gateway.keys names no key file, so nobody could "
			  "say Hello");
		return ERR_CONFIG;
	}
	return 0;
}

void gateway_reload(struct gateway *g)
{
	bool bad;
	struct key_set *keys = load_keys(g->options, &bad);
	struct limit_rates rates;

	limit_rates_read(g->options, &rates);
	for (size_t i = 0; i < g->loop_count && !g->draining; i++) {
		loop_set_rates(g->loops[i], &rates);
	}
	if (keys == NULL) {
		if (!bad) {
			log_warn("gateway.keys is empty: the old keys stay");
		}
		return;
	}
	for (size_t i = 0; i < g->loop_count && !g->draining; i++) {
		loop_set_keys(g->loops[i], key_set_hold(keys));
	}
	key_set_drop(keys);
}

/* ---- Beginning and end ---- */

/* In the thread of the loop that ends. */
static void loop_ended(void *ctx)
{
	struct gateway *g = ctx;

	(void)atomic_fetch_add(&g->ended_count, 1);
	(void)uv_async_send(&g->ended);
}

static void ended_cb(uv_async_t *handle)
{
	struct gateway *g = handle->data;

	if (g->done == NULL || atomic_load(&g->ended_count) < g->loop_count) {
		return;
	}
	for (size_t i = 0; i < g->loop_count; i++) {
		loop_join(g->loops[i]);
	}
	g->loop_count = 0;
	limits_free(g->limits);
	g->limits = NULL;
	g->done(g->done_ctx);
}

static int make_loops(struct gateway *g, struct key_set *keys)
{
	for (int64_t i = 0; i < g->options->loops; i++) {
		int rv = loop_new(g->options, g->limits,
				  keys != NULL ? key_set_hold(keys) : NULL,
				  &g->loops[g->loop_count]);

		if (rv != 0) {
			return rv;
		}
		g->loop_count++;
	}
	return 0;
}

static void closed_cb(uv_handle_t *handle)
{
	struct gateway *g = handle->data;

	free(g->loops);
	free(g);
}

int gateway_new(uv_loop_t *loop, const struct gateway_options *options,
		struct gateway **out)
{
	struct gateway *g = xcalloc(1, sizeof(*g));
	struct key_set *keys = NULL;
	int rv;

	*out = NULL;
	gateway_metrics_init();
	g->options = options;
	g->limits = limits_new(options);
	g->loops = xcalloc((size_t)options->loops, sizeof(g->loops[0]));
	check(uv_async_init(loop, &g->ended, ended_cb) == 0);
	g->ended.data = g;
	rv = first_keys(options, &keys);
	if (rv == 0) {
		rv = make_loops(g, keys);
	}
	key_set_drop(keys);
	if (rv == 0) {
		rv = listener_new(loop, options->listen, accept_cb, g,
				  &g->listener);
		if (rv != 0) {
			log_error("cannot listen",
				  log_str("address", options->listen),
				  log_err(rv));
		}
	}
	if (rv != 0) {
		while (g->loop_count > 0) {
			loop_free_idle(g->loops[--g->loop_count]);
		}
		limits_free(g->limits);
		uv_close((uv_handle_t *)&g->ended, closed_cb);
		return rv;
	}
	listener_dead_after(g->listener, (uint64_t)options->dead_ms);
	for (size_t i = 0; i < g->loop_count; i++) {
		check(loop_start(g->loops[i], loop_ended, g) == 0);
	}
	log_info("gateway serves", log_str("listen", gateway_address(g)),
		 log_int("loops", options->loops));
	*out = g;
	return 0;
}

const char *gateway_address(const struct gateway *g)
{
	return listener_address(g->listener);
}

bool gateway_ready(const struct gateway *g, struct buf *why)
{
	if (g->draining) {
		buf_printf(why, "the gateway is stopping\n");
		return false;
	}
	for (size_t i = 0; i < g->loop_count; i++) {
		if (!atomic_load(&g->loops[i]->ready)) {
			buf_printf(why, "no grab-service is connected (%s)\n",
				   g->options->grab_addresses);
			return false;
		}
	}
	return true;
}

void gateway_drain(struct gateway *g, void (*done)(void *ctx), void *ctx)
{
	check(!g->draining);
	g->draining = true;
	g->done = done;
	g->done_ctx = ctx;
	listener_free(g->listener);
	g->listener = NULL;
	log_info("gateway drains");
	for (size_t i = 0; i < g->loop_count; i++) {
		loop_drain(g->loops[i]);
	}
}

void gateway_left(const struct gateway *g, struct buf *what)
{
	int64_t n = 0;

	for (size_t i = 0; i < g->loop_count; i++) {
		n += atomic_load(&g->loops[i]->connections);
	}
	buf_printf(what,
		   "%lld connections wait for answers, or do not read them\n",
		   (long long)n);
}

void gateway_free(struct gateway *g)
{
	check(g->draining && g->loop_count == 0);
	uv_close((uv_handle_t *)&g->ended, closed_cb);
}
