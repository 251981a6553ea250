/* Arguments and replies of our Dubbo services; the first byte chooses which.
 * A provider's reply to a grab is also turned into what the app gets. */
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "gateway/verdict.h"
#include "plan/plan.h"
#include "proto/grab_batch.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "rain/grab_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

enum {
	ARENA_MAX = 64 * 1024,
	MESSAGE_TEXT_MAX = 512,
	RETRY_MS = 50,
	COUNT_MAX = 100, /* packets of a plan that are worked out */
	BATCH_MAX = 100, /* grabs of a batch that are read in the short way */
	BATCH_ARENA_MAX = 16 * 1024 * 1024,
};

static const ProtobufCMessageDescriptor *const all[] = {
	&rain__grab_response__descriptor,
	&rain__create_request__descriptor,
	&rain__grab_request__descriptor,
	&rain__grab_batch_request__descriptor,
	&rain__grab_batch_response__descriptor,
	&rain__result_request__descriptor,
	&rain__activity_request__descriptor,
	&rain__activity_reply__descriptor,
	&rain__list_reply__descriptor,
	&rain__counters_reply__descriptor,
	&rain__page_request__descriptor,
	&rain__claims_reply__descriptor,
	&rain__packets_reply__descriptor,
	&rain__rewind_request__descriptor,
	&rain__balance_request__descriptor,
	&rain__ledger_balance_reply__descriptor,
	&rain__records_request__descriptor,
	&rain__records_reply__descriptor,
	&rain__totals_reply__descriptor,
	&rain__positions_reply__descriptor,
};

static void reply_to_app(const Rain__GrabReply *in, bool earlier)
{
	Rain__GrabReply out = RAIN__GRAB_REPLY__INIT;
	bool won;

	verdict_reply(in, earlier, RETRY_MS, &out);
	won = out.status == RAIN__STATUS__WON ||
	      out.status == RAIN__STATUS__ALREADY_GRABBED;
	check(won == (out.red_packet != NULL));
	check(out.status > RAIN__STATUS__STATUS_UNSPECIFIED &&
	      out.status <= RAIN__STATUS__PENDING);
	check(out.message.len <= MESSAGE_TEXT_MAX);
	check(bytes_utf8(from_pb(out.message)));
	/* Only a provider's own word makes a packet, or takes one away. */
	check(!won || out.red_packet == in->red_packet);
	check(!earlier || (out.status != RAIN__STATUS__BUSY &&
			   out.status != RAIN__STATUS__RATE_LIMITED));
}

/* What is read in the short way is what protobuf-c reads, and is written in the
 * short way as protobuf-c writes it. */
static void short_way(const ProtobufCMessageDescriptor *d, struct bytes packed)
{
	size_t n = grab_batch_count(packed);
	Rain__GrabRequest requests[BATCH_MAX];
	struct grab_answer answers[BATCH_MAX];
	struct grab_batch b;
	struct buf written;
	int64_t time_ms = 0;
	void *m;

	buf_init(&written);
	if (n > BATCH_MAX) {
		return;
	}
	if (d == &rain__grab_batch_request__descriptor &&
	    grab_batch_read_requests(packed, requests, n)) {
		for (size_t i = 0; i < n; i++) {
			grab_batch_put(&written, &requests[i]);
		}
	} else if (d == &rain__grab_batch_response__descriptor &&
		   grab_batch_read(packed, answers, n, &time_ms)) {
		for (size_t i = 0; i < n; i++) {
			grab_batch_put_answer(&written, &answers[i].response);
		}
		grab_batch_put_time(&written, time_ms);
	} else {
		return;
	}
	grab_batch_init(&b, buf_live(&written));
	check(fuzz_packs_to(&b.message, buf_live(&written)));
	m = proto_unpack(d, packed, BATCH_ARENA_MAX);
	check(m != NULL);
	check(fuzz_packs_to(m, buf_live(&written)));
	proto_free(m);
	buf_close(&written);
}

static void split(const struct allocate_rule *rule)
{
	static const uint8_t seed[ALLOCATE_SEED];
	int64_t amounts[COUNT_MAX];
	int64_t sum = 0;

	allocate(seed, rule, amounts);
	for (size_t i = 0; i < rule->count; i++) {
		check(amounts[i] >= rule->min_cents);
		check(rule->max_cents == 0 || amounts[i] <= rule->max_cents);
		sum += amounts[i];
	}
	check(sum == rule->total_cents);
}

static void keep_plan(const Rain__Plan *m)
{
	char text[PLAN_TEXT_MAX];
	char why[PLAN_WHY] = "";
	struct plan plan;
	size_t lines = 0;
	size_t n;

	if (!plan_read(m, &plan, why)) {
		check(why[0] != '\0' && memchr(why, 0, sizeof why) != NULL);
		return;
	}
	n = plan_text(&plan, text);
	check(n < sizeof text && text[n] == '\0' && strlen(text) == n);
	check(bytes_utf8(bytes_make(text, n)));
	for (size_t i = 0; i < n; i++) {
		lines += text[i] == '\n';
		check(text[i] == '\n' || (uint8_t)text[i] >= ' ');
	}
	check(lines == 13 + (size_t)(plan.rule.tier_count > 0) +
			       (size_t)(plan.release_ms != 0) +
			       (size_t)plan.rule.live);
	check(!plan.rule.live || plan.rule.algorithm == ALLOCATE_DOUBLE_MEAN);
	if (plan.rule.count <= COUNT_MAX && !plan_is_adopted(&plan)) {
		split(&plan.rule);
		/* Whatever can be split by it can be drawn live. */
		plan.rule.live = plan.rule.algorithm == ALLOCATE_DOUBLE_MEAN;
		split(&plan.rule);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes packed = bytes_make(data, size);
	uint8_t choice = fuzz_choice(&packed);
	const ProtobufCMessageDescriptor *d =
		all[choice % (sizeof all / sizeof all[0])];
	void *m = fuzz_message(d, packed, ARENA_MAX);

	short_way(d, packed);
	if (m == NULL) {
		return 0;
	}
	if (d == &rain__grab_response__descriptor) {
		const Rain__GrabResponse *r = m;

		if (r->reply != NULL) {
			reply_to_app(r->reply, false);
			reply_to_app(r->reply, true);
		}
	} else if (d == &rain__create_request__descriptor) {
		const Rain__CreateRequest *r = m;

		if (r->plan != NULL) {
			keep_plan(r->plan);
		}
	}
	proto_free(m);
	return 0;
}
