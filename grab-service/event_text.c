#include "event_text.h"

#include <jansson.h>

#include "base/amount.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"

/* All kinds of change at once; the message points at one of them. The texts
 * are views into the JSON. */
struct parts {
	Rain__ActivityCreated created;
	Rain__TrancheLoaded loaded;
	Rain__ActivityOpened opened;
	Rain__ActivityChanged changed;
	Rain__ActivityClosed closed;
	Rain__LeftoverCounted counted;
	Rain__EntropyAdded entropy;
};

/* A number as decimal text, or as a JSON integer. */
static bool get_u64(const json_t *o, const char *key, uint64_t max,
		    uint64_t *out)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v)) {
		return bytes_to_u64(
			bytes_make(json_string_value(v), json_string_length(v)),
			max, out);
	}
	if (json_is_integer(v) && json_integer_value(v) >= 0) {
		*out = (uint64_t)json_integer_value(v);
		return *out <= max;
	}
	return false;
}

static bool get_i64(const json_t *o, const char *key, int64_t *out)
{
	uint64_t v;

	if (!get_u64(o, key, AMOUNT_MAX_CENTS, &v)) {
		return false;
	}
	*out = (int64_t)v;
	return true;
}

static bool get_u32(const json_t *o, const char *key, uint32_t *out)
{
	uint64_t v;

	if (!get_u64(o, key, UINT32_MAX, &v)) {
		return false;
	}
	*out = (uint32_t)v;
	return true;
}

static bool get_text(const json_t *o, const char *key, ProtobufCBinaryData *out)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v)) {
		return false;
	}
	*out = to_pb(bytes_make(json_string_value(v), json_string_length(v)));
	return true;
}

static bool get_created(const json_t *o, Rain__ActivityCreated *m)
{
	return get_text(o, "title", &m->title) &&
	       get_text(o, "sponsor", &m->sponsor) &&
	       get_text(o, "currency", &m->currency) &&
	       get_i64(o, "total_cents", &m->total_cents) &&
	       get_u64(o, "packets", AMOUNT_MAX_CENTS, &m->packets) &&
	       get_text(o, "commitment", &m->commitment) &&
	       get_i64(o, "start_ms", &m->start_ms) &&
	       get_i64(o, "end_ms", &m->end_ms) && get_text(o, "ack", &m->ack);
}

/* It may be missing, but nothing else than text. */
static bool may_get_text(const json_t *o, const char *key,
			 ProtobufCBinaryData *out)
{
	return json_object_get(o, key) == NULL || get_text(o, key, out);
}

static bool get_loaded(const json_t *o, Rain__TrancheLoaded *m)
{
	return get_u32(o, "tranche", &m->tranche) &&
	       get_u64(o, "packets", AMOUNT_MAX_CENTS, &m->packets) &&
	       get_i64(o, "total_cents", &m->total_cents) &&
	       may_get_text(o, "commitment", &m->commitment);
}

static bool get_closed(const json_t *o, Rain__ActivityClosed *m)
{
	return get_u64(o, "claims", AMOUNT_MAX_CENTS, &m->claims) &&
	       get_u64(o, "packets_left", AMOUNT_MAX_CENTS, &m->packets_left) &&
	       get_text(o, "seed", &m->seed) &&
	       may_get_text(o, "topup_seeds", &m->topup_seeds);
}

static bool get_counted(const json_t *o, Rain__LeftoverCounted *m)
{
	return get_i64(o, "leftover_cents", &m->leftover_cents) &&
	       get_u64(o, "packets_left", AMOUNT_MAX_CENTS, &m->packets_left);
}

/* X(type, CASE): changes that carry nothing but a reason. */
#define CHANGED_MAP(X)          \
	X(paused, PAUSED)       \
	X(resumed, RESUMED)     \
	X(halted, HALTED)       \
	X(cancelled, CANCELLED) \
	X(settled, SETTLED)

static bool get_change(const json_t *o, struct bytes type, struct parts *p,
		       Rain__ActivityEvent *m)
{
	if (bytes_eq(type, BYTES("created"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_CREATED;
		m->created = &p->created;
		return get_created(o, &p->created);
	}
	if (bytes_eq(type, BYTES("loaded"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_LOADED;
		m->loaded = &p->loaded;
		return get_loaded(o, &p->loaded);
	}
	if (bytes_eq(type, BYTES("topped_up"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP;
		m->topped_up = &p->loaded;
		return get_loaded(o, &p->loaded);
	}
	if (bytes_eq(type, BYTES("opened"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_OPENED;
		m->opened = &p->opened;
		return get_u64(o, "packets", AMOUNT_MAX_CENTS,
			       &p->opened.packets);
	}
	if (bytes_eq(type, BYTES("closed"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_CLOSED;
		m->closed = &p->closed;
		return get_closed(o, &p->closed);
	}
	if (bytes_eq(type, BYTES("counted"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_COUNTED;
		m->counted = &p->counted;
		return get_counted(o, &p->counted);
	}
	if (bytes_eq(type, BYTES("entropy"))) {
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_ENTROPY;
		m->entropy = &p->entropy;
		return get_text(o, "entropy", &p->entropy.entropy) &&
		       get_text(o, "by", &p->entropy.by);
	}
#define X(name, upper)                                                 \
	if (bytes_eq(type, BYTES(#name))) {                            \
		m->change_case = RAIN__ACTIVITY_EVENT__CHANGE_##upper; \
		m->name = &p->changed;                                 \
		return get_text(o, "reason", &p->changed.reason);      \
	}
	CHANGED_MAP(X)
#undef X
	return false;
}

static void pack(const Rain__ActivityEvent *m, struct buf *out)
{
	size_t n = rain__activity_event__get_packed_size(m);

	(void)rain__activity_event__pack(m, buf_room(out, n));
	buf_wrote(out, n);
}

static bool convert(struct bytes activity_id, const json_t *o, struct buf *out,
		    const char **why)
{
	struct parts p;
	Rain__ActivityEvent m = RAIN__ACTIVITY_EVENT__INIT;
	ProtobufCBinaryData type = { 0 };

	rain__activity_created__init(&p.created);
	rain__tranche_loaded__init(&p.loaded);
	rain__activity_opened__init(&p.opened);
	rain__activity_changed__init(&p.changed);
	rain__activity_closed__init(&p.closed);
	rain__leftover_counted__init(&p.counted);
	rain__entropy_added__init(&p.entropy);
	m.activity_id = to_pb(activity_id);
	if (!get_text(o, "type", &type) ||
	    !get_u64(o, "revision", AMOUNT_MAX_CENTS, &m.revision) ||
	    m.revision == 0 || !get_i64(o, "atMs", &m.at_ms)) {
		*why = "type, revision or atMs is missing";
		return false;
	}
	if (!get_change(o, from_pb(type), &p, &m)) {
		*why = "an unknown type, or a field is missing";
		return false;
	}
	pack(&m, out);
	return true;
}

bool event_text_pack(struct bytes activity_id, struct bytes text,
		     struct buf *out, const char **why)
{
	json_t *o = json_loadb((const char *)text.p, text.n,
			       JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	bool ok;

	if (!json_is_object(o)) {
		json_decref(o);
		*why = "not a JSON object";
		return false;
	}
	ok = convert(activity_id, o, out, why);
	json_decref(o);
	return ok;
}
