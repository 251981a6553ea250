/* What happens to a claim: the facts from the tables, the decision from
 * settle_claim(), the rows that follow from it. */
#include "base/err.h"
#include "ledger_sqlite_tx.h"

static bool is_void(const struct event_claim *c)
{
	return c->user_id.s[0] == '#';
}

static bool tranche_funded(const struct tx_activity *a, int64_t tranche)
{
	for (size_t i = 0; i < a->tranche_count; i++) {
		if (a->tranches[i].number == tranche) {
			return a->tranches[i].funded;
		}
	}
	return false;
}

/* 1 if the statement has a row, 0 if not, or ERR_STORE. */
static int any(struct tx *tx, int s, int rv)
{
	if (rv >= 0) {
		sql_done(tx->q, s);
	}
	return rv;
}

static int packet_paid(struct tx *tx, const struct tx_activity *a,
		       const struct event_claim *c, enum settle_found *found)
{
	struct sql *q = tx->q;
	int rv = sql_first(q, S_RECORD_BY_PACKET, "is", a->number,
			   event_id_view(&c->red_packet_id));

	if (rv < 0) {
		return rv;
	}
	if (rv == 1) {
		bool same =
			bytes_eq(sql_text(q, S_RECORD_BY_PACKET, 0),
				 event_id_view(&c->user_id)) &&
			sql_int(q, S_RECORD_BY_PACKET, 1) == c->amount_cents &&
			sql_int(q, S_RECORD_BY_PACKET, 2) == c->seq;

		*found = same ? SETTLE_FOUND_SAME : SETTLE_FOUND_PACKET;
	}
	sql_done(q, S_RECORD_BY_PACKET);
	return 0;
}

/* Whether the statement has a row makes *found the given one. */
#define PROBE(s, value, ...)                                           \
	do {                                                           \
		rv = any(tx, (s), sql_first(tx->q, (s), __VA_ARGS__)); \
		if (rv < 0) {                                          \
			return rv;                                     \
		}                                                      \
		if (rv == 1) {                                         \
			*found = (value);                              \
			return 0;                                      \
		}                                                      \
	} while (0)

/* *noted: there is a conflict of this packet, user and amount, but of another
 * seq. It stands for this claim too, should that be one. */
static int in_conflict(struct tx *tx, const struct tx_activity *a,
		       const struct event_claim *c, enum settle_found *found,
		       bool *noted)
{
	struct sql *q = tx->q;
	int rv;

	if (a->conflicts == 0) {
		return 0;
	}
	rv = sql_first(q, S_CONFLICT_SAME, "issi", a->number,
		       event_id_view(&c->red_packet_id),
		       event_id_view(&c->user_id), c->amount_cents);
	if (rv < 0) {
		return rv;
	}
	if (rv == 1 && sql_int(q, S_CONFLICT_SAME, 0) == c->seq) {
		*found = SETTLE_FOUND_SAME;
	}
	*noted = rv == 1;
	sql_done(q, S_CONFLICT_SAME);
	return 0;
}

static int look_up(struct tx *tx, const struct tx_activity *a,
		   const struct event_claim *c, enum settle_found *found,
		   bool *noted)
{
	int rv;

	*found = SETTLE_FOUND_NOTHING;
	*noted = false;
	rv = in_conflict(tx, a, c, found, noted);
	if (rv != 0 || *found != SETTLE_FOUND_NOTHING) {
		return rv;
	}
	rv = packet_paid(tx, a, c, found);
	if (rv != 0 || *found != SETTLE_FOUND_NOTHING) {
		return rv;
	}
	if (a->conflicts > 0) {
		PROBE(S_CONFLICT_HELD, SETTLE_FOUND_HELD, "is", a->number,
		      event_id_view(&c->red_packet_id));
	}
	PROBE(S_RECORD_BY_USER, SETTLE_FOUND_USER, "iss", a->number,
	      event_id_view(&c->user_id), bytes_str(a->currency));
	PROBE(S_RECORD_BY_SEQ, SETTLE_FOUND_SEQ, "ii", a->number, c->seq);
	return 0;
}

