# A rain that is sold out goes on twice, while people tap. In the middle of the
# second top-up the grab-service is killed: it is half loaded, is not closed so,
# and the same request goes on. Then all is sold, settled and compared.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

claims_are() {
	[ "$(redis LLEN 'rain:{night}:claims')" = "$1" ]
}
meta() {
	redis HGET 'rain:{night}:meta' "$1"
}
# more FILE TOTAL PACKETS
more() {
	printf '[activity]\ntotal = %s\npackets = %s\n' "$2" "$3" >"$dir/$1.ini"
}
sound() {
	expect "violations of the books $1" "$(metric "$ledger_http" rain_ledger_invariant_violations)" 0
}

more second 600.00 300
more third 20000.00 20000
opened night 300.00 300
tap_on night --front --conns 8 --users 100000 --rate 1000 \
	--duration 12 --retry honour >"$dir/flood.json" &
flood=$!
until_true 20 claims_are 300 || wrong "300 claims"
expect "a grab when all is gone" "$(grab_of night late)" "SOLD_OUT - -"
sound "before"

say "the second tranche"
ctl activity topup night -f "$dir/second.ini"
until_true 20 claims_are 600 || wrong "600 claims"
refused "tranche 2 is another one" activity topup night -f "$dir/third.ini" --tranche 2
ctl activity topup night -f "$dir/second.ini" --tranche 2 | grep -q already ||
	wrong "the second tranche to be there already"
printf 'sponsor = somebody\n' >>"$dir/second.ini"
refused "the rest is the activity's" activity topup night -f "$dir/second.ini"

# A kill that comes too late leaves a whole tranche, and the next one is tried.
number=2
half=
while [ -z "$half" ]; do
	number=$((number + 1))
	[ $number -le 8 ] || wrong "a kill in the middle of one of six top-ups"
	there=$(meta packets)
	# By itself, not as a child: it is killed below, or it would ask again.
	(
		exec "$bin/rainctl" --config "$dir/rainctl.ini" \
			--set ctl.timeout=2s activity topup night \
			-f "$dir/third.ini" --tranche $number
	) >"$dir/topup.log" 2>&1 &
	asked=$!
	while [ "$(meta packets)" = "$there" ]; do
		kill -0 $asked 2>/dev/null || break
	done
	kill_hard grab-service
	half=$(meta topup)
	kill $asked 2>/dev/null || true
	wait $asked || true
	stack_service grab-service
	ctl doctor --quiet --wait 30
done
say "killed in the middle of tranche $number: $(meta tranche_ends) of $((there + 20000))"
refused "tranche $number is half loaded" activity close night
ctl activity topup night -f "$dir/third.ini" --tranche $number
expect "packets" "$(meta packets)" $((there + 20000))
expect "the state" "$(ctl --json activity show night | field state)" OPEN
ctl activity show night | grep -q "tranche=$number total=20000.00 packets=20000" ||
	wrong "show to tell tranche $number"

wait $flood || wrong "the crowd to end well"
first=200000
until claims_are $((there + 20000)); do
	[ $first -lt 2000000 ] || wrong "all to be sold"
	tap_on night --front --conns 8 --users 100000 --first-user $first \
		--in-flight 50 --duration 3 --retry honour >/dev/null
	first=$((first + 100000))
done
expect "a grab when all is gone again" "$(grab_of night later)" "SOLD_OUT - -"
ctl activity close night
wait_state night SETTLED 60
books night
sound "after"

sold=$((there + 20000))
proven night "all $sold packets proven: $sold claimed, 0 left"
python3 - "$dir/show.json" "$dir/ledger.db" "$number" <<'PY'
import hashlib, json, sqlite3, sys

show = json.load(open(sys.argv[1]))
db = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
last = int(sys.argv[3])
sizes = [300, 300] + [20000] * (last - 2)
totals = [30000, 60000] + [2000000] * (last - 2)
records = db.execute("SELECT seq, tranche, amount, red_packet_id"
                     " FROM red_packet_record ORDER BY seq").fetchall()
assert [r[0] for r in records] == list(range(1, sum(sizes) + 1))
bases = [int(show["id_base"])] + [int(t["id_base"]) for t in show["topups"]]
at = 0
for i, (size, total) in enumerate(zip(sizes, totals)):
    part = records[at:at + size]
    at += size
    assert {tranche for _, tranche, _, _ in part} == {i + 1}, i
    assert sum(amount for _, _, amount, _ in part) == total, i
    assert [int(r[3]) for r in part] == list(range(bases[i], bases[i] + size))
