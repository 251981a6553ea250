#include "settle.h"

#include <string.h>

#include "base/amount.h"

static struct settle_verdict verdict(enum settle_action action, const char *why)
{
	return (struct settle_verdict){ action, why };
}

struct settle_verdict settle_claim(const struct settle_claim *c)
{
	bool enough = c->pool_cents >= c->amount_cents;

	if (c->found == SETTLE_FOUND_SAME) {
		return verdict(SETTLE_REPLAY, NULL);
	}
	/* Before its tranche is known nothing can be said about it, not even
	 * that it contradicts another claim. */
	if (!c->funded) {
		return verdict(SETTLE_PARK, "unfunded");
	}
	/* A packet's money leaves the pool once, whoever asks for it. */
	if (c->found == SETTLE_FOUND_PACKET) {
		return verdict(SETTLE_CONFLICT, "packet");
	}
	if (c->found == SETTLE_FOUND_HELD) {
		return verdict(SETTLE_CONFLICT, "held");
	}
	if (c->cancelled) {
		return verdict(SETTLE_PARK, "cancelled");
	}
	if (c->refunded) {
		return verdict(SETTLE_PARK, "refunded");
	}
	if (!enough) {
		return verdict(SETTLE_PARK, "short");
	}
	if (c->void_claim) {
		return verdict(SETTLE_HOLD, "void");
	}
	if (c->found == SETTLE_FOUND_USER) {
		return verdict(SETTLE_HOLD, "user");
	}
	if (c->found == SETTLE_FOUND_SEQ) {
		return verdict(SETTLE_HOLD, "seq");
	}
	return verdict(SETTLE_CREDIT, NULL);
}

static const char *const state_names[] = {
#define X(name) #name,
	SETTLE_STATE_MAP(X)
#undef X
};

const char *settle_state_name(enum settle_state s)
{
	check(s < SETTLE_STATE_END);
	return state_names[s];
}

enum settle_state settle_state_named(struct bytes name)
{
	for (int s = 0; s < SETTLE_STATE_END; s++) {
		if (bytes_eq(name, bytes_str(state_names[s]))) {
			return (enum settle_state)s;
		}
	}
	return SETTLE_STATE_UNKNOWN;
}

bool settle_keeps_state(enum event_change_kind kind)
{
	return kind == EVENT_TOPPED_UP || kind == EVENT_COUNTED ||
	       kind == EVENT_ENTROPY;
}

enum settle_state settle_state(const enum event_change_kind *newest_first,
			       size_t n)
{
	static const enum settle_state after[EVENT_CHANGE_END] = {
		[EVENT_CREATED] = SETTLE_STATE_CREATED,
		[EVENT_LOADED] = SETTLE_STATE_LOADED,
		[EVENT_OPENED] = SETTLE_STATE_OPEN,
		[EVENT_PAUSED] = SETTLE_STATE_PAUSED,
		[EVENT_RESUMED] = SETTLE_STATE_OPEN,
		[EVENT_HALTED] = SETTLE_STATE_HALTED,
		[EVENT_CLOSED] = SETTLE_STATE_CLOSED,
		[EVENT_CANCELLED] = SETTLE_STATE_CANCELLED,
		[EVENT_SETTLED] = SETTLE_STATE_SETTLED,
	};

	for (size_t i = 0; i < n; i++) {
		if (settle_keeps_state(newest_first[i])) {
			continue;
		}
		/* `resume` leads from HALTED to PAUSED, from there to OPEN. */
		if (newest_first[i] == EVENT_RESUMED && i + 1 < n &&
		    newest_first[i + 1] == EVENT_HALTED) {
			return SETTLE_STATE_PAUSED;
		}
		return after[newest_first[i]];
	}
	return SETTLE_STATE_UNKNOWN;
}

bool settle_fundable(const struct settle_books *b, int64_t sponsor_balance,
		     int64_t cents, int64_t packets)
{
	return cents <= AMOUNT_MAX_CENTS - b->funded_cents &&
	       packets <= AMOUNT_MAX_CENTS - b->funded_packets &&
	       sponsor_balance >= cents - SETTLE_BALANCE_MAX;
}