int tx_unpark_one(struct tx *tx, struct tx_activity *a,
		  const struct event_claim *c)
{
	struct bytes packet = event_id_view(&c->red_packet_id);
	int rv;

	if (a->books.parked == 0) {
		return 0;
	}
	rv = sql_run(tx->q, S_PARKED_DELETE, "issii", a->number, packet,
		     event_id_view(&c->user_id), c->amount_cents, c->seq);
	if (rv != 0) {
		return rv;
	}
	a->books.parked -= sql_changes(tx->q);
	rv = any(tx, S_PARKED_OF_PACKET,
		 sql_first(tx->q, S_PARKED_OF_PACKET, "is", a->number, packet));
	a->look_again = a->look_again || rv == 1;
	return rv < 0 ? rv : 0;
}

/* The account of the one who claims; *room false: it can hold no more. */
static int user_account(struct tx *tx, const struct tx_activity *a,
			const struct event_claim *c, int64_t *account,
			bool *room)
{
	int64_t balance = 0;
	int rv = tx_account(tx, "user", event_id_view(&c->user_id),
			    bytes_str(a->currency), account, &balance);

	*room = settle_creditable(balance, c->amount_cents);
	return rv;
}

static int add_conflict(struct tx *tx, struct tx_activity *a,
			const struct event_claim *c, const char *why,
			int64_t transfer)
{
	int rv = any(tx, S_CONFLICT_ADD,
		     sql_first(tx->q, S_CONFLICT_ADD, "issiiiisii", a->number,
			       event_id_view(&c->red_packet_id),
			       event_id_view(&c->user_id), c->amount_cents,
			       c->seq, c->tranche, c->at_ms, bytes_str(why),
			       transfer, tx->batch->now_ms));

	if (rv == 1) {
		a->conflicts++;
		tx->result->conflicts++;
	} else if (rv == 0) {
		tx->result->replays++;
	}
	return rv < 0 ? rv : tx_unpark_one(tx, a, c);
}

static int hold(struct tx *tx, struct tx_activity *a,
		const struct event_claim *c, const char *why)
{
	int64_t before = a->conflicts;
	int rv = tx_transfer_start(tx, a, &a->hold, "hold");

	if (rv == 0) {
		rv = add_conflict(tx, a, c, why, a->hold.number);
	}
	if (rv == 0 && a->conflicts != before + 1) {
		rv = sql_damaged(tx->q, "a conflict was not found");
	}
	if (rv != 0) {
		return rv;
	}
	a->hold.cents += c->amount_cents;
	a->books.pool_cents -= c->amount_cents;
	a->books.pool_packets--;
	a->books.held_cents += c->amount_cents;
	a->books.held_packets++;
	return 0;
}

/* A replay of what waits, perhaps for another reason than before. */
static int note_reason(struct tx *tx, const struct tx_activity *a,
		       const struct event_claim *c, const char *why)
{
	tx->result->replays++;
	return sql_run(tx->q, S_PARKED_REASON, "isss", a->number,
		       event_id_view(&c->red_packet_id),
		       event_id_view(&c->user_id), bytes_str(why));
}

/* The same packet and user wait already, with this amount and seq or not. */
static int park_again(struct tx *tx, struct tx_activity *a,
		      const struct event_claim *c, const char *why)
{
	struct bytes packet = event_id_view(&c->red_packet_id);
	struct bytes user = event_id_view(&c->user_id);
	int rv = sql_only(tx->q, S_PARKED_GET, "iss", a->number, packet, user);
	bool same;

	if (rv != 0) {
		return rv;
	}
	same = sql_int(tx->q, S_PARKED_GET, 0) == c->amount_cents &&
	       sql_int(tx->q, S_PARKED_GET, 1) == c->seq &&
	       sql_int(tx->q, S_PARKED_GET, 2) == c->tranche;
	sql_done(tx->q, S_PARKED_GET);
	if (same) {
		return note_reason(tx, a, c, why);
	}
	return add_conflict(tx, a, c, "parked", 0);
}

