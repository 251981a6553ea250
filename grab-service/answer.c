#include "answer.h"

#include "base/rand.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

enum {
	RETRY_MIN_MS = 50,
	RETRY_START_MAX_MS = 10000, /* ask again at least so often */
	RETRY_PAUSED_MS = 500,
	RETRY_EARLY_MS = 500,
	RETRY_SOON_MS = 100,
};

uint32_t answer_jitter(uint64_t base_ms)
{
	/* Three quarters to five quarters. */
	return (uint32_t)(base_ms * 3 / 4 + rand_below(base_ms / 2 + 1));
}

static uint32_t within(int64_t wait_ms, int64_t least_ms)
{
	if (wait_ms > RETRY_START_MAX_MS) {
		return RETRY_START_MAX_MS;
	}
	return (uint32_t)(wait_ms > least_ms ? wait_ms : least_ms);
}

uint32_t answer_retry_ms(int status, int64_t wait_ms)
{
	uint32_t wait;

	switch (status) {
	case RAIN__STATUS__NOT_STARTED:
		if (wait_ms > 0) {
			/* Not before the start, and not all at once. */
			return within(wait_ms, 1) +
			       (uint32_t)rand_below(RETRY_MIN_MS);
		}
		return answer_jitter(RETRY_EARLY_MS);
	case RAIN__STATUS__NOT_YET:
		wait = within(wait_ms, RETRY_SOON_MS);
		return wait + (uint32_t)rand_below(wait / 2 + 1);
	case RAIN__STATUS__PAUSED:
		return answer_jitter(RETRY_PAUSED_MS);
	case RAIN__STATUS__BUSY:
	case RAIN__STATUS__PENDING:
	case RAIN__STATUS__RATE_LIMITED:
		return answer_jitter(RETRY_SOON_MS);
	default:
		return 0;
	}
}

uint32_t answer_stands_ms(int status, int64_t wait_ms)
{
	switch (status) {
	case RAIN__STATUS__SOLD_OUT: /* another chunk would move `packets` */
	case RAIN__STATUS__PAUSED:   /* to resume moves the revision */
	case RAIN__STATUS__ENDED:
		return UINT32_MAX;
	case RAIN__STATUS__NOT_STARTED:
		/* Without a wait it is not open: to open moves the revision. */
		return wait_ms <= 0 || wait_ms > UINT32_MAX ? UINT32_MAX
							    : (uint32_t)wait_ms;
	case RAIN__STATUS__NOT_YET:
		if (wait_ms <= 0) {
			return 0;
		}
		return wait_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)wait_ms;
	default:
		return 0;
	}
}

const char *answer_message(int status)
{
	switch (status) {
	case RAIN__STATUS__WON:
		return "the packet is yours";
	case RAIN__STATUS__ALREADY_GRABBED:
		return "you have this packet already";
	case RAIN__STATUS__SOLD_OUT:
		return "every packet has been taken";
	case RAIN__STATUS__NOT_STARTED:
		return "the activity is not open yet";
	case RAIN__STATUS__NOT_YET:
		return "no packet has been released at this moment";
	case RAIN__STATUS__PAUSED:
		return "the activity is paused";
	case RAIN__STATUS__ENDED:
		return "the activity is over";
	case RAIN__STATUS__NO_SUCH_ACTIVITY:
		return "there is no such activity";
	case RAIN__STATUS__DENIED:
		return "the ids are not acceptable: " ID_RULE;
	case RAIN__STATUS__PENDING:
		return "the outcome is not known yet";
	default:
		return "no room or no time, nothing was done";
	}
}

void answer_read(const struct step_reply *reply, size_t i, struct verdict *v)
{
	v->claim = step_text(reply, REPLY_USERS + i);
	if (v->claim.n == 0) {
		if (!step_number(reply, REPLY_USERS + i, &v->status)) {
			v->status = RAIN__STATUS__PENDING;
		}
	} else if (v->claim.p[0] == '*') {
		v->status = RAIN__STATUS__ALREADY_GRABBED;
		v->claim = bytes_make(v->claim.p + 1, v->claim.n - 1);
	} else {
		v->status = RAIN__STATUS__WON;
	}
}

static struct answer without_packet(const struct verdict *v, int status)
{
	return (struct answer){
		.status = status,
		.retry_after_ms = answer_retry_ms(status, v->wait_ms),
		.revision = v->revision,
		.packets = v->packets,
		.stands_ms = v->question || v->counts
				     ? 0
				     : answer_stands_ms(status, v->wait_ms),
		.message = answer_message(status),
	};
}

static struct answer with_packet(const struct verdict *v, int status,
				 struct claim *claim)
{
	const char *why = NULL;

	if (!claim_parse(v->claim, claim, &why) ||
	    !bytes_eq(claim->user_id, v->user)) {
		*claim = (struct claim){ 0 };
		return without_packet(v, RAIN__STATUS__PENDING);
	}
	return (struct answer){
		.status = status,
		.red_packet_id = claim->packet.red_packet_id,
		.amount_cents = claim->packet.amount_cents,
		.at_ms = claim->at_ms,
		.revision = v->revision,
		.packets = v->packets,
		.message = answer_message(status),
	};
}

/* A question that would be a win if it was a grab: BUSY is about the grab that
 * it asks for, and there was none, or it came too late. */
static struct answer no_grab(const struct verdict *v)
{
	struct answer answer = without_packet(v, (int)v->status);

	if (v->question && v->status == RAIN__STATUS__BUSY) {
		answer.message = "no packet yet: this user's grab was not "
				 "executed; tap again";
	}
	return answer;
}

struct answer answer_unproven(const struct verdict *v)
{
	return without_packet(v, RAIN__STATUS__PENDING);
}

struct answer answer_make(const struct verdict *v, struct claim *claim)
{
	*claim = (struct claim){ 0 };
	switch (v->status) {
	case RAIN__STATUS__WON:
	case RAIN__STATUS__ALREADY_GRABBED:
		return with_packet(v, (int)v->status, claim);
	case RAIN__STATUS__SOLD_OUT:
	case RAIN__STATUS__ENDED:
		/* Also for an unsure ask: a try that is still on its way comes
		 * to the same word. */
		return without_packet(v, (int)v->status);
	case RAIN__STATUS__NOT_STARTED:
	case RAIN__STATUS__NOT_YET:
	case RAIN__STATUS__PAUSED:
	case RAIN__STATUS__BUSY:
		/* BUSY says that the grab never will be executed. With an
		 * earlier try on its way, or a claim that may be what is
		 * missing, nobody can say that. */
		if (v->unsure || (v->question && v->counts)) {
			return without_packet(v, RAIN__STATUS__PENDING);
		}
		return no_grab(v);
	default:
		return without_packet(v, RAIN__STATUS__PENDING);
	}
}

void answer_response(const struct answer *answer, struct grab_answer *m)
{
	rain__grab_response__init(&m->response);
	rain__grab_reply__init(&m->reply);
	m->response.reply = &m->reply;
	m->response.revision = answer->revision;
	m->response.packets = answer->packets;
	m->response.stands_ms = answer->stands_ms;
	m->reply.status = (Rain__Status)answer->status;
	m->reply.retry_after_ms = answer->retry_after_ms;
	m->reply.message = to_pb_str(answer->message);
	if (answer->red_packet_id.n > 0) {
		rain__red_packet__init(&m->red_packet);
		m->reply.red_packet = &m->red_packet;
		m->red_packet.red_packet_id = to_pb(answer->red_packet_id);
		m->red_packet.amount_cents = answer->amount_cents;
		m->red_packet.at_ms = answer->at_ms;
	}
}
