#include "ledger_answer.h"

#include <stdlib.h>

#include "proto/proto_util.h"
#include "rain/ledger_service.pb-c.h"

void ledger_answer_records(struct dubbo_call *call,
			   const struct ledger_record *records, size_t n)
{
	Rain__RecordsReply reply = RAIN__RECORDS_REPLY__INIT;
	Rain__LedgerRecord *rows = xcalloc(n + 1, sizeof *rows);
	Rain__LedgerRecord **list = xcalloc(n + 1, sizeof *list);

	for (size_t i = 0; i < n; i++) {
		const struct ledger_record *r = &records[i];

		rain__ledger_record__init(&rows[i]);
		rows[i].number = (uint64_t)r->number;
		rows[i].activity_id = to_pb_str(r->activity_id);
		rows[i].red_packet_id = to_pb_str(r->red_packet_id);
		rows[i].user_id = to_pb_str(r->user_id);
		rows[i].amount_cents = r->amount_cents;
		rows[i].seq = (uint64_t)r->seq;
		rows[i].tranche = (uint32_t)r->tranche;
		rows[i].at_ms = r->at_ms;
		rows[i].credited_ms = r->credited_ms;
		list[i] = &rows[i];
	}
	reply.n_records = n;
	reply.records = list;
	dubbo_reply(call, &reply.base);
	free(list);
	free(rows);
}

/* Tranches of a reply, which points into them. */
struct topups {
	Rain__AnnouncedTranche rows[LEDGER_TOPUPS_MAX];
	Rain__AnnouncedTranche *list[LEDGER_TOPUPS_MAX];
};

static void fill_topups(Rain__TotalsReply *m, const struct ledger_totals *t,
			struct topups *memory)
{
	for (size_t i = 0; i < t->topup_count; i++) {
		const struct ledger_topup *u = &t->topups[i];
		Rain__AnnouncedTranche *row = &memory->rows[i];

		rain__announced_tranche__init(row);
		row->number = (uint32_t)u->tranche;
		row->packets = (uint64_t)u->packets;
		row->total_cents = u->amount_cents;
		row->commitment = to_pb_str(u->commitment);
		memory->list[i] = row;
	}
	m->n_topups = t->topup_count;
	m->topups = memory->list;
}

/* What m then points to is in t and memory. */
static void fill(Rain__TotalsReply *m, const struct ledger_totals *t,
		 struct topups *memory)
{
	const struct settle_books *b = &t->books;

	m->known = 1;
	m->activity_id = to_pb_str(t->activity_id);
	m->revision = (uint64_t)t->revision;
	m->state = to_pb_str(settle_state_name(b->state));
	m->sponsor = to_pb_str(t->sponsor);
	m->currency = to_pb_str(t->currency);
	m->funded_cents = b->funded_cents;
	m->funded_packets = (uint64_t)b->funded_packets;
	m->credited_cents = b->credited_cents;
	m->credited_count = (uint64_t)b->credited_packets;
	m->held_cents = b->held_cents;
	m->refunded_cents = b->refunded_cents;
	m->refund_done = b->refund_done;
	m->pool_cents = b->pool_cents;
	m->parked_count = (uint64_t)b->parked;
	m->conflict_count = (uint64_t)t->conflict_count;
	m->max_seq = (uint64_t)b->max_seq;
	m->seq_count = (uint64_t)t->seq_count;
	m->postings_cents = t->postings_cents;
	m->alarm = to_pb_str(t->alarm);
	m->final_claims = b->final_claims;
	m->leftover_cents = b->leftover_cents;
	m->title = to_pb_str(t->title);
	m->total_packets = (uint64_t)t->total_packets;
	m->total_cents = t->total_cents;
	m->created_ms = t->created_ms;
	m->updated_ms = t->updated_ms;
	m->commitment = to_pb_str(t->commitment);
	m->entropy = to_pb_str(t->entropy);
	m->cancelled = b->cancelled;
	fill_topups(m, t, memory);
}

void ledger_answer_totals(struct dubbo_call *call,
			  const struct ledger_totals *totals,
			  struct bytes activity_id)
{
	Rain__TotalsReply reply = RAIN__TOTALS_REPLY__INIT;
	struct topups topups;

	reply.activity_id = to_pb(activity_id);
	if (totals != NULL) {
		fill(&reply, totals, &topups);
	}
	dubbo_reply(call, &reply.base);
}

void ledger_answer_activities(struct dubbo_call *call,
			      const struct ledger_totals *totals, size_t n)
{
	Rain__ActivitiesReply reply = RAIN__ACTIVITIES_REPLY__INIT;
	Rain__TotalsReply *rows = xcalloc(n + 1, sizeof *rows);
	Rain__TotalsReply **list = xcalloc(n + 1, sizeof *list);
	struct topups *topups = xcalloc(n + 1, sizeof *topups);

	for (size_t i = 0; i < n; i++) {
		rain__totals_reply__init(&rows[i]);
		fill(&rows[i], &totals[i], &topups[i]);
		list[i] = &rows[i];
	}
	reply.n_activities = n;
	reply.activities = list;
	dubbo_reply(call, &reply.base);
	free(topups);
	free(list);
	free(rows);
}

void ledger_answer_positions(struct dubbo_call *call,
			     const struct ledger_service *s,
			     const char *cluster_id,
			     const struct ledger_position *positions, size_t n)
{
	Rain__PositionsReply reply = RAIN__POSITIONS_REPLY__INIT;
	Rain__PartitionPosition *rows = xcalloc(n + 1, sizeof *rows);
	Rain__PartitionPosition **list = xcalloc(n + 1, sizeof *list);
	struct buf first;

	for (size_t i = 0; i < n; i++) {
		rain__partition_position__init(&rows[i]);
		rows[i].topic = to_pb_str(positions[i].topic);
		rows[i].partition = positions[i].partition;
		rows[i].next_offset = positions[i].next_offset;
		list[i] = &rows[i];
	}
	buf_init(&first);
	reply.violations = -1;
	if (s->auditor != NULL) {
		reply.violations = auditor_violations(s->auditor);
		auditor_first(s->auditor, &first);
	}
	reply.first_violation = to_pb(buf_live(&first));
	reply.ledger_id = to_pb_str(s->ledger_id);
	reply.cluster_id = to_pb_str(cluster_id);
	reply.n_positions = n;
	reply.positions = list;
	dubbo_reply(call, &reply.base);
	buf_close(&first);
	free(list);
	free(rows);
}
