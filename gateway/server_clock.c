#include "gateway/server_clock.h"

#include "base/check.h"
#include "base/clock.h"

void server_clock_sample(struct server_clock *c, uint64_t sent_ms,
			 uint64_t got_ms, int64_t server_ms)
{
	uint64_t took;

	check(got_ms >= sent_ms);
	if (server_ms <= 0) {
		return; /* the service does not know it either */
	}
	took = got_ms - sent_ms;
	if (took > c->took_ms && !server_clock_stale(c, got_ms)) {
		return;
	}
	c->offset_ms = server_ms - (int64_t)(sent_ms + took / 2);
	c->took_ms = took;
	c->at_ms = got_ms;
	c->known = true;
}

bool server_clock_stale(const struct server_clock *c, uint64_t now_ms)
{
	return !c->known || now_ms - c->at_ms > SERVER_CLOCK_STALE_MS;
}

int64_t server_clock_now(const struct server_clock *c, uint64_t now_ms)
{
	return c->known ? (int64_t)now_ms + c->offset_ms : clock_wall_ms();
}
