/* What the reading side asks. */
#include "ledger_sqlite_read.h"

#define RECORD_COLUMNS                                                        \
	"r.record, i.activity_id, r.red_packet_id, a.owner, r.amount, r.seq," \
	" r.tranche, r.at_ms, r.credited_ms"

/* A table that is cut at whole_seq has few seqs above it, or none. */
#define TOTALS_COLUMNS                                                         \
	"activity_id, uid, currency, title, state, revision, cancelled,"       \
	" total_amount, total_packet, funded_amount, funded_packet,"           \
	" remaining_amount, remaining_packet, credited_amount,"                \
	" credited_packet, held_amount, held_packet, refunded_amount,"         \
	" refunded_packet, refund_ms, final_claims, leftover_amount, max_seq," \
	" whole_seq, parked_count, conflict_count, created_ms, updated_ms,"    \
	" alarm,"                                                              \
	" (SELECT coalesce(sum(p.delta), 0) FROM transfer t"                   \
	"  JOIN posting p USING (transfer) WHERE t.activity = i.activity),"    \
	" whole_seq + CASE WHEN whole_seq = max_seq THEN 0 ELSE"               \
	"  (SELECT count(*) FROM"                                              \
	"   (SELECT seq FROM red_packet_record WHERE activity = i.activity"    \
	"     AND seq > i.whole_seq"                                           \
	"    UNION SELECT seq FROM parked_claim WHERE activity = i.activity"   \
	"     AND seq > i.whole_seq"                                           \
	"    UNION SELECT seq FROM conflict WHERE activity = i.activity"       \
	"     AND seq > i.whole_seq)) END,"                                    \
	" substr(commitment, 1, 65),"                                          \
	" coalesce((SELECT substr(detail, 1,"                                  \
	"    min(129, instr(detail || ' ', ' ') - 1))"                         \
	"   FROM activity_change c"                                            \
	"   WHERE c.activity = i.activity AND c.kind = 'entropy'"              \
	"   ORDER BY c.revision LIMIT 1), '')"

const char *const ledger_sqlite_read_statements[R_COUNT] = {
	[R_BALANCE] = "SELECT balance, currency FROM account"
		      " WHERE owner = ?1 AND kind = 'user'"
		      " ORDER BY account LIMIT 1",
	[R_RECORDS_OF_USER] =
		"SELECT " RECORD_COLUMNS " FROM account a"
		" JOIN posting p USING (account)"
		" JOIN transfer t USING (transfer)"
		" JOIN red_packet_record r ON r.activity = t.activity"
		" AND r.account = a.account AND r.transfer = p.transfer"
		" JOIN red_packet_info i ON i.activity = r.activity"
		" WHERE a.owner = ?1 AND a.kind = 'user' AND r.record < ?2"
		" ORDER BY r.record DESC LIMIT ?3",
	[R_RECORDS_OF_ACTIVITY] =
		"SELECT " RECORD_COLUMNS " FROM red_packet_info i"
		" JOIN red_packet_record r USING (activity)"
		" JOIN account a USING (account)"
		" WHERE i.activity_id = ?1 AND r.seq > ?2"
		" ORDER BY r.seq LIMIT ?3",
	[R_RECORD] = "SELECT " RECORD_COLUMNS " FROM account a"
		     " JOIN red_packet_record r USING (account)"
		     " JOIN red_packet_info i USING (activity)"
		     " WHERE a.owner = ?2 AND a.kind = 'user'"
		     " AND i.activity_id = ?1",
	[R_TOTALS] = "SELECT " TOTALS_COLUMNS " FROM red_packet_info i"
		     " WHERE activity_id = ?1",
	[R_ACTIVITIES] = "SELECT " TOTALS_COLUMNS " FROM red_packet_info i"
			 " WHERE activity_id > ?1 ORDER BY activity_id"
			 " LIMIT ?2",
	[R_TOPUPS] = "SELECT tranche, packets, amount, substr(detail, 1, 65)"
		     " FROM activity_change c"
		     " JOIN red_packet_info i USING (activity)"
		     " WHERE i.activity_id = ?1 AND c.kind = 'topped_up'"
		     " ORDER BY c.revision LIMIT ?2",
	[R_POSITIONS] = "SELECT topic, partition, next_offset"
			" FROM consumer_offset WHERE cluster_id = ?1"
			" ORDER BY topic, partition LIMIT ?2",
	[R_WATCH] = "SELECT activity_id, max_seq, whole_seq, final_claims,"
		    " credited_packet, (SELECT count(*) FROM activity_change c"
		    "  WHERE c.activity = i.activity)"
		    " FROM red_packet_info i WHERE refund_ms = 0 ORDER BY"
		    " whole_seq >= max(max_seq, final_claims), uid = '',"
		    " activity DESC LIMIT ?1",
	[R_PARKED] = "SELECT coalesce(sum(parked_count), 0)"
		     " FROM red_packet_info",
	[R_PARKED_OLDEST] = "SELECT p.parked, p.parked_ms, i.activity_id"
			    " FROM parked_claim p"
			    " JOIN red_packet_info i USING (activity)"
			    " WHERE p.reason = 'unfunded'"
			    " ORDER BY p.parked LIMIT 1",
};
