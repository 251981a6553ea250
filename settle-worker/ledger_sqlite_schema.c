/* Money is integer cents, times are milliseconds since 1970. Rows refer to
 * activities and accounts by number; the views at the end say names. */
#include "ledger_sqlite.h"

static const char meta[] = "CREATE TABLE meta ("
			   " key TEXT PRIMARY KEY,"
			   " value TEXT NOT NULL) STRICT, WITHOUT ROWID";

/* The CHECKs are the cap on what can be paid: what leaves the pool was funded,
 * to the cent. */
static const char red_packet_info[] =
	"CREATE TABLE red_packet_info ("
	" activity INTEGER PRIMARY KEY,"
	" activity_id TEXT NOT NULL UNIQUE,"
	" uid TEXT NOT NULL DEFAULT '',"
	" title TEXT NOT NULL DEFAULT '',"
	" currency TEXT NOT NULL DEFAULT '',"
	" commitment TEXT NOT NULL DEFAULT '',"
	" ack TEXT NOT NULL DEFAULT '',"
	" state TEXT NOT NULL DEFAULT 'UNKNOWN',"
	" revision INTEGER NOT NULL DEFAULT 0,"
	" cancelled INTEGER NOT NULL DEFAULT 0,"
	" total_amount INTEGER NOT NULL DEFAULT 0,"
	" total_packet INTEGER NOT NULL DEFAULT 0,"
	" funded_amount INTEGER NOT NULL DEFAULT 0,"
	" funded_packet INTEGER NOT NULL DEFAULT 0,"
	" remaining_amount INTEGER NOT NULL DEFAULT 0"
	"  CHECK (remaining_amount >= 0),"
	" remaining_packet INTEGER NOT NULL DEFAULT 0,"
	" credited_amount INTEGER NOT NULL DEFAULT 0,"
	" credited_packet INTEGER NOT NULL DEFAULT 0,"
	" held_amount INTEGER NOT NULL DEFAULT 0,"
	" held_packet INTEGER NOT NULL DEFAULT 0,"
	" refunded_amount INTEGER NOT NULL DEFAULT 0,"
	" refunded_packet INTEGER NOT NULL DEFAULT 0,"
	" refund_ms INTEGER NOT NULL DEFAULT 0,"
	" final_claims INTEGER NOT NULL DEFAULT -1,"
	" leftover_amount INTEGER NOT NULL DEFAULT -1,"
	" max_seq INTEGER NOT NULL DEFAULT 0,"
	" whole_seq INTEGER NOT NULL DEFAULT 0,"
	" parked_count INTEGER NOT NULL DEFAULT 0,"
	" conflict_count INTEGER NOT NULL DEFAULT 0,"
	" start_ms INTEGER NOT NULL DEFAULT 0,"
	" end_ms INTEGER NOT NULL DEFAULT 0,"
	" created_ms INTEGER NOT NULL DEFAULT 0,"
	" updated_ms INTEGER NOT NULL DEFAULT 0,"
	" alarm TEXT NOT NULL DEFAULT '',"
	" CHECK (funded_amount = remaining_amount + credited_amount"
	"  + held_amount + refunded_amount),"
	" CHECK (funded_packet = remaining_packet + credited_packet"
	"  + held_packet + refunded_packet)) STRICT";

/* One row per tranche that `loaded` or `topped up` announced; transfer is
 * NULL until the sponsor is known. */
static const char tranche[] =
	"CREATE TABLE tranche ("
	" activity INTEGER NOT NULL REFERENCES red_packet_info,"
	" tranche INTEGER NOT NULL CHECK (tranche > 0),"
	" packets INTEGER NOT NULL CHECK (packets > 0),"
	" amount INTEGER NOT NULL CHECK (amount > 0),"
	" transfer INTEGER REFERENCES transfer,"
	" PRIMARY KEY (activity, tranche)) STRICT, WITHOUT ROWID";

/* What happened to an activity, one row per revision. */
static const char activity_change[] =
	"CREATE TABLE activity_change ("
	" activity INTEGER NOT NULL REFERENCES red_packet_info,"
	" revision INTEGER NOT NULL CHECK (revision > 0),"
	" kind TEXT NOT NULL,"
	" at_ms INTEGER NOT NULL,"
	" tranche INTEGER NOT NULL,"
	" packets INTEGER NOT NULL,"
	" amount INTEGER NOT NULL,"
	" claims INTEGER NOT NULL,"
	" detail TEXT NOT NULL,"
	" PRIMARY KEY (activity, revision)) STRICT, WITHOUT ROWID";

