#include "evidence.h"

#include <stdlib.h>

#include "proto/proto_util.h"

#include "ledger.h"
#include "track.h"

enum {
	AGAIN_MS = 200, /* between two questions */
	ENDS_TIMEOUT_MS = 5000,
};

void evidence_init(struct evidence *e, struct relay *relay)
{
	*e = (struct evidence){ .relay = relay };
}

void evidence_close(struct evidence *e)
{
	free(e->ends);
	*e = (struct evidence){ 0 };
}

bool evidence_passed(const struct kafka_end *ends, size_t count,
		     const Rain__PositionsReply *positions)
{
	for (size_t i = 0; i < count; i++) {
		int64_t next = 0;

		for (size_t k = 0; k < positions->n_positions; k++) {
			const Rain__PartitionPosition *p =
				positions->positions[k];

			if (p->partition == ends[i].partition &&
			    bytes_eq(from_pb(p->topic),
				     bytes_str(ends[i].topic))) {
				next = p->next_offset;
			}
		}
		if (next < ends[i].end_offset) {
			return false;
		}
	}
	return true;
}

uint64_t evidence_want(struct evidence *e)
{
	return e->busy ? e->round + 2 : e->round + 1;
}

static void forget_ends(struct evidence *e)
{
	free(e->ends);
	e->ends = NULL;
	e->end_count = 0;
}

static void again(struct evidence *e)
{
	e->due_ms = uv_now(e->relay->env->loop) + AGAIN_MS;
}

static void ends_cb(void *ctx, int error, const struct kafka_end *ends,
		    size_t n)
{
	struct evidence *e = ctx;
	const struct grab_options *o = e->relay->env->options;

	e->asking_kafka = false;
	if (error != 0) {
		again(e);
		return;
	}
	e->ends = xcalloc(n + 1, sizeof *e->ends);
	e->end_count = n;
	for (size_t i = 0; i < n; i++) {
		e->ends[i] = ends[i];
		e->ends[i].topic = strcmp(ends[i].topic, o->topic_claims) == 0
					   ? o->topic_claims
					   : o->topic_activities;
	}
	relay_kick(e->relay);
}

static void ask_kafka(struct evidence *e)
{
	const struct grab_options *o = e->relay->env->options;
	const char *topics[2] = { o->topic_claims, o->topic_activities };

	e->asking_kafka = true;
	kafka_end_offsets(e->relay->producer, topics, 2, ENDS_TIMEOUT_MS,
			  ends_cb, e);
}

static void positions_cb(void *ctx, const Rain__PositionsReply *reply)
{
	struct evidence *e = ctx;

	e->asking_ledger = false;
	if (reply == NULL || !evidence_passed(e->ends, e->end_count, reply)) {
		again(e);
		return;
	}
	forget_ends(e);
	e->busy = false;
	e->round++;
	relay_kick(e->relay);
}

void evidence_step(struct evidence *e, bool wanted)
{
	if (e->asking_kafka || e->asking_ledger || (!e->busy && !wanted) ||
	    uv_now(e->relay->env->loop) < e->due_ms) {
		return;
	}
	e->busy = true;
	if (e->ends == NULL) {
		ask_kafka(e);
		return;
	}
	e->asking_ledger = true;
	ledger_positions(e->relay->env->ledger, positions_cb, e);
}
