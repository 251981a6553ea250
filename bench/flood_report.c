#include <inttypes.h>
#include <jansson.h>

#include "base/clock.h"
#include "bench/flood.h"

enum { LATE_US = 1000 * 1000 };

bool flood_executed(unsigned status)
{
	switch (status) {
	case RAIN__STATUS__WON:
	case RAIN__STATUS__ALREADY_GRABBED:
	case RAIN__STATUS__SOLD_OUT:
	case RAIN__STATUS__ENDED:
		return true;
	default:
		return false;
	}
}

/* What RATE_LIMITED says is exact, when the user's next tap has room; the
 * others have some chance in them. */
static void count_wait(struct flood *f, unsigned status, uint64_t wait_ms)
{
	if (wait_ms == 0) {
		f->waits_missing++;
		return;
	}
	if (status == RAIN__STATUS__RATE_LIMITED) {
		return;
	}
	if (f->wait_min_ms == 0 || wait_ms < f->wait_min_ms) {
		f->wait_min_ms = wait_ms;
	}
	if (wait_ms > f->wait_max_ms) {
		f->wait_max_ms = wait_ms;
	}
}

void flood_count(struct flood *f, const Rain__GrabReply *m, uint64_t us)
{
	unsigned status = (unsigned)m->status;
	uint64_t now = clock_mono_us();
	bool counts = now >= f->count_from_us && now < f->ends_us;

	f->statuses[status < FLOOD_STATUSES ? status : 0]++;
	if (flood_executed(status)) {
		if (counts) {
			f->useful++;
			f->useful_late += us > LATE_US;
			histogram_add(&f->executed, us);
		}
		return;
	}
	count_wait(f, status, m->retry_after_ms);
	if (counts) {
		histogram_add(status == RAIN__STATUS__PENDING ? &f->pending
							      : &f->refused,
			      us);
	}
}

static void put(json_t *o, const char *name, uint64_t value)
{
	json_object_set_new(o, name, json_integer((json_int_t)value));
}

static void put_latency(json_t *o, const char *name, const struct histogram *h)
{
	static const struct {
		const char *name;
		double fraction;
	} shown[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "max", 1 } };
	json_t *l = json_object();

	put(l, "n", h->total);
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		double us = (double)histogram_percentile(h, shown[i].fraction);

		json_object_set_new(l, shown[i].name, json_real(us / 1e3));
	}
	json_object_set_new(o, name, l);
}

static void put_statuses(json_t *o, const struct flood *f)
{
	json_t *statuses = json_object();

	for (int i = 0; i < FLOOD_STATUSES; i++) {
		const ProtobufCEnumValue *v =
			protobuf_c_enum_descriptor_get_value(
				&rain__status__descriptor, i);

		if (f->statuses[i] > 0) {
			put(statuses, v != NULL ? v->name : "?",
			    f->statuses[i]);
		}
	}
	json_object_set_new(o, "statuses", statuses);
}

void flood_report(const struct flood *f, FILE *out)
{
	json_t *o = json_object();
	uint64_t answers = 0;
	uint64_t counted_us = f->ends_us > f->count_from_us
				      ? f->ends_us - f->count_from_us
				      : 0;

	for (int i = 0; i < FLOOD_STATUSES; i++) {
		answers += f->statuses[i];
	}
	put(o, "sent", f->sent);
	put(o, "again", f->again);
	put(o, "unsent", f->unsent);
	put(o, "answers", answers);
	put(o, "errors", f->errors);
	put(o, "lost", f->lost);
	put(o, "unanswered", f->sent - answers - f->errors - f->lost);
	put(o, "strange", f->strange);
	put(o, "closed", f->closed);
	put(o, "unresolved", f->unsure);
	put(o, "useful_per_second",
	    counted_us > 0 ? f->useful * 1000000 / counted_us : 0);
	put(o, "useful_late", f->useful_late);
	put(o, "wait_min_ms", f->wait_min_ms);
	put(o, "wait_max_ms", f->wait_max_ms);
	put(o, "waits_missing", f->waits_missing);
	put_statuses(o, f);
	put_latency(o, "executed_ms", &f->executed);
	put_latency(o, "refused_ms", &f->refused);
	put_latency(o, "pending_ms", &f->pending);
	json_dumpf(o, out, JSON_INDENT(1) | JSON_REAL_PRECISION(5));
	(void)fprintf(out, "\n");
	json_decref(o);
}
