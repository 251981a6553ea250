#include "lib/ledger_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/proto_util.h"
#include "rain/events.pb-c.h"
#include "settle-worker/ledger_sqlite.h"

static const char *const topic_names[] = {
	[EVENT_TOPIC_ACTIVITIES] = "rain.activities",
	[EVENT_TOPIC_CLAIMS] = "rain.claims",
};

static void open_both(struct fixture *f)
{
	struct ledger_position p[2] = { 0 };

	cr_assert_eq(ledger_open(f->path, &f->ledger), 0);
	cr_assert_eq(ledger_reader_open(f->ledger, &f->reader), 0);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(p[i].topic, sizeof p[i].topic, "%s",
			       topic_names[i]);
	}
	cr_assert_eq(ledger_positions(f->ledger, BYTES("test"), p, 2), 0);
	f->next[0] = p[0].next_offset;
	f->next[1] = p[1].next_offset;
}

void fixture_open(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	(void)snprintf(f->dir, sizeof f->dir, "/tmp/ledger-XXXXXX");
	cr_assert_not_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof f->path, "%s/ledger.db", f->dir);
	open_both(f);
}

static void close_both(struct fixture *f)
{
	ledger_reader_close(f->reader);
	ledger_close(f->ledger);
}

void fixture_reopen(struct fixture *f)
{
	close_both(f);
	open_both(f);
}

void fixture_close(struct fixture *f)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	char path[128];

	close_both(f);
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "%s%s", f->path, suffixes[i]);
		(void)unlink(path);
	}
	(void)rmdir(f->dir);
	for (size_t i = 0; i < f->count; i++) {
		buf_close(&f->messages[i].value);
	}
	free(f->messages);
}

static struct buf *add(struct fixture *f, enum event_topic topic)
{
	struct fixture_message *m;

	if (f->count == f->size) {
		f->size = f->size == 0 ? 64 : f->size * 2;
		f->messages =
			xrealloc(f->messages, f->size * sizeof *f->messages);
	}
	m = &f->messages[f->count++];
	m->topic = topic;
	buf_init(&m->value);
	return &m->value;
}

static void pack(struct buf *out, const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);

	buf_wrote(out, protobuf_c_message_pack(m, buf_room(out, n)));
}

void fixture_raw(struct fixture *f, enum event_topic topic, struct bytes bytes)
{
	buf_put_bytes(add(f, topic), bytes);
}

void fixture_claim_in(struct fixture *f, const char *activity,
		      const char *packet, const char *user, int64_t cents,
		      uint64_t seq, uint32_t tranche)
{
	Rain__ClaimEvent m = RAIN__CLAIM_EVENT__INIT;

	m.activity_id = to_pb_str(activity);
	m.red_packet_id = to_pb_str(packet);
	m.user_id = to_pb_str(user);
	m.amount_cents = cents;
	m.seq = seq;
	m.at_ms = (int64_t)FIXTURE_NOW * 1000 - 5;
	m.tranche = tranche;
	pack(add(f, EVENT_TOPIC_CLAIMS), &m.base);
}

void fixture_claim(struct fixture *f, const char *activity, const char *packet,
		   const char *user, int64_t cents, uint64_t seq)
{
	fixture_claim_in(f, activity, packet, user, cents, seq, 1);
}

static Rain__ActivityEvent change(const char *activity, uint64_t revision)
{
	Rain__ActivityEvent m = RAIN__ACTIVITY_EVENT__INIT;

	m.activity_id = to_pb_str(activity);
	m.revision = revision;
	m.at_ms = (int64_t)FIXTURE_NOW * 1000 - 10;
	return m;
}

static void add_change(struct fixture *f, const Rain__ActivityEvent *m)
{
	pack(add(f, EVENT_TOPIC_ACTIVITIES), &m->base);
}

void fixture_created(struct fixture *f, const char *activity, int64_t cents,
		     uint64_t packets)
{
	fixture_created_by(f, activity, "acme", cents, packets);
}