/* owner is a uid for sponsor and user, an activity id for pool and held. Not
 * kind IN (...): SQLite would make a table of the list for each new row. */
static const char account[] =
	"CREATE TABLE account ("
	" account INTEGER PRIMARY KEY,"
	" kind TEXT NOT NULL CHECK (kind = 'user' OR kind = 'pool'"
	"  OR kind = 'held' OR kind = 'sponsor'),"
	" owner TEXT NOT NULL,"
	" currency TEXT NOT NULL CHECK (length(currency) = 3),"
	" balance INTEGER NOT NULL DEFAULT 0"
	"  CHECK (kind = 'sponsor' OR balance >= 0),"
	" UNIQUE (owner, kind, currency)) STRICT";

static const char transfer[] =
	"CREATE TABLE transfer ("
	" transfer INTEGER PRIMARY KEY,"
	" kind TEXT NOT NULL CHECK (kind IN"
	"  ('fund', 'credit', 'hold', 'refund')),"
	" activity INTEGER NOT NULL REFERENCES red_packet_info,"
	" at_ms INTEGER NOT NULL) STRICT";
static const char transfer_of_activity[] =
	"CREATE INDEX transfer_of_activity ON transfer (activity)";

static const char posting[] =
	"CREATE TABLE posting ("
	" transfer INTEGER NOT NULL REFERENCES transfer,"
	" account INTEGER NOT NULL REFERENCES account,"
	" delta INTEGER NOT NULL CHECK (delta <> 0),"
	" PRIMARY KEY (transfer, account)) STRICT, WITHOUT ROWID";
/* UNIQUE (activity, account) is one packet per user. In this order the winners
 * of a batch, who are of few activities, meet few pages; the records of a user
 * are found by way of its postings. */
static const char red_packet_record[] =
	"CREATE TABLE red_packet_record ("
	" record INTEGER PRIMARY KEY,"
	" activity INTEGER NOT NULL REFERENCES red_packet_info,"
	" account INTEGER NOT NULL REFERENCES account,"
	" red_packet_id TEXT NOT NULL,"
	" amount INTEGER NOT NULL CHECK (amount > 0),"
	" seq INTEGER NOT NULL CHECK (seq > 0),"
	" tranche INTEGER NOT NULL,"
	" at_ms INTEGER NOT NULL,"
	" credited_ms INTEGER NOT NULL,"
	" transfer INTEGER NOT NULL REFERENCES transfer,"
	" UNIQUE (activity, red_packet_id),"
	" UNIQUE (activity, account),"
	" UNIQUE (activity, seq)) STRICT";

static const char parked_claim[] =
	"CREATE TABLE parked_claim ("
	" parked INTEGER PRIMARY KEY,"
	" activity INTEGER NOT NULL REFERENCES red_packet_info,"
	" red_packet_id TEXT NOT NULL,"
	" uid TEXT NOT NULL,"
	" amount INTEGER NOT NULL CHECK (amount > 0),"
	" seq INTEGER NOT NULL CHECK (seq > 0),"
	" tranche INTEGER NOT NULL,"
	" at_ms INTEGER NOT NULL,"
	" reason TEXT NOT NULL,"
	" parked_ms INTEGER NOT NULL,"
	" UNIQUE (activity, red_packet_id, uid)) STRICT";
static const char parked_of_activity[] =
	"CREATE INDEX parked_of_activity ON parked_claim"
	" (activity, seq, parked)";

/* transfer names the hold if the packet's money was set aside. decision is a
 * person's word, and no message changes it. */
static const char conflict[] =
	"CREATE TABLE conflict ("
	" conflict INTEGER PRIMARY KEY,"
	" activity INTEGER NOT NULL REFERENCES red_packet_info,"
	" red_packet_id TEXT NOT NULL,"
	" uid TEXT NOT NULL,"
	" amount INTEGER NOT NULL CHECK (amount > 0),"
	" seq INTEGER NOT NULL CHECK (seq > 0),"
	" tranche INTEGER NOT NULL,"
	" at_ms INTEGER NOT NULL,"
	" reason TEXT NOT NULL,"
	" transfer INTEGER REFERENCES transfer,"
	" seen_ms INTEGER NOT NULL,"
	" decision TEXT NOT NULL DEFAULT '',"
	" UNIQUE (activity, red_packet_id, uid, amount)) STRICT";
static const char conflict_of_activity[] =
	"CREATE INDEX conflict_of_activity ON conflict (activity, seq)";