for t in show["topups"]:
    cents = t["total"].replace(".", "")
    text = (f"activity_id=night\ntranche={t['tranche']}\ntotal_cents={cents}\n"
            f"packets={t['packets']}\nalgorithm=double_mean\nmin_cents=1\n"
            f"max_cents=0\n")
    made = hashlib.sha256(bytes.fromhex(t["seed"]) + text.encode()).hexdigest()
    assert made == t["commitment"], t
tops = db.execute("SELECT tranche, packets, amount, detail FROM activity_change"
                  " WHERE kind = 'topped_up' ORDER BY revision").fetchall()
assert tops == [(i + 1, sizes[i], totals[i],
                 show["topups"][i - 1]["commitment"])
                for i in range(1, last)], tops
closed = db.execute("SELECT detail FROM activity_change"
                    " WHERE kind = 'closed'").fetchone()[0]
assert closed == ",".join([show["seed"]] +
                          [t["seed"] for t in show["topups"]]), closed
assert db.execute("SELECT funded_amount, credited_amount, refunded_amount"
                  " FROM red_packet_info").fetchall() == [
                      (sum(totals), sum(totals), 0)]
print(f"{at} claims of {last} tranches, each with its packets and its money")
PY

say "another seed for the second tranche, and a commitment that fits it"
seed=$(meta t2_seed)
commitment=$(meta t2_commitment)
text=$(meta t2_plan)
other=$(printf %064d 7)
made=$(python3 -c '
import hashlib, sys
print(hashlib.sha256(bytes.fromhex(sys.argv[1]) + sys.argv[2].encode() +
                     b"\n").hexdigest())' "$other" "$text")
redis HSET 'rain:{night}:meta' t2_seed "$other" t2_commitment "$made" >/dev/null
rc=0
ctl verify night >"$dir/out" || rc=$?
expect "the exit code of verify" "$rc" 1
expect "the first difference" "$(head -n 1 "$dir/out")" \
	"commitment of tranche 2: the ledger has $commitment, seed and text make $made"
redis HSET 'rain:{night}:meta' t2_seed "$seed" t2_commitment "$commitment" >/dev/null
proven night "all $sold packets proven: $sold claimed, 0 left"

say "half loaded when Redis is full, halted, closed: what was never loaded goes back"
opened half 3.00 3
expect "alice's grab" "$(grab_of half alice | cut -d' ' -f1)" WON
kill -STOP "$(cat "$dir/settle-worker.pid")"
ctl activity topup half -f "$dir/third.ini" >"$dir/topup.log" 2>&1 &
asked=$!
announced() {
	[ "$(redis HGET 'rain:{half}:meta' topup)" = 2 ]
}
until_true 20 announced || wrong "tranche 2 to be announced"
expect "packets before it is funded" "$(redis HGET 'rain:{half}:meta' packets)" 3
used=$(redis INFO memory | tr -d '\r' | sed -n 's/^used_memory://p')
redis CONFIG SET maxmemory $((used + 500000)) >/dev/null
kill -CONT "$(cat "$dir/settle-worker.pid")"
if wait $asked; then
	wrong "a top-up that does not fit to fail"
fi
grep -q 'OOM' "$dir/topup.log" && grep -q -- '--tranche 2' "$dir/topup.log" || {
	cat "$dir/topup.log"
	wrong "the failed top-up to say why, and how to go on"
}
redis CONFIG SET maxmemory 0 >/dev/null
loaded=$(redis HGET 'rain:{half}:meta' packets)
[ "$loaded" -gt 3 ] && [ "$loaded" -lt 20003 ] ||
	wrong "a half loaded tranche, there are $loaded packets"
ctl books half --wait 60 >"$dir/books" || {
	cat "$dir/books"
	wrong "exact books of what is half loaded"
}
grep -q 'not loaded' "$dir/books" || wrong "the books to tell what is not loaded"
stolen=$(redis RPOP 'rain:{half}:packets')
wait_state half HALTED 10
redis RPUSH 'rain:{half}:packets' "$stolen" >/dev/null
ctl activity close half
wait_state half SETTLED 60
books half
won=$(ctl --json result half --user alice | field amount |
	sed 's/\.//; s/^0*//')
refunded=$(redis HGET 'rain:{half}:meta' leftover_cents)
expect "what is left over" "$refunded" $((300 + 2000000 - won))
proven half "all 20003 packets proven: 1 claimed, $((loaded - 1)) left, $((20003 - loaded)) never loaded"
sound "at the end"
passed
