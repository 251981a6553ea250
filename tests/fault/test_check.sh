# F78: the checker of the faults finds nothing wrong where nothing is, and names
# what is when a cent, a row of the ledger, a line of the apps' log, a winner or
# what is left to be drawn is changed.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
opened friday 40.00 400
plan later 1.00 10
ctl activity create -f "$dir/later.ini" later
plan spark 3000.00 1000 'mode = live' 'max = 5'
ctl activity create -f "$dir/spark.ini" spark
ctl activity entropy spark 00112233445566778899aabbccddeeff
ctl activity preload spark
ctl activity open spark

# Somebody else has made 30 packets.
plan foreign 60.00 30
for i in $(seq 30); do
	printf 'foreign %d00%d %d\n' $((70 + i)) "$i" $((185 + i - i / 30 * 15))
done >"$dir/lists"
while read -r _ packet cents; do
	redis LPUSH 'rain:{foreign}:packets' \
		"{\"redPacketId\":\"$packet\",\"amount\":\"${cents%??}.${cents#?}\"}" >/dev/null
done <"$dir/lists"
ctl activity create --adopt -f "$dir/foreign.ini" foreign
ctl activity preload foreign
ctl activity open foreign

"$bin/fault_tappers" --gateways "$gateway" --keys "$dir/keys" \
	--activities friday,later,foreign,spark --users 600 --connections 40 --rate 600 \
	--seed 78 --log "$dir/log" >"$dir/summary" &
tappers=$!
claims_above() {
	[ "$(redis LLEN 'rain:{friday}:claims')" -gt "$1" ]
}
until_true 30 claims_above 200 || wrong "200 claims within 30 s"
printf '[activity]\ntotal = 20.00\npackets = 50\n' >"$dir/more.ini"
ctl activity topup friday -f "$dir/more.ini"
until_true 30 claims_above 420 || wrong "420 claims within 30 s"
kill -TERM $tappers
wait $tappers || {
	cat "$dir/summary"
	wrong "every outcome to be known"
}
cat "$dir/summary"
ctl activity close friday
ctl activity close foreign
ctl activity close spark
ctl activity cancel later
wait_state friday SETTLED 60
wait_state later SETTLED 60
wait_state foreign SETTLED 60
wait_state spark SETTLED 60

# checked EXIT TEXT [LOG [LEDGER]]: how the checker ends, and what it says.
live=spark
checked() {
	rc=0
	"$bin/fault_check" --log "${3:-$dir/log}" --config "$dir/rainctl.ini" \
		--ledger "${4:-$dir/ledger.db}" --lists "$dir/lists" \
		--live "$live" friday later foreign spark >"$dir/report" ||
		rc=$?
	if [ "$rc" != "$1" ] || ! grep -qF -e "$2" "$dir/report"; then
		cat "$dir/report"
		wrong "exit $1 and '$2', it is exit $rc"
	fi
}
checked 0 'violations=0'
expect "wins" "$(sed -n 's/.* wins=\([0-9]*\) .*/\1/p' "$dir/report")" \
	"$(field wins <"$dir/summary")"

expect "packets of spark" \
	"$(sed -n 's/.* live=\([0-9]*\) .*/\1/p' "$dir/report")" \
	"$(redis LLEN 'rain:{spark}:claims')"

