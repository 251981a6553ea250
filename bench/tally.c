#include "bench/tally.h"

#include <stdlib.h>

#include "base/check.h"
#include "proto/proto_util.h"

enum { LATE_US = 1000 * 1000 };

struct tally *tally_new(uint64_t activities)
{
	struct tally *t = xcalloc(1, sizeof *t);

	t->activities = activities;
	t->won = xcalloc(activities + 1, sizeof t->won[0]);
	return t;
}

void tally_free(struct tally *t)
{
	free(t->won);
	free(t);
}

bool tally_executed(unsigned status)
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

bool tally_final(unsigned status)
{
	return tally_executed(status) ||
	       status == RAIN__STATUS__NO_SUCH_ACTIVITY ||
	       status == RAIN__STATUS__DENIED;
}

/* What RATE_LIMITED says is exact, when the user's next tap has room; the
 * others have some chance in them. */
static void count_wait(struct tally *t, unsigned status, uint64_t wait_ms)
{
	if (wait_ms == 0) {
		t->waits_missing++;
		return;
	}
	if (status == RAIN__STATUS__RATE_LIMITED) {
		return;
	}
	if (t->wait_min_ms == 0 || wait_ms < t->wait_min_ms) {
		t->wait_min_ms = wait_ms;
	}
	if (wait_ms > t->wait_max_ms) {
		t->wait_max_ms = wait_ms;
	}
}

static void count_packet(struct tally *t, struct winners *winners,
			 const struct tally_answer *a, const Rain__GrabReply *m)
{
	bool won = m->status == RAIN__STATUS__WON ||
		   m->status == RAIN__STATUS__ALREADY_GRABBED;
	const Rain__RedPacket *packet = m->red_packet;

	if (won != (packet != NULL) ||
	    (won &&
	     (packet->amount_cents <= 0 || packet->red_packet_id.len == 0))) {
		t->wrong++;
		return;
	}
	if (!won) {
		return;
	}
	switch (winners_told(winners, a->user, a->activity,
			     from_pb(packet->red_packet_id),
			     packet->amount_cents)) {
	case WINNERS_NEW:
		t->won[a->activity].winners++;
		t->won[a->activity].cents += (uint64_t)packet->amount_cents;
		t->wins += a->in_window;
		break;
	case WINNERS_AGAIN:
		break;
	case WINNERS_OTHER:
		t->wrong++;
		break;
	}
}

void tally_count(struct tally *t, struct winners *winners,
		 const struct tally_answer *a, const Rain__GrabReply *m)
{
	unsigned status = (unsigned)m->status;
	bool executed = tally_executed(status);

	t->answers++;
	t->statuses[status < TALLY_STATUSES ? status : 0]++;
	if (winners != NULL) {
		count_packet(t, winners, a, m);
	}
	if (!tally_final(status)) {
		count_wait(t, status, m->retry_after_ms);
	}
	if (a->in_window) {
		t->in_window++;
		t->useful += executed;
		t->useful_late += executed && a->latency_us > LATE_US;
	}
	if (a->due_in_window) {
		histogram_add(&t->all, a->latency_us);
		histogram_add(executed                          ? &t->executed
			      : status == RAIN__STATUS__PENDING ? &t->pending
								: &t->refused,
			      a->latency_us);
	}
}

void tally_give_up(struct tally *t, uint64_t age_us, bool due_in_window)
{
	if (due_in_window) {
		histogram_add(&t->all, age_us);
	}
}

static void merge_waits(struct tally *t, const struct tally *other)
{
	if (t->wait_min_ms == 0 ||
	    (other->wait_min_ms > 0 && other->wait_min_ms < t->wait_min_ms)) {
		t->wait_min_ms = other->wait_min_ms;
	}
	if (other->wait_max_ms > t->wait_max_ms) {
		t->wait_max_ms = other->wait_max_ms;
	}
}

void tally_merge(struct tally *t, const struct tally *other)
{
	t->sent += other->sent;
	t->again += other->again;
	t->unsent += other->unsent;
	t->answers += other->answers;
	for (int i = 0; i < TALLY_STATUSES; i++) {
		t->statuses[i] += other->statuses[i];
	}
	t->errors += other->errors;
	t->lost += other->lost;
	t->unanswered += other->unanswered;
	t->strange += other->strange;
	t->closed += other->closed;
	t->turned_away += other->turned_away;
	t->wrong += other->wrong;
	t->waits_missing += other->waits_missing;
	merge_waits(t, other);
	check(t->activities == other->activities);
	for (uint64_t i = 0; i < t->activities; i++) {
		t->won[i].winners += other->won[i].winners;
		t->won[i].cents += other->won[i].cents;
	}
	t->in_window += other->in_window;
	t->useful += other->useful;
	t->useful_late += other->useful_late;
	t->wins += other->wins;
	histogram_merge(&t->all, &other->all);
	histogram_merge(&t->executed, &other->executed);
	histogram_merge(&t->refused, &other->refused);
	histogram_merge(&t->pending, &other->pending);
	histogram_merge(&t->late, &other->late);
}

struct tally_won tally_won(const struct tally *t)
{
	struct tally_won sum = { 0, 0 };

	for (uint64_t i = 0; i < t->activities; i++) {
		sum.winners += t->won[i].winners;
		sum.cents += t->won[i].cents;
	}
	return sum;
}