void fixture_created_by(struct fixture *f, const char *activity,
			const char *sponsor, int64_t cents, uint64_t packets)
{
	Rain__ActivityEvent m = change(activity, 1);
	Rain__ActivityCreated body = RAIN__ACTIVITY_CREATED__INIT;

	body.title = to_pb_str("Quiz night");
	body.sponsor = to_pb_str(sponsor);
	body.currency = to_pb_str("CNY");
	body.commitment = to_pb_str(FIXTURE_COMMITMENT);
	body.total_cents = cents;
	body.packets = packets;
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_CREATED;
	m.created = &body;
	add_change(f, &m);
}

void fixture_loaded(struct fixture *f, const char *activity, uint64_t revision,
		    uint32_t tranche, int64_t cents, uint64_t packets)
{
	Rain__ActivityEvent m = change(activity, revision);
	Rain__TrancheLoaded body = RAIN__TRANCHE_LOADED__INIT;

	body.tranche = tranche;
	body.total_cents = cents;
	body.packets = packets;
	body.commitment = to_pb_str(tranche == 1 ? "" : FIXTURE_COMMITMENT);
	m.change_case = tranche == 1 ? RAIN__ACTIVITY_EVENT__CHANGE_LOADED
				     : RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP;
	m.loaded = &body;
	add_change(f, &m);
}

void fixture_changed(struct fixture *f, const char *activity, uint64_t revision,
		     enum event_change_kind kind)
{
	Rain__ActivityEvent m = change(activity, revision);
	Rain__ActivityChanged body = RAIN__ACTIVITY_CHANGED__INIT;
	Rain__ActivityOpened opened = RAIN__ACTIVITY_OPENED__INIT;

	body.reason = to_pb_str("because");
	m.change_case =
		(Rain__ActivityEvent__ChangeCase)(RAIN__ACTIVITY_EVENT__CHANGE_CREATED +
						  (int)kind - EVENT_CREATED);
	if (kind == EVENT_OPENED) {
		m.opened = &opened;
	} else {
		m.paused = &body;
	}
	add_change(f, &m);
}

void fixture_entropy(struct fixture *f, const char *activity, uint64_t revision,
		     const char *hex)
{
	Rain__ActivityEvent m = change(activity, revision);
	Rain__EntropyAdded body = RAIN__ENTROPY_ADDED__INIT;

	body.entropy = to_pb_str(hex);
	body.by = to_pb_str("ops@studio");
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_ENTROPY;
	m.entropy = &body;
	add_change(f, &m);
}

void fixture_closed(struct fixture *f, const char *activity, uint64_t revision,
		    uint64_t claims, uint64_t left)
{
	Rain__ActivityEvent m = change(activity, revision);
	Rain__ActivityClosed body = RAIN__ACTIVITY_CLOSED__INIT;

	body.claims = claims;
	body.packets_left = left;
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_CLOSED;
	m.closed = &body;
	add_change(f, &m);
}

void fixture_counted(struct fixture *f, const char *activity, uint64_t revision,
		     int64_t leftover_cents)
{
	Rain__ActivityEvent m = change(activity, revision);
	Rain__LeftoverCounted body = RAIN__LEFTOVER_COUNTED__INIT;

	body.leftover_cents = leftover_cents;
	m.change_case = RAIN__ACTIVITY_EVENT__CHANGE_COUNTED;
	m.counted = &body;
	add_change(f, &m);
}

int fixture_try(struct fixture *f, const size_t *which, size_t n,
		struct ledger_result *result)
{
	struct event *events = xcalloc(n + 1, sizeof *events);
	struct ledger_move moves[2];
	struct ledger_batch b = { .cluster_id = BYTES("test"),
				  .moves = moves,
				  .move_count = 2,
				  .events = events,
				  .event_count = n,
				  .now_ms = (int64_t)FIXTURE_NOW * 1000 };

	int rv;