say "one cent more in Redis"
claim=$(redis LINDEX 'rain:{friday}:claims' 0)
user=$(printf %s "$claim" | field userId)
redis LSET 'rain:{friday}:claims' 0 \
	"$(printf %s "$claim" | sed 's/"amount":"[^"]*"/"amount":"7.77"/')" >/dev/null
checked 1 "7.77"
grep -q "friday: $user is told " "$dir/report" || wrong "$user to be named"
redis LSET 'rain:{friday}:claims' 0 "$claim" >/dev/null
checked 0 'violations=0'

say "another seed for what was added, and a commitment that fits it"
seed=$(redis HGET 'rain:{friday}:meta' t2_seed)
commitment=$(redis HGET 'rain:{friday}:meta' t2_commitment)
made=$(python3 -c '
import hashlib, sys
print(hashlib.sha256(bytes(32) + sys.argv[1].encode() + b"\n").hexdigest())' \
	"$(redis HGET 'rain:{friday}:meta' t2_plan)")
redis HSET 'rain:{friday}:meta' t2_seed "$(printf %064d 0)" t2_commitment "$made" >/dev/null
checked 1 "commitment $commitment; meta has tranche 2, 50 packets, 2000 cents, commitment $made"
redis HSET 'rain:{friday}:meta' t2_seed "$seed" t2_commitment "$commitment" >/dev/null

say "a cent more in an adopted list"
sed 's/^foreign 71001 186$/foreign 71001 187/' "$dir/lists" >"$dir/other"
mv "$dir/lists" "$dir/true"
mv "$dir/other" "$dir/lists"
checked 1 'and the plan has packet 71001'
mv "$dir/true" "$dir/lists"
list=$(redis HGET 'rain:{foreign}:meta' list)
redis HSET 'rain:{foreign}:meta' list "$made" >/dev/null
checked 1 "the list that was opened had $made"
redis HSET 'rain:{foreign}:meta' list "$list" >/dev/null
checked 0 'violations=0'

say "what is left of a live activity"
# spark FIELD: a number of its meta. spark_is FIELD NUMBER...
spark() {
	redis HGET 'rain:{spark}:meta' "$1"
}
spark_is() {
	redis HSET 'rain:{spark}:meta' "$@" >/dev/null
}
left=$(spark left)
balance=$(spark balance)
claimed=$(spark claimed_cents)
[ "$left" -gt 0 ] && [ "$claimed" -gt 0 ] || wrong "some of spark to be taken"
spark_is balance $((balance + 1))
checked 1 "spark: balance is $((balance + 1)), but the total less all claims is $balance"
spark_is balance $((balance - 1)) claimed_cents $((claimed + 1))
checked 1 "spark: claimed_cents is $((claimed + 1)), but the sum of the claims is $claimed"
spark_is balance "$balance" claimed_cents "$claimed" left $((left - 1))
checked 1 "spark: left is $((left - 1)), but packets less claims is $left"
spark_is left "$left"
redis LPUSH 'rain:{spark}:packets' '{"redPacketId":"7","amount":"0.07"}' >/dev/null
checked 1 'spark: it is live, and has a list of 1 packets'
redis DEL 'rain:{spark}:packets' >/dev/null
entropy=$(spark entropy)
spark_is entropy 00112233445566778899aabbccddeefe
checked 1 ', seq 1, and the plan has packet '
spark_is entropy "$entropy"
live=friday
checked 1 'spark: it was to have a list, and is live'
checked 1 'friday: it was to be live, and has a list'
live=spark
checked 0 'violations=0'

say "a row of the ledger is gone"
lost=$(python3 - "$dir/ledger.db" "$dir/less.db" <<'PYTHON'
import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("VACUUM INTO ?", (sys.argv[2],))
db = sqlite3.connect(sys.argv[2])
db.execute("DROP TRIGGER record_kept")
print(*db.execute("SELECT red_packet_id, uid FROM finance_record"
                  " ORDER BY record LIMIT 1").fetchone())
db.execute("DELETE FROM red_packet_record WHERE record ="
           " (SELECT min(record) FROM red_packet_record)")
db.commit()
PYTHON
)
checked 1 "packet ${lost% *} of ${lost#* } is missing in ledger" \
	"$dir/log" "$dir/less.db"
grep -q "ledger: user account of ${lost#* } has " "$dir/report" ||
	wrong "the account of ${lost#* } to be named"

say "a line of the log is gone; a packet is told to a second user"
python3 - "$dir/log" <<'PYTHON'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
logged = [json.loads(line) for line in lines]
asks = {(o["conn"], o["seq"]): n for n, o in enumerate(logged)
        if o["event"] == "ask" and o["activity"] == "friday"}
win = next(o for o in logged if o.get("status") == "WON" and
           (o["conn"], o["seq"]) in asks)
asked = asks[win["conn"], win["seq"]]
with open(sys.argv[1] + ".less", "w") as out:
    out.writelines(l + "\n" for n, l in enumerate(lines) if n != asked)
again = [dict(logged[asked], conn=999999, user="thief"),
         dict(win, conn=999999, user="thief")]
with open(sys.argv[1] + ".more", "w") as out:
    out.writelines(l + "\n" for l in lines + [json.dumps(o) for o in again])
PYTHON
checked 1 'WON answers nothing, or for the second time' "$dir/log.less"
checked 1 'friday: thief: grab on connection 999999' "$dir/log.more"
grep -q 'thief was told packet .* and has no claim in the ledger' "$dir/report" ||
	wrong "the thief's packet to be missing in the ledger"

say "what cannot be read is no verdict"
rc=0
"$bin/fault_check" --log "$dir/nowhere" --config "$dir/rainctl.ini" \
	--ledger "$dir/ledger.db" friday 2>/dev/null || rc=$?
expect "the exit code without a log" "$rc" 3
: >"$dir/empty"
rc=0
"$bin/fault_check" --log "$dir/empty" --config "$dir/rainctl.ini" \
	--ledger "$dir/ledger.db" friday 2>/dev/null || rc=$?
expect "the exit code with an empty log" "$rc" 3
passed
