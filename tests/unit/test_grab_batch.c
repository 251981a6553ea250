/* What a gateway asks of a grab-service, and what that answers: the short ways
 * and those through descriptors agree. */
#include <criterion/criterion.h>

#include "lib/packed.h"
#include "proto/grab_batch.h"
#include "proto/proto_util.h"

enum { ARENA = 256 * 1024, GRABS = 4, ROUNDS = 3000 };

/* The same numbers in every run, of every length on the wire. */
static uint64_t any_number(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> (state % 64);
}

static bool any_bool(void)
{
	return (any_number() & 1) != 0;
}

static ProtobufCBinaryData any_text(void)
{
	static char text[300];

	memset(text, 'x', sizeof(text));
	return to_pb(bytes_make(text, any_bool() ? 0 : any_number() % 300));
}

/* What was written in the short way is what protobuf-c makes of m. */
static void same_bytes(struct buf *written, const ProtobufCMessage *m)
{
	struct grab_batch b;
	struct buf ours;
	struct buf theirs = packed_message(m);

	grab_batch_init(&b, buf_live(written));
	ours = packed_message(&b.message);
	cr_assert(bytes_eq(buf_live(&ours), buf_live(&theirs)));
	buf_close(&ours);
	buf_close(&theirs);
	buf_close(written);
}

/* Every end of a batch, and every byte of it as every other byte: how many are
 * read in the short way. */
static size_t spoiled(struct bytes batch,
		      bool (*reads)(struct bytes value, size_t count))
{
	size_t good = 0;

	for (size_t end = 0; end <= batch.n; end++) {
		uint8_t *copy = xmalloc(end + 1);

		memcpy(copy, batch.p, end);
		good += reads(bytes_make(copy, end), GRABS);
		for (size_t i = 0; end == batch.n && i < end; i++) {
			for (unsigned v = 0; v < 256; v++) {
				copy[i] = (uint8_t)v;
				good += reads(bytes_make(copy, end), GRABS);
			}
			copy[i] = batch.p[i];
		}
		free(copy);
	}
	return good;
}

/* ---- Answers ---- */

struct answers {
	Rain__GrabBatchResponse m;
	Rain__GrabResponse *list[GRABS];
	struct grab_answer all[GRABS];
};

static void answers_init(struct answers *a)
{
	rain__grab_batch_response__init(&a->m);
	for (size_t i = 0; i < GRABS; i++) {
		rain__grab_response__init(&a->all[i].response);
		rain__grab_reply__init(&a->all[i].reply);
		rain__red_packet__init(&a->all[i].red_packet);
		a->list[i] = &a->all[i].response;
	}
	a->m.responses = a->list;
	a->m.n_responses = GRABS;
}

/* A win, a refusal, what stands, and nothing. */
static struct buf answers_packed(void)
{
	struct answers a;

	answers_init(&a);
	a.all[0].red_packet.red_packet_id = to_pb_str("365628");
	a.all[0].red_packet.amount_cents = 1221;
	a.all[0].red_packet.at_ms = INT64_C(1764430000000);
	a.all[0].reply.status = RAIN__STATUS__WON;
	a.all[0].reply.red_packet = &a.all[0].red_packet;
	a.all[1].reply.status = RAIN__STATUS__BUSY;
	a.all[1].reply.retry_after_ms = 300;
	a.all[1].reply.message = to_pb_str("later");
	a.all[2].reply.status = RAIN__STATUS__SOLD_OUT;
	a.all[2].response.stands_ms = UINT32_MAX;
	a.all[2].response.packets = 20000;
	for (size_t i = 0; i < GRABS - 1; i++) {
		a.all[i].response.reply = &a.all[i].reply;
		a.all[i].response.revision = i * 100;
	}
	a.m.time_ms = INT64_C(1764430000001);
	return packed_message(&a.m.base);
}

static void same_reply(const Rain__GrabReply *a, const Rain__GrabReply *b)
{
	cr_assert_eq(a->status, b->status);
	cr_assert_eq(a->retry_after_ms, b->retry_after_ms);
	cr_assert(bytes_eq(from_pb(a->message), from_pb(b->message)));
	cr_assert_eq(a->red_packet == NULL, b->red_packet == NULL);
	if (a->red_packet != NULL) {
		cr_assert(bytes_eq(from_pb(a->red_packet->red_packet_id),
				   from_pb(b->red_packet->red_packet_id)));
		cr_assert_eq(a->red_packet->amount_cents,
			     b->red_packet->amount_cents);
		cr_assert_eq(a->red_packet->at_ms, b->red_packet->at_ms);
	}
}