	for (int t = 0; t < 2; t++) {
		moves[t] = (struct ledger_move){ bytes_str(topic_names[t]), 0,
						 f->next[t], f->next[t] };
	}
	for (size_t i = 0; i < n; i++) {
		const struct fixture_message *m = &f->messages[which[i]];
		struct event_place place = {
			.topic = bytes_str(topic_names[m->topic]),
			.offset = moves[m->topic].to++,
			.value = buf_live(&m->value),
		};

		event_read(&events[i], m->topic, &place);
	}
	rv = ledger_apply(f->ledger, &b, result);
	if (rv == 0) {
		cr_assert_not(result->moved);
		f->next[0] = moves[0].to;
		f->next[1] = moves[1].to;
	}
	for (size_t i = 0; i < n; i++) {
		event_close(&events[i]);
	}
	free(events);
	return rv;
}

struct ledger_result fixture_apply_some(struct fixture *f, const size_t *which,
					size_t n)
{
	struct ledger_result result;

	cr_assert_eq(fixture_try(f, which, n, &result), 0, "%s",
		     ledger_why(f->ledger));
	return result;
}

struct ledger_result fixture_apply(struct fixture *f)
{
	size_t n = f->count - f->applied;
	size_t *which = xcalloc(n + 1, sizeof *which);
	struct ledger_result result;

	for (size_t i = 0; i < n; i++) {
		which[i] = f->applied + i;
	}
	result = fixture_apply_some(f, which, n);
	f->applied = f->count;
	free(which);
	return result;
}

struct ledger_totals fixture_totals(struct fixture *f, const char *activity)
{
	struct ledger_totals t;
	bool known = false;

	cr_assert_eq(ledger_totals(f->reader, bytes_str(activity), &t, &known),
		     0);
	cr_assert(known);
	cr_assert_eq(t.postings_cents, 0);
	return t;
}

int64_t fixture_balance(struct fixture *f, const char *user)
{
	char currency[8];
	int64_t cents = -1;

	cr_assert_eq(
		ledger_balance(f->reader, bytes_str(user), &cents, currency),
		0);
	return cents;
}

int64_t fixture_number(struct fixture *f, const char *query)
{
	struct ledger_sqlite *l =
		container_of(f->ledger, struct ledger_sqlite, base);
	sqlite3_stmt *st = NULL;
	int64_t n;

	cr_assert_eq(sqlite3_prepare_v2(l->q.db, query, -1, &st, NULL),
		     SQLITE_OK, "%s", sqlite3_errmsg(l->q.db));
	cr_assert_eq(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	(void)sqlite3_finalize(st);
	return n;
}

struct audit fixture_audit(struct fixture *f)
{
	struct audit a = { 0 };

	while (!a.done) {
		cr_assert_eq(ledger_audit(f->reader, &a, 1000), 0);
	}
	return a;
}

void fixture_run(struct fixture *f, const char *sql)
{
	struct ledger_sqlite *l =
		container_of(f->ledger, struct ledger_sqlite, base);

	cr_assert_eq(sqlite3_exec(l->q.db, sql, NULL, NULL, NULL), SQLITE_OK,
		     "%s", sqlite3_errmsg(l->q.db));
}

void fixture_sound(struct fixture *f)
{
	struct audit a = fixture_audit(f);

	cr_assert_eq(a.violations, 0, "%lld violations, %s: %s",
		     (long long)a.violations, a.findings[0].subject,
		     a.findings[0].what);
	/* Every transfer balances, not only their sum. */
	cr_assert_eq(fixture_number(f, "SELECT count(*) FROM (SELECT transfer "
				       "FROM transfer LEFT JOIN posting USING "
				       "(transfer) GROUP BY transfer HAVING "
				       "coalesce(sum(delta), 1) <> 0)"),
		     0);
	/* In halves, for all that a sponsor gave may be more than a sum can
	 * hold. */
	cr_assert_eq(fixture_number(f, "SELECT count(*) FROM account LEFT JOIN "
				       "(SELECT account, sum(delta >> 32) AS h,"
				       " sum(delta & 4294967295) AS l "
				       "FROM posting GROUP BY account) USING "
				       "(account) WHERE balance - "
				       "coalesce(l, 0) <> "
				       "coalesce(h, 0) * 4294967296"),
		     0);
}
