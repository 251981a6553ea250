#include "ledger_sqlite.h"

/* SETTLE_BALANCE_MAX. What is announced is for people only, and never gets more
 * either: than the database can add. */
#define MOST "4611686018427387904"
_Static_assert(SETTLE_BALANCE_MAX == 4611686018427387904, "");

#define CLAIM_COLUMNS "red_packet_id, uid, amount, seq, tranche, at_ms"

/* Rows of values for the TX_GROUP claims of a group; of those that there are
 * not, all values are NULL. */
#define ROWS4(row)  row ", " row ", " row ", " row
#define ROWS16(row) ROWS4(row) ", " ROWS4(row) ", " ROWS4(row) ", " ROWS4(row)
#define ROWS32(row) ROWS16(row) ", " ROWS16(row)
#define ACCOUNTS    "(VALUES " ROWS32("(?, ?)") ")"
#define RECORDS     "(VALUES " ROWS32("(?, ?, ?, ?, ?, ?)") ")"

const char *const ledger_sqlite_statements[S_COUNT] = {
	/* A transaction that begins as a reader fails when it then writes. */
	[S_BEGIN] = "BEGIN IMMEDIATE",
	[S_COMMIT] = "COMMIT",
	[S_ROLLBACK] = "ROLLBACK",
	[S_EVENT_BEGIN] = "SAVEPOINT event",
	[S_EVENT_KEEP] = "RELEASE event",
	[S_EVENT_UNDO] = "ROLLBACK TO event",
	[S_GROUP_BEGIN] = "SAVEPOINT winners",
	[S_GROUP_KEEP] = "RELEASE winners",
	[S_GROUP_UNDO] = "ROLLBACK TO winners",
	[S_META_ADD] = "INSERT INTO meta (key, value) VALUES (?1, ?2)"
		       " ON CONFLICT DO NOTHING",
	[S_META_GET] = "SELECT value FROM meta WHERE key = ?1",

	[S_OFFSET_ADD] = "INSERT INTO consumer_offset"
			 " (cluster_id, topic, partition, next_offset)"
			 " VALUES (?1, ?2, ?3, 0) ON CONFLICT DO NOTHING",
	[S_OFFSET_GET] = "SELECT next_offset FROM consumer_offset"
			 " WHERE cluster_id = ?1 AND topic = ?2"
			 " AND partition = ?3",
	[S_OFFSET_MOVE] = "UPDATE consumer_offset SET next_offset = ?5"
			  " WHERE cluster_id = ?1 AND topic = ?2"
			  " AND partition = ?3 AND next_offset = ?4",

	[S_INFO_ADD] = "INSERT INTO red_packet_info"
		       " (activity_id, created_ms, updated_ms)"
		       " VALUES (?1, ?2, ?2) ON CONFLICT DO NOTHING",
	[S_INFO_GET] =
		"SELECT activity, uid, currency, state, revision, cancelled,"
		" funded_amount, funded_packet, remaining_amount,"
		" remaining_packet, credited_amount, credited_packet,"
		" held_amount, held_packet, refunded_amount, refunded_packet,"
		" refund_ms, final_claims, leftover_amount, max_seq, whole_seq,"
		" parked_count, conflict_count, alarm"
		" FROM red_packet_info WHERE activity_id = ?1",
	[S_INFO_SAVE] =
		"UPDATE red_packet_info SET state = ?2, revision = ?3,"
		" cancelled = ?4, funded_amount = ?5, funded_packet = ?6,"
		" remaining_amount = ?7, remaining_packet = ?8,"
		" credited_amount = ?9, credited_packet = ?10,"
		" held_amount = ?11, held_packet = ?12, refunded_amount = ?13,"
		" refunded_packet = ?14, refund_ms = ?15, final_claims = ?16,"
		" leftover_amount = ?17, max_seq = ?18, whole_seq = ?19,"
		" parked_count = ?20, conflict_count = ?21, alarm = ?22,"
		" updated_ms = ?23 WHERE activity = ?1",
	[S_INFO_CREATED] = "UPDATE red_packet_info SET uid = ?2, title = ?3,"
			   " currency = ?4, commitment = ?5, ack = ?6,"
			   " total_amount = min(total_amount + ?7, " MOST "),"
			   " total_packet = min(total_packet + ?8, " MOST "),"
			   " start_ms = ?9, end_ms = ?10, created_ms = ?11"
			   " WHERE activity = ?1",

	[S_INFO_TOTAL] = "UPDATE red_packet_info SET"
			 " total_amount = min(total_amount + ?2, " MOST "),"
			 " total_packet = min(total_packet + ?3, " MOST ")"
			 " WHERE activity = ?1",

	[S_TRANCHE_LIST] = "SELECT tranche, packets, amount,"
			   " transfer IS NOT NULL FROM tranche"
			   " WHERE activity = ?1 ORDER BY tranche",
	[S_TRANCHE_ADD] = "INSERT INTO tranche"
			  " (activity, tranche, packets, amount)"
			  " VALUES (?1, ?2, ?3, ?4)",
	[S_TRANCHE_FUND] = "UPDATE tranche SET transfer = ?3"
			   " WHERE activity = ?1 AND tranche = ?2",
	[S_CHANGE_ADD] =
		"INSERT INTO activity_change (activity, revision, kind, at_ms,"
		" tranche, packets, amount, claims, detail)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
		" ON CONFLICT DO NOTHING RETURNING 1",
	[S_CHANGE_GET] = "SELECT kind, tranche, packets, amount, claims"
			 " FROM activity_change"
			 " WHERE activity = ?1 AND revision = ?2",
	[S_CHANGE_NEWEST] = "SELECT kind, revision FROM activity_change"
			    " WHERE activity = ?1 ORDER BY revision DESC",
	[S_CHANGE_OF_KIND] =
		"SELECT claims, amount, revision FROM activity_change"
		" WHERE activity = ?1 AND kind = ?2"
		" ORDER BY revision DESC LIMIT 1",

	[S_ACCOUNT_ADD] = "INSERT INTO account (kind, owner, currency)"
			  " VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
	[S_ACCOUNT_GET] = "SELECT account, balance FROM account WHERE kind = ?1"
			  " AND owner = ?2 AND currency = ?3",
	[S_ACCOUNT_MOVE] = "UPDATE account SET balance = balance + ?2"
			   " WHERE account = ?1",
	/* What a winner has, made if it is new. */
	[S_ACCOUNT_CREDIT_ALL] =
		"INSERT INTO account (kind, owner, currency, balance)"
		" SELECT 'user', column1, ?1, column2 FROM " ACCOUNTS
		" WHERE column1 IS NOT NULL"
		" ON CONFLICT (owner, kind, currency) DO UPDATE"
		" SET balance = balance + excluded.balance"
		" WHERE balance <= " MOST " - excluded.balance",
	[S_TRANSFER_ADD] = "INSERT INTO transfer (kind, activity, at_ms)"
			   " VALUES (?1, ?2, ?3) RETURNING transfer",
	[S_POSTING_ADD] = "INSERT INTO posting (transfer, account, delta)"
			  " VALUES (?1, ?2, ?3)",
	/* In the order of the accounts, whose pages are then written once. */
	[S_POSTING_RECORDS] =
		"INSERT INTO posting (transfer, account, delta)"
		" SELECT transfer, account, amount FROM red_packet_record"
		" WHERE record BETWEEN ?2 AND ?3 AND transfer = ?1"
		" ORDER BY account",

	[S_RECORD_ADD] =
		"INSERT INTO red_packet_record (activity, account,"
		" red_packet_id, amount, seq, tranche, at_ms, credited_ms,"
		" transfer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
		" ON CONFLICT DO NOTHING",
	/* CROSS, so that accounts are looked up for values as they come, which
	 * are not made a table before. */
	[S_RECORD_ADD_ALL] =
		"INSERT INTO red_packet_record (credited_ms, transfer, activity,"
		" account, red_packet_id, amount, seq, tranche, at_ms)"
		" SELECT ?1, ?2, ?3, account, column2, column3, column4,"
		" column5, column6 FROM " RECORDS
		" CROSS JOIN account ON owner = column1 AND kind = 'user'"
		" AND currency = ?",
	[S_RECORD_BY_PACKET] =
		"SELECT a.owner, r.amount, r.seq FROM red_packet_record r"
		" JOIN account a USING (account)"
		" WHERE r.activity = ?1 AND r.red_packet_id = ?2",
	[S_RECORD_BY_SEQ] = "SELECT 1 FROM red_packet_record"
			    " WHERE activity = ?1 AND seq = ?2",
	[S_RECORD_BY_USER] =
		"SELECT 1 FROM account a JOIN red_packet_record r"
		" USING (account) WHERE a.owner = ?2 AND a.kind = 'user'"
		" AND a.currency = ?3 AND r.activity = ?1",
	[S_CONFLICT_SAME] = "SELECT seq FROM conflict WHERE activity = ?1"
			    " AND red_packet_id = ?2 AND uid = ?3"
			    " AND amount = ?4",
	[S_CONFLICT_HELD] = "SELECT 1 FROM conflict WHERE activity = ?1"
			    " AND red_packet_id = ?2 AND transfer IS NOT NULL",
	[S_CONFLICT_ADD] =
		"INSERT INTO conflict (activity, " CLAIM_COLUMNS ","
		" reason, transfer, seen_ms)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, nullif(?9, 0), ?10)"
		" ON CONFLICT DO NOTHING RETURNING 1",

	[S_PARKED_ADD] = "INSERT INTO parked_claim (activity, " CLAIM_COLUMNS
			 ", reason, parked_ms)"
			 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
			 " ON CONFLICT DO NOTHING RETURNING 1",
	[S_PARKED_REASON] = "UPDATE parked_claim SET reason = ?4"
			    " WHERE activity = ?1 AND red_packet_id = ?2"
			    " AND uid = ?3",
	[S_PARKED_GET] = "SELECT amount, seq, tranche FROM parked_claim"
			 " WHERE activity = ?1 AND red_packet_id = ?2"
			 " AND uid = ?3",
	[S_PARKED_DELETE] = "DELETE FROM parked_claim WHERE activity = ?1"
			    " AND red_packet_id = ?2 AND uid = ?3"
			    " AND amount = ?4 AND seq = ?5",
	[S_PARKED_OF_PACKET] = "SELECT 1 FROM parked_claim"
			       " WHERE activity = ?1 AND red_packet_id = ?2"
			       " LIMIT 1",
	[S_PARKED_PAGE] = "SELECT " CLAIM_COLUMNS ", parked FROM parked_claim"
			  " WHERE activity = ?1 AND (seq, parked) > (?2, ?3)"
			  " ORDER BY seq, parked LIMIT ?4",
	[S_PARKED_ALARMING] = "SELECT count(*) FROM parked_claim"
			      " WHERE activity = ?1 AND reason <> 'unfunded'",

	[S_CONFLICT_OPEN] = "SELECT count(*) FROM conflict"
			    " WHERE activity = ?1 AND decision = ''",

	[S_SEQS_OF_RECORDS] = "SELECT seq FROM red_packet_record"
			      " WHERE activity = ?1 AND seq > ?2 ORDER BY seq",
	[S_SEQS_OF_ALL] = "SELECT seq FROM red_packet_record"
			  " WHERE activity = ?1 AND seq > ?2"
			  " UNION SELECT seq FROM parked_claim"
			  " WHERE activity = ?1 AND seq > ?2"
			  " UNION SELECT seq FROM conflict"
			  " WHERE activity = ?1 AND seq > ?2 ORDER BY seq",

	[S_DEAD_ADD] = "INSERT INTO dead_letter (hash, topic, partition,"
		       " kafka_offset, key, value, reason, seen_ms)"
		       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
		       " ON CONFLICT DO NOTHING RETURNING 1",
	[S_DEAD_PENDING] = "SELECT dead_letter, topic, partition, kafka_offset,"
			   " reason, substr(key, 1, ?2), substr(value, 1, ?3),"
			   " length(key), length(value) FROM dead_letter"
			   " WHERE sent_ms = 0 ORDER BY dead_letter LIMIT ?1",
	[S_DEAD_SENT] = "UPDATE dead_letter SET sent_ms = ?2"
			" WHERE dead_letter = ?1",
};
