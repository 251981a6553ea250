# Whoever has the published seed can make the packets again: rainctl verify and
# a program that was written from docs/fairness.md alone prove a whole run, and
# name the one packet that somebody changed.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

# verified ID SUMMARY
verified() {
	expect "what verify says of $1" "$(ctl verify "$1" || true)" "verify: $2"
}

# fails ID LINE: exactly this difference, and exit 1.
fails() {
	rc=0
	ctl verify "$1" >"$dir/out" || rc=$?
	expect "the exit code of verify" "$rc" 1
	expect "what verify says of $1" "$(cat "$dir/out")" "$2
verify: 1 difference"
}

# agreed ID: so says the other program.
agreed() {
	ctl --json activity show "$1" >"$dir/show.json"
	python3 -B "$top/tests/verify/verify.py" run "$dir/show.json" \
		"$dir/ledger.db" || wrong "verify.py to prove $1"
}

say "before it is closed nothing can be verified"
opened early 30.00 3
rc=0
ctl verify early >"$dir/out" 2>&1 || rc=$?
expect "the exit code of verify" "$rc" 1
expect "the refusal" "$(cat "$dir/out")" \
	"rainctl verify: it is not closed: its seed is published when it is, and nothing can be verified before"
rc=0
ctl verify nothing >"$dir/out" 2>&1 || rc=$?
expect "the exit code for no activity" "$rc" 1
grep -q 'no such activity' "$dir/out" || wrong "a refusal, not $(cat "$dir/out")"

# night ID USERS PLAN...: so many users get a packet each, the rest is left.
night() {
	id=$1
	users=$2
	shift 2
	plan "$id" "$@"
	report=$(ctl --json quiz "$dir/$id.ini" --id "$id" --users "$users" \
		--at-once 100)
	expect "proven at the end of $id" "$(printf %s "$report" | field proven)" true
	wait_state "$id" SETTLED 30
}

say "three algorithms, some packets left of each"
night mean 200 3000.00 300 'algorithm = double_mean'
night tiers 150 2022.50 202 'algorithm = tiers' \
	'tiers = 500.00 x 2, 50.00 x 10, 2.75 x 190'
night cut 400 4000.00 400 'algorithm = line_cut' 'max = 60.00'
verified mean "all 300 packets proven: 200 claimed, 100 left"
verified cut "all 400 packets proven: 400 claimed, 0 left"
verified tiers "all 202 packets proven: 150 claimed, 52 left"
agreed mean
agreed tiers
agreed cut
expect "what scripts are told" "$(ctl --json verify mean |
	python3 -c '
import json, sys
v = json.load(sys.stdin)
print(v["proven"], v["packets"], v["claimed"], v["left"], v["credited"], v["differences"])')" \
	"True 300 200 100 200 []"

say "who was the luckiest"
rc=0
ctl luckiest early >"$dir/out" 2>&1 || rc=$?
expect "the exit code of luckiest" "$rc" 1
expect "the refusal" "$(cat "$dir/out")" \
	"rainctl luckiest: it is not closed: who is the luckiest is known when it is"
expect "the five best of tiers, as the ledger has them" \
	"$(ctl --json luckiest tiers 5 | python3 -c '
import json, sys
print([(r["user"], r["amount"]) for r in json.load(sys.stdin)])')" \
	"$(python3 -c '
import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
rows = db.execute("SELECT a.owner, r.amount FROM red_packet_record r"
                  " JOIN account a USING (account)"
                  " JOIN red_packet_info i USING (activity)"
                  " WHERE i.activity_id = ? ORDER BY r.amount DESC, r.at_ms, r.seq"
                  " LIMIT 5", ["tiers"]).fetchall()
print([(user, "%d.%02d" % divmod(cents, 100)) for user, cents in rows])' \
		"$dir/ledger.db")"

# changed LIST INDEX AMOUNT: an element of mean with another amount.
changed() {
	element=$(redis LINDEX "rain:{mean}:$1" "$2")
	packet=$(printf %s "$element" | field redPacketId)
	amount=$(printf %s "$element" | field amount)
	redis LSET "rain:{mean}:$1" "$2" "$(printf %s "$element" |
		sed "s/\"amount\":\"[^\"]*\"/\"amount\":\"$3\"/")" >/dev/null
}

say "one amount is changed by hand: of a claim, of a packet that is left"
# More than the whole plan has.
changed claims 17 4000.01
fails mean "claim $(printf %s "$element" | field seq) of user $(printf %s "$element" | field userId): packet $packet has 4000.01, $amount in the plan"
redis LSET 'rain:{mean}:claims' 17 "$element" >/dev/null
verified mean "all 300 packets proven: 200 claimed, 100 left"
changed packets 42 4000.02
fails mean "left: packet $packet has 4000.02, $amount in the plan"
redis LSET 'rain:{mean}:packets' 42 "$element" >/dev/null
verified mean "all 300 packets proven: 200 claimed, 100 left"

say "a seed that was chosen afterwards"
seed=$(redis HGET 'rain:{mean}:meta' seed)
redis HSET 'rain:{mean}:meta' seed "$(printf %064d 1)" >/dev/null
rc=0
ctl verify mean >"$dir/out" || rc=$?
expect "the exit code of verify" "$rc" 1
expect "how many lines it takes" "$(wc -l <"$dir/out")" 102
for place in 'activity show says' 'the ledger has'; do
	grep -q "^commitment: $place " "$dir/out" ||
		wrong "verify to say what $place: $(head -n 3 "$dir/out")"
done
redis HSET 'rain:{mean}:meta' seed "$seed" >/dev/null

say "with a number from outside"
plan beacon 30.00 3
ctl activity create -f "$dir/beacon.ini" beacon
ctl activity entropy beacon 00112233445566778899aabbccddeeff
ctl activity preload beacon
ctl activity open beacon
expect "alice's grab" "$(grab_of beacon alice | cut -d' ' -f1)" WON
ctl activity close beacon
wait_state beacon SETTLED 30
verified beacon "all 3 packets proven: 1 claimed, 2 left"
agreed beacon

say "cancelled, and gone from Redis"
plan never 30.00 3
ctl activity create -f "$dir/never.ini" never
ctl activity preload never
ctl activity cancel never
wait_state never SETTLED 30
verified never \
	"proven: it was cancelled, 3 of 3 packets are in Redis, none was claimed"
opened short 30.00 3 'keep_days = 0'
expect "alice's grab" "$(grab_of short alice | cut -d' ' -f1)" WON
ctl activity close short
wait_state short SETTLED 30
lists_gone() {
	[ "$(redis EXISTS 'rain:{short}:users')" = 0 ]
}
until_true 20 lists_gone || wrong "the lists to be unlinked (keep_days = 0)"
verified short "all 3 packets proven from the ledger alone, the lists have left Redis: 1 claimed, 2 left"
agreed short
passed