static void same_response(const Rain__GrabResponse *a,
			  const Rain__GrabResponse *b)
{
	cr_assert_eq(a->revision, b->revision);
	cr_assert_eq(a->time_ms, b->time_ms);
	cr_assert_eq(a->stands_ms, b->stands_ms);
	cr_assert_eq(a->packets, b->packets);
	cr_assert_eq(a->reply == NULL, b->reply == NULL);
	if (a->reply != NULL) {
		same_reply(a->reply, b->reply);
	}
}

/* Whether it is read in the short way; if so, then as in the other. */
static bool reads_answers(struct bytes value, size_t count)
{
	struct grab_answer *ours = xmalloc((count + 1) * sizeof(*ours));
	Rain__GrabBatchResponse *m = NULL;
	int64_t time_ms;
	bool good = grab_batch_read(value, ours, count, &time_ms);

	if (good) {
		m = proto_unpack(&rain__grab_batch_response__descriptor, value,
				 ARENA);
		cr_assert(m != NULL, "what is refused is refused");
		cr_assert_eq(m->n_responses, count);
		cr_assert_eq(m->time_ms, time_ms);
	}
	for (size_t i = 0; good && i < count; i++) {
		same_response(&ours[i].response, m->responses[i]);
	}
	proto_free(m);
	free(ours);
	return good;
}

Test(grab_batch, reads_what_services_write)
{
	struct buf b = answers_packed();

	cr_assert(reads_answers(buf_live(&b), GRABS));
	cr_assert(!reads_answers(buf_live(&b), GRABS - 1), "one too many");
	cr_assert(!reads_answers(buf_live(&b), GRABS + 1), "one too few");
	cr_assert(reads_answers(bytes_make(NULL, 0), 0),
		  "the time is not known");
	cr_assert(reads_answers(BYTES("\x10\x05"), 0), "a probe");
	buf_close(&b);
}

Test(grab_batch, never_reads_answers_that_the_other_way_does_not)
{
	struct buf b = answers_packed();

	cr_assert_gt(spoiled(buf_live(&b), reads_answers), buf_len(&b));
	buf_close(&b);
}

static void any_answer(struct grab_answer *a)
{
	a->response.reply = any_bool() ? &a->reply : NULL;
	a->response.revision = any_number();
	a->response.time_ms = (int64_t)any_number();
	a->response.stands_ms = (uint32_t)any_number();
	a->response.packets = any_number();
	a->reply.status = (Rain__Status)any_number();
	a->reply.red_packet = any_bool() ? &a->red_packet : NULL;
	a->reply.retry_after_ms = (uint32_t)any_number();
	a->reply.message = any_text();
	a->red_packet.red_packet_id = any_text();
	a->red_packet.amount_cents = (int64_t)any_number();
	a->red_packet.at_ms = (int64_t)any_number();
}

Test(grab_batch, answers_are_written_as_the_other_way_does)
{
	struct answers a;
	struct buf written;

	answers_init(&a);
	for (size_t round = 0; round < ROUNDS; round++) {
		a.m.n_responses = any_number() % (GRABS + 1);
		a.m.time_ms = any_bool() ? (int64_t)any_number() : 0;
		buf_init(&written);
		for (size_t i = 0; i < a.m.n_responses; i++) {
			if (round > 0) { /* else there is nothing in them */
				any_answer(&a.all[i]);
			}
			grab_batch_put_answer(&written, &a.all[i].response);
		}
		grab_batch_put_time(&written, a.m.time_ms);
		same_bytes(&written, &a.m.base);
	}
}

/* ---- Requests ---- */

struct requests {
	Rain__GrabBatchRequest m;
	Rain__GrabRequest *list[GRABS];
	Rain__GrabRequest all[GRABS];
};

static void requests_init(struct requests *r)
{
	rain__grab_batch_request__init(&r->m);
	for (size_t i = 0; i < GRABS; i++) {
		rain__grab_request__init(&r->all[i]);
		r->list[i] = &r->all[i];
	}
	r->m.grabs = r->list;
	r->m.n_grabs = GRABS;
}

/* A grab, one more of the same user, one without a time, and nothing. */
static struct buf requests_packed(void)
{
	struct requests r;

