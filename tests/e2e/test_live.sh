# Mode live: no list lies in Redis, each amount is drawn when it is grabbed. One
# activity is sold out by a crowd, one is closed early after a crash; whoever won
# is told the same packet again, and the books are exact to the cent.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

keys() {
	redis EXISTS "rain:{$1}:packets"
}
# left ID: packets and cents that are still to be drawn.
left() {
	redis HMGET "rain:{$1}:meta" left balance | tr '\n' ' '
}

say "what cannot be live"
plan still 9.00 3 'mode = live' 'algorithm = equal'
refused "mode live with the algorithm equal: only double_mean can be drawn while people grab" \
	activity create -f "$dir/still.ini" still
plan still 9.00 3 'mode = live'
refused "mode live with the algorithm adopted: only double_mean can be drawn while people grab" \
	activity create --adopt -f "$dir/still.ini" still
plan still 9.00 3 'mode = life'
refused 'activity.mode: "life" cannot be read; allowed: list, live' \
	activity create -f "$dir/still.ini" still

say "a crowd takes all"
plan crowd 1000.00 300 'mode = live' 'max = 8'
report=$(ctl --json quiz "$dir/crowd.ini" --id crowd --users 900 --at-once 300)
printf '%s\n' "$report"
expect "winners" "$(printf %s "$report" | field winners)" 300
expect "sold out" "$(printf %s "$report" | field sold_out)" 600
expect "exact books" "$(printf %s "$report" | field books_exact)" true
expect "wrong answers" "$(printf %s "$report" | field wrong_answers)" 0
expect "proven" "$(printf %s "$report" | field proven)" true
wait_state crowd SETTLED 30
expect "what is left" "$(left crowd)" "0 0 "
expect "a grab when it is over" "$(grab_of crowd late)" "ENDED - -"

say "one by one: nothing lies in Redis before"
plan night 50.00 200 'mode = live' 'min = 0.05' 'release = 4s'
expect "what create prints" \
	"$(ctl activity create -f "$dir/night.ini" night | sed 's/^commitment .*/-/')" \
	"night is CREATED
mode live: each amount is drawn when its packet is grabbed
-"
ctl activity entropy night 00112233445566778899aabbccddeeff --by ops
expect "what preload prints" "$(ctl activity preload night)" \
	"night is LOADED: all 200 packets can be drawn"
expect "lists of packets" "$(keys night)" 0
expect "what is left" "$(left night)" "200 5000 "
expect "what open prints" "$(ctl activity open night)" \
	"night is OPEN: 200 packets wait to be drawn"
printf '[activity]\ntotal = 1.00\n' >"$dir/more.ini"
refused "it is drawn while people grab: nothing can be added to it" \
	activity topup night -f "$dir/more.ini"
expect "the state after the refusal" "$(ctl --json activity show night | field state)" OPEN

say "the grab-service is killed while a crowd taps"
first=$(grab_of night alice)
expect "alice's grab" "${first%% *}" WON
tap_on night --front --conns 8 --users 119 --rate 60 \
	--duration 4 --retry honour >"$dir/flood.json" &
flood=$!
some_drawn() {
	[ "$(redis LLEN 'rain:{night}:claims')" -ge 40 ]
}
until_true 20 some_drawn || wrong "40 claims"
kill_hard grab-service
stack_service grab-service
wait $flood || wrong "the crowd to end well"
told_again() {
	[ "$(grab_of night alice)" = "ALREADY_GRABBED ${first#* }" ]
}
until_true 60 told_again || wrong "alice to be told ${first#* } again"
tap_on night --front --conns 8 --users 119 --rate 100 \
	--duration 3 --retry honour >"$dir/flood.json"
books night
expect "lists of packets" "$(keys night)" 0

say "closed early: what nobody drew goes back"
balance=$(redis HGET 'rain:{night}:meta' balance)
ctl activity close night
wait_state night SETTLED 60
books night
same_packet night alice "${first#* }" "it is settled"
expect "what was counted" "$(redis HGET 'rain:{night}:meta' leftover_cents)" "$balance"
left=$(redis HGET 'rain:{night}:meta' left)
[ "$left" -gt 0 ] || wrong "packets that nobody drew"

say "in the ledger"
for id in crowd night; do
	ctl --json activity show $id >"$dir/$id.json"
done
python3 - "$dir/ledger.db" "$dir/crowd.json" "$dir/night.json" "$balance" <<'PY'
import json, sqlite3, sys

db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for path, leftover, least, most in ((sys.argv[2], 0, 1, 800),
                                    (sys.argv[3], int(sys.argv[4]), 5, 5000)):
    show = json.load(open(path))
    total = int(show["total"].replace(".", ""))
    records = db.execute(
        "SELECT r.seq, r.red_packet_id, r.amount FROM red_packet_record r"
        " JOIN red_packet_info i USING (activity) WHERE i.activity_id = ?"
        " ORDER BY r.seq", [show["id"]]).fetchall()
    base = int(show["id_base"])
    assert [(seq, int(packet)) for seq, packet, _ in records] == [
        (k, base + k - 1) for k in range(1, show["final_claims"] + 1)], show
    assert show["final_claims"] + show["final_left"] == show["packets"], show
    paid = sum(cents for _, _, cents in records)
    assert all(least <= cents <= most for _, _, cents in records), records
    assert len({cents for _, _, cents in records}) > 10, records
    assert paid + leftover == total, (paid, leftover, total)
    assert db.execute(
        "SELECT funded_amount, credited_amount, refunded_amount"
        " FROM red_packet_info WHERE activity_id = ?",
        [show["id"]]).fetchall() == [(total, paid, leftover)], show
    if show.get("release_ms"):
        early = db.execute(
            "SELECT r.seq, r.at_ms, c.at_ms FROM red_packet_record r"
            " JOIN activity_change c USING (activity)"
            " JOIN red_packet_info i USING (activity)"
            " WHERE i.activity_id = ? AND c.kind = 'opened'"
            " AND (r.at_ms - c.at_ms) * ? < (r.seq - 1) * ?",
            [show["id"], show["packets"], show["release_ms"]]).fetchall()
        assert not early, early
    print(f"{show['id']}: {len(records)} claims with {paid} cents,"
          f" {leftover} went back")
PY
proven crowd "all 300 packets proven: 300 claimed, 0 left"
proven night "all 200 packets proven: $((200 - left)) claimed, $left left"
expect "mode as shown" "$(field mode <"$dir/night.json")" live

say "the lists have left Redis"
opened short 30.00 3 'mode = live' 'keep_days = 0'
expect "alice's grab" "$(grab_of short alice | cut -d' ' -f1)" WON
ctl activity close short
wait_state short SETTLED 30
lists_gone() {
	[ "$(redis EXISTS 'rain:{short}:users')" = 0 ]
}
until_true 20 lists_gone || wrong "the lists to be unlinked (keep_days = 0)"
books short
proven short "all 3 packets proven from the ledger alone, the lists have left Redis: 1 claimed, 2 left"

say "cancelled before it was opened"
plan never 30.00 3 'mode = live'
ctl activity create -f "$dir/never.ini" never
ctl activity preload never
ctl activity cancel never
wait_state never SETTLED 30
books never
proven never "proven: it was cancelled, 3 of 3 packets could be drawn, none was claimed"
passed