static const char dead_letter[] = "CREATE TABLE dead_letter ("
				  " dead_letter INTEGER PRIMARY KEY,"
				  " hash BLOB NOT NULL UNIQUE,"
				  " topic TEXT NOT NULL,"
				  " partition INTEGER NOT NULL,"
				  " kafka_offset INTEGER NOT NULL,"
				  " key BLOB NOT NULL,"
				  " value BLOB NOT NULL,"
				  " reason TEXT NOT NULL,"
				  " seen_ms INTEGER NOT NULL,"
				  " sent_ms INTEGER NOT NULL DEFAULT 0,"
				  " decision TEXT NOT NULL DEFAULT '') STRICT";
static const char dead_letter_unsent[] =
	"CREATE INDEX dead_letter_unsent ON dead_letter (dead_letter)"
	" WHERE sent_ms = 0";

static const char consumer_offset[] =
	"CREATE TABLE consumer_offset ("
	" cluster_id TEXT NOT NULL,"
	" topic TEXT NOT NULL,"
	" partition INTEGER NOT NULL,"
	" next_offset INTEGER NOT NULL CHECK (next_offset >= 0),"
	" PRIMARY KEY (cluster_id, topic, partition)) STRICT, WITHOUT ROWID";

static const char finance_record[] =
	"CREATE VIEW finance_record AS SELECT r.record, i.activity_id,"
	" r.red_packet_id, a.owner AS uid, r.amount, a.currency, r.seq,"
	" r.tranche, r.at_ms, r.credited_ms, r.transfer"
	" FROM red_packet_record r JOIN red_packet_info i USING (activity)"
	" JOIN account a USING (account)";
static const char finance_posting[] =
	"CREATE VIEW finance_posting AS SELECT p.transfer, t.kind AS transfer_kind,"
	" i.activity_id, t.at_ms, a.kind AS account_kind, a.owner, a.currency,"
	" p.delta FROM posting p JOIN transfer t USING (transfer)"
	" JOIN red_packet_info i USING (activity) JOIN account a USING (account)";

const char *const ledger_sqlite_schema[] = {
	meta,
	red_packet_info,
	account,
	transfer,
	transfer_of_activity,
	tranche,
	activity_change,
	posting,
	red_packet_record,
	parked_claim,
	parked_of_activity,
	conflict,
	conflict_of_activity,
	dead_letter,
	dead_letter_unsent,
	consumer_offset,
	finance_record,
	finance_posting,
	NULL,
};

/* A row that was written stays as it was. A conflict's decision is a person's,
 * a tranche is funded once, a dead letter is marked when it is sent; accounts,
 * red_packet_info and parked_claim change with every batch, and the audit
 * proves them by what stays. */
#define STAYS(name, event, table, rule)                                    \
	"CREATE TRIGGER IF NOT EXISTS " name " BEFORE " event " ON " table \
	" BEGIN SELECT RAISE(ABORT, '" rule "'); END"

/* Made whenever a ledger is opened that lacks them. */
const char *const ledger_sqlite_guards[] = {
	"CREATE INDEX IF NOT EXISTS posting_of_account ON posting"
	" (account, delta)",
	STAYS("posting_stays", "UPDATE", "posting", "postings are append-only"),
	STAYS("posting_kept", "DELETE", "posting", "postings are append-only"),
	STAYS("record_stays", "UPDATE", "red_packet_record",
	      "records are append-only"),
	STAYS("record_kept", "DELETE", "red_packet_record",
	      "records are append-only"),
	STAYS("transfer_stays", "UPDATE", "transfer",
	      "transfers are append-only"),
	STAYS("transfer_kept", "DELETE", "transfer",
	      "transfers are append-only"),
	STAYS("change_stays", "UPDATE", "activity_change",
	      "changes of activities are append-only"),
	STAYS("change_kept", "DELETE", "activity_change",
	      "changes of activities are append-only"),
	STAYS("conflict_stays",
	      "UPDATE OF conflict, activity, red_packet_id, uid, amount, seq,"
	      " tranche, at_ms, reason, transfer, seen_ms",
	      "conflict", "only the decision of a conflict changes"),
	STAYS("conflict_kept", "DELETE", "conflict",
	      "conflicts are append-only"),
	STAYS("tranche_kept", "DELETE", "tranche", "tranches are append-only"),
	STAYS("dead_letter_kept", "DELETE", "dead_letter",
	      "dead letters are append-only"),
	NULL,
};