	requests_init(&r);
	for (size_t i = 0; i < GRABS - 1; i++) {
		r.all[i].activity_id = to_pb_str("quiz-night");
		r.all[i].user_id = to_pb_str(i < 2 ? "alice" : "bob");
		r.all[i].not_after_ms = i < 2 ? INT64_C(1764430000000) : 0;
		r.all[i].attempt = (uint32_t)i * 200;
	}
	return packed_message(&r.m.base);
}

/* Whether it is read in the short way; if so, then as in the other. */
static bool reads_requests(struct bytes value, size_t count)
{
	Rain__GrabRequest *ours = xmalloc((count + 1) * sizeof(*ours));
	Rain__GrabBatchRequest *m = NULL;
	bool good = grab_batch_read_requests(value, ours, count);

	if (good) {
		m = proto_unpack(&rain__grab_batch_request__descriptor, value,
				 ARENA);
		cr_assert(m != NULL, "what is refused is refused");
		cr_assert_eq(m->n_grabs, count);
		cr_assert_eq(grab_batch_count(value), count);
	}
	for (size_t i = 0; good && i < count; i++) {
		const Rain__GrabRequest *a = &ours[i];
		const Rain__GrabRequest *b = m->grabs[i];

		cr_assert(bytes_eq(from_pb(a->activity_id),
				   from_pb(b->activity_id)));
		cr_assert(bytes_eq(from_pb(a->user_id), from_pb(b->user_id)));
		cr_assert_eq(a->not_after_ms, b->not_after_ms);
		cr_assert_eq(a->attempt, b->attempt);
	}
	proto_free(m);
	free(ours);
	return good;
}

Test(grab_batch, reads_what_gateways_write)
{
	struct buf b = requests_packed();

	cr_assert_eq(grab_batch_count(buf_live(&b)), GRABS);
	cr_assert(reads_requests(buf_live(&b), GRABS));
	cr_assert(!reads_requests(buf_live(&b), GRABS - 1), "one too many");
	cr_assert(!reads_requests(buf_live(&b), GRABS + 1), "one too few");
	cr_assert(reads_requests(bytes_make(NULL, 0), 0), "a probe");
	buf_close(&b);
}

Test(grab_batch, leaves_other_requests_to_others)
{
	const struct {
		const char *what;
		struct bytes grab;
	} other[] = {
		{ "twice", BYTES("\x0a\x06\x0a\x01q\x0a\x01z") },
		{ "another order", BYTES("\x0a\x06\x12\x01u\x0a\x01q") },
		{ "unknown", BYTES("\x0a\x05\x0a\x01q\x28\x01") },
		{ "another type", BYTES("\x0a\x02\x08\x01") },
		{ "no ASCII", BYTES("\x0a\x04\x12\x02\xc3\xa9") },
		{ "no UTF-8", BYTES("\x0a\x03\x12\x01\xff") },
		{ "attempt of 33 bits",
		  BYTES("\x0a\x06\x20\x80\x80\x80\x80\x10") },
		{ "a time before 1970",
		  BYTES("\x0a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") },
		{ "more behind", BYTES("\x0a\x03\x0a\x01q\x10\x05") },
		{ "cut off", BYTES("\x0a\x06\x0a\x04qui") },
		{ "text inside", BYTES("\x0a\x04\x0a\x7f"
				       "ab") },
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		cr_assert(!reads_requests(other[i].grab, 1), "%s",
			  other[i].what);
	}
}

Test(grab_batch, never_reads_requests_that_the_other_way_does_not)
{
	struct buf b = requests_packed();

	cr_assert_gt(spoiled(buf_live(&b), reads_requests), buf_len(&b));
	buf_close(&b);
}

static void any_request(Rain__GrabRequest *r)
{
	r->activity_id = any_text();
	r->user_id = any_text();
	r->not_after_ms = (int64_t)any_number();
	r->attempt = (uint32_t)any_number();
}

Test(grab_batch, requests_are_written_as_the_other_way_does)
{
	struct requests r;
	struct buf written;

	requests_init(&r);
	for (size_t round = 0; round < ROUNDS; round++) {
		r.m.n_grabs = any_number() % (GRABS + 1);
		buf_init(&written);
		for (size_t i = 0; i < r.m.n_grabs; i++) {
			if (round > 0) { /* else there is nothing in them */
				any_request(&r.all[i]);
			}
			grab_batch_put(&written, &r.all[i]);
		}
		same_bytes(&written, &r.m.base);
	}
}
