#include "activity_service.h"

#include <stdlib.h>

#include "activity_op.h"

static const struct dubbo_method methods[] = {
	{ "create", "Lrain/CreateRequest;", activity_create },
	{ "preload", "Lrain/ActivityRequest;", activity_preload },
	{ "open", "Lrain/ActivityRequest;", activity_open },
	{ "pause", "Lrain/ActivityRequest;", activity_pause },
	{ "resume", "Lrain/ActivityRequest;", activity_resume },
	{ "close", "Lrain/ActivityRequest;", activity_close },
	{ "cancel", "Lrain/ActivityRequest;", activity_cancel },
	{ "get", "Lrain/ActivityRequest;", activity_get },
	{ "list", "Lrain/ListRequest;", activity_list },
	{ "counters", "Lrain/ActivityRequest;", activity_counters },
	{ "claims", "Lrain/PageRequest;", activity_claims },
	{ "packets", "Lrain/PageRequest;", activity_packets },
	{ "topUp", "Lrain/TopUpRequest;", activity_topup },
	{ "entropy", "Lrain/EntropyRequest;", activity_entropy },
	{ "rewind", "Lrain/RewindRequest;", activity_rewind },
};

struct activity_service *activity_service_new(const struct activity_deps *deps)
{
	struct activity_service *s = xcalloc(1, sizeof(*s));

	check(deps->timeout_ms > 0);
	check(deps->chunk >= 1 && deps->chunk <= 1000);
	s->deps = *deps;
	s->interface = (struct dubbo_interface){
		.name = "rain.ActivityService",
		.version = "1.0.0",
		.methods = methods,
		.method_count = sizeof(methods) / sizeof(methods[0]),
		.ctx = s,
	};
	return s;
}

const struct dubbo_interface *activity_service_interface(
	const struct activity_service *s)
{
	return &s->interface;
}

void activity_service_stop(struct activity_service *s)
{
	s->stopping = true;
}

void activity_service_free(struct activity_service *s)
{
	s->stopping = true;
	s->freed = true;
	if (s->ops == 0) {
		free(s);
	}
}