bool settle_creditable(int64_t balance, int64_t cents)
{
	return balance <= SETTLE_BALANCE_MAX - cents;
}

static bool closed_and_whole(const struct settle_books *b)
{
	return (b->state == SETTLE_STATE_CLOSED ||
		b->state == SETTLE_STATE_SETTLED) &&
	       b->final_claims >= 0 && b->leftover_cents >= 0 &&
	       b->waiting_tranches == 0 && b->parked == 0 &&
	       b->whole_seq >= b->final_claims;
}

enum settle_refund settle_refund(const struct settle_books *b)
{
	if (b->cancelled) {
		/* All that was funded goes back, also what is funded later. */
		if (b->waiting_tranches > 0) {
			return SETTLE_REFUND_WAIT;
		}
		if (b->credited_cents > 0 || b->held_cents > 0) {
			return SETTLE_REFUND_DIFFERS;
		}
		return b->pool_cents > 0 || !b->refund_done
			       ? SETTLE_REFUND_NOW
			       : SETTLE_REFUND_WAIT;
	}
	if (b->refund_done || !closed_and_whole(b)) {
		return SETTLE_REFUND_WAIT;
	}
	return b->pool_cents == b->leftover_cents &&
			       b->max_seq <= b->final_claims
		       ? SETTLE_REFUND_NOW
		       : SETTLE_REFUND_DIFFERS;
}

static void say_differs(const struct settle_books *b, struct buf *out)
{
	if (b->cancelled) {
		buf_printf(out,
			   "no refund: cancelled, but cents are credited "
			   "(%lld) or held (%lld); ",
			   (long long)b->credited_cents,
			   (long long)b->held_cents);
		return;
	}
	if (b->max_seq > b->final_claims) {
		buf_printf(out,
			   "no refund: closed with %lld %s, but seq %lld was "
			   "seen; ",
			   (long long)b->final_claims,
			   b->final_claims == 1 ? "claim" : "claims",
			   (long long)b->max_seq);
	}
	if (b->pool_cents != b->leftover_cents) {
		buf_printf(out,
			   "no refund: the pool has %lld cents, the packets "
			   "left are worth %lld, difference %lld; ",
			   (long long)b->pool_cents,
			   (long long)b->leftover_cents,
			   (long long)(b->pool_cents - b->leftover_cents));
	}
}

void settle_alarm(const struct settle_books *b, struct buf *out)
{
	if (settle_refund(b) == SETTLE_REFUND_DIFFERS) {
		say_differs(b, out);
	}
	if (b->refused_tranches > 0) {
		buf_printf(out,
			   "%lld %s not funded, for the activity or its "
			   "sponsor would have more than the books can hold; ",
			   (long long)b->refused_tranches,
			   b->refused_tranches == 1 ? "tranche is"
						    : "tranches are");
	}
	if (b->conflicts > 0) {
		buf_printf(out, "%lld %s for a decision; ",
			   (long long)b->conflicts,
			   b->conflicts == 1 ? "claim in conflict waits"
					     : "claims in conflict wait");
	}
	if (b->parked_alarming > 0) {
		buf_printf(out,
			   "%lld %s owed and cannot be paid from the pool; ",
			   (long long)b->parked_alarming,
			   b->parked_alarming == 1 ? "claim is" : "claims are");
	}
}

static const char *skip_digits(const char *s)
{
	return s + strspn(s, "0123456789");
}

bool settle_alarm_same(const char *one, const char *other)
{
	one = skip_digits(one);
	other = skip_digits(other);
	while (*one != '\0' && *one == *other) {
		one = skip_digits(one + 1);
		other = skip_digits(other + 1);
	}
	return *one == *other;
}

int64_t settle_gap(const struct settle_books *b)
{
	int64_t end = b->max_seq;

	if (b->final_claims > end) {
		end = b->final_claims;
	}
	return b->whole_seq < end ? b->whole_seq : -1;
}
