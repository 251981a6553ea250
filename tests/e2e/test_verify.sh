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

# finds ID LINE...: each of these differences is named, and it goes on.
finds() {
	id=$1
	shift
	rc=0
	ctl verify "$id" >"$dir/out" 2>&1 || rc=$?
	expect "the exit code of verify" "$rc" 1
	for line; do
		grep -qxF "$line" "$dir/out" ||
			wrong "verify to say '$line': $(head -n 5 "$dir/out")"
	done
	tail -n 1 "$dir/out" | grep -q '^verify: [0-9]* differences*$' ||
		wrong "verify to go on to its end: $(tail -n 1 "$dir/out")"
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
finds mean "claim $(printf %s "$element" | field seq) of user $(printf %s "$element" | field userId): packet $packet has 4000.01, $amount in the plan"
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

say "what cannot be read is a difference, and the rest is judged"
kept=$(redis LINDEX 'rain:{mean}:packets' -4)
redis LSET 'rain:{mean}:packets' -4 junk >/dev/null
changed packets -9 0.01
finds mean "left: packet $packet has 0.01, $amount in the plan"
redis LSET 'rain:{mean}:packets' -9 "$element" >/dev/null
grep -q '^element 4 of packets cannot be read: ' "$dir/out" ||
	wrong "verify to name the element"
redis LSET 'rain:{mean}:packets' -4 "$kept" >/dev/null
verified mean "all 300 packets proven: 200 claimed, 100 left"

say "what a user is told"
claim=$(redis LINDEX 'rain:{mean}:claims' -7)
eighth=$(redis LINDEX 'rain:{mean}:claims' -8)
user=$(printf %s "$claim" | field userId)
redis LSET 'rain:{mean}:claims' -8 junk >/dev/null
redis HSET 'rain:{mean}:users' "$user" lies >/dev/null
finds mean "user $user is told lies instead of claim 7, packet $(printf %s "$claim" | field redPacketId) with $(printf %s "$claim" | field amount)"
grep -q '^element 8 of claims cannot be read: ' "$dir/out" ||
	wrong "verify to name the claim too"
redis HSET 'rain:{mean}:users' "$user" "$claim" >/dev/null
redis LSET 'rain:{mean}:claims' -8 "$eighth" >/dev/null
verified mean "all 300 packets proven: 200 claimed, 100 left"

say "with a number from outside"
plan beacon 30.00 3
expect "what create prints" \
	"$(ctl activity create -f "$dir/beacon.ini" beacon | tail -n 1 | cut -d' ' -f1)" \
	commitment
expect "what entropy prints" \
	"$(ctl activity entropy beacon 00112233445566778899AABBCCDDEEFF --by ops)" \
	"beacon is CREATED
entropy 00112233445566778899aabbccddeeff by ops"
ctl activity preload beacon
ctl activity open beacon
expect "alice's grab" "$(grab_of beacon alice | cut -d' ' -f1)" WON
ctl activity close beacon
wait_state beacon SETTLED 30
verified beacon "all 3 packets proven: 1 claimed, 2 left"
agreed beacon

say "entropy that only Redis has, or has no more"
redis HDEL 'rain:{beacon}:meta' entropy >/dev/null
finds beacon "entropy: activity show says none, the ledger has 00112233445566778899aabbccddeeff"
redis HSET 'rain:{beacon}:meta' entropy 00112233445566778899aabbccddeeff >/dev/null
seeded=ffffffffffffffffffffffffffffffff
redis HSET 'rain:{mean}:meta' entropy "$seeded" >/dev/null
finds mean "entropy: activity show says $seeded, the ledger has none"
redis HDEL 'rain:{mean}:meta' entropy >/dev/null
verified mean "all 300 packets proven: 200 claimed, 100 left"

say "entropy that nobody was told of loads nothing"
plan chosen 30.00 3
ctl activity create -f "$dir/chosen.ini" chosen
redis HSET 'rain:{chosen}:meta' entropy "$seeded" >/dev/null
rc=0
ctl activity preload chosen >"$dir/out" 2>&1 || rc=$?
expect "the exit code of preload" "$rc" 1
expect "the refusal" "$(cat "$dir/out")" \
	"rainctl activity preload: it has other entropy than its events: cancel it"
redis HSET 'rain:{chosen}:meta' entropy beef >/dev/null
expect "what cancel prints of what cannot be read" "$(ctl activity cancel chosen)" done

say "called cancelled, or its lists taken away"
redis HDEL 'rain:{beacon}:meta' leftover_cents >/dev/null
finds beacon "cancelled: Redis has 1 claim" \
	"cancelled: the ledger heard that it was closed with 1 claim"
redis HSET 'rain:{beacon}:meta' leftover_cents 0 >/dev/null
redis DEL 'rain:{beacon}:claims' 'rain:{beacon}:packets' >/dev/null
fails beacon "lists: both are empty, and Redis has not given them up"

say "cancelled, and gone from Redis"
plan never 30.00 3
ctl activity create -f "$dir/never.ini" never
ctl activity preload never
ctl activity cancel never
wait_state never SETTLED 30
verified never \
	"proven: it was cancelled, 3 of 3 packets are in Redis, none was claimed"
expect "what scripts are told" "$(ctl --json verify never | field cancelled)" true
rc=0
ctl luckiest never >"$dir/out" 2>&1 || rc=$?
expect "the exit code of luckiest" "$rc" 1
expect "who won" "$(cat "$dir/out")" \
	"rainctl luckiest: it was cancelled: nobody won"
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