static int park(struct tx *tx, struct tx_activity *a,
		const struct event_claim *c, const char *why)
{
	int rv = any(tx, S_PARKED_ADD,
		     sql_first(tx->q, S_PARKED_ADD, "issiiiisi", a->number,
			       event_id_view(&c->red_packet_id),
			       event_id_view(&c->user_id), c->amount_cents,
			       c->seq, c->tranche, c->at_ms, bytes_str(why),
			       tx->batch->now_ms));

	if (rv == 0) {
		return park_again(tx, a, c, why);
	}
	if (rv == 1) {
		a->books.parked++;
		tx->result->parked++;
		rv = 0;
	}
	return rv;
}

static int credit(struct tx *tx, struct tx_activity *a,
		  const struct event_claim *c)
{
	int64_t account = 0;
	bool room = false;
	bool added = false;
	int rv = user_account(tx, a, c, &account, &room);

	if (rv == 0 && !room) {
		return park(tx, a, c, "balance");
	}
	if (rv == 0) {
		rv = tx_transfer_start(tx, a, &a->credit, "credit");
	}
	if (rv == 0) {
		rv = tx_record(tx, a, c, account, &added);
	}
	if (rv == 0 && !added) {
		rv = sql_damaged(tx->q, "a record was not found");
	}
	return rv;
}

static struct settle_claim facts(const struct tx_activity *a,
				 const struct event_claim *c)
{
	return (struct settle_claim){
		.void_claim = is_void(c),
		.funded = tranche_funded(a, c->tranche),
		.cancelled = a->books.cancelled,
		.refunded = a->books.refund_done,
		.pool_cents = a->books.pool_cents,
		.amount_cents = c->amount_cents,
	};
}

int tx_claim_closely(struct tx *tx, struct tx_activity *a,
		     const struct event_claim *c)
{
	struct settle_claim f = facts(a, c);
	struct settle_verdict v;
	bool noted;
	int rv = look_up(tx, a, c, &f.found, &noted);

	if (rv != 0) {
		return rv;
	}
	v = settle_claim(&f);
	if (noted && v.action == SETTLE_HOLD) {
		v.action = SETTLE_CONFLICT;
	} else if (noted && v.action == SETTLE_PARK) {
		return note_reason(tx, a, c, v.why);
	}
	switch (v.action) {
	case SETTLE_CREDIT:
		return credit(tx, a, c);
	case SETTLE_PARK:
		return park(tx, a, c, v.why);
	case SETTLE_HOLD:
		return hold(tx, a, c, v.why);
	case SETTLE_CONFLICT:
		return add_conflict(tx, a, c, v.why, 0);
	case SETTLE_REPLAY:
		break;
	}
	tx->result->replays++;
	return 0;
}

/* Nothing that is known of the activity speaks against it: whether a record
 * does the insert decides. The first of a transaction is looked up, so that a
 * batch of mere replays makes no empty transfer. */
static bool plain(const struct tx_activity *a, const struct event_claim *c)
{
	struct settle_claim f = facts(a, c);

	return a->credit.number != 0 && a->conflicts == 0 &&
	       settle_claim(&f).action == SETTLE_CREDIT;
}

/* *added: it is settled, or will be with the group. Who waits is not in a group,
 * for with his record there may be more to do. */
static int try_credit(struct tx *tx, struct tx_activity *a,
		      const struct event_claim *c, bool *added)
{
	int64_t account = 0;
	bool room = false;
	int rv;

	if (a->books.parked == 0) {
		*added = true;
		return tx_group_put(tx, a, c);
	}
	check(tx->group.n == 0); /* none waited when it was filled */
	rv = user_account(tx, a, c, &account, &room);
	return rv == 0 && room ? tx_record(tx, a, c, account, added) : rv;
}

int tx_claim(struct tx *tx, struct tx_activity *a, const struct event_claim *c)
{
	bool added = false;
	int rv = 0;

	if (c->seq > a->books.max_seq) {
		a->books.max_seq = c->seq;
	}
	if (tx->group.n > 0 && tx->group.activity != a) {
		rv = tx_group_flush(tx);
	}
	if (rv == 0 && plain(a, c)) {
		rv = try_credit(tx, a, c, &added);
	}
	if (rv == 0 && !added) {
		rv = tx_group_flush(tx);
	}
	return rv == 0 && !added ? tx_claim_closely(tx, a, c) : rv;
}
