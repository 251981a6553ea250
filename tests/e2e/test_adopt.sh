# A console of somebody else has made the packets, in the form of the article
# that everybody copies; the activity adopts them. Every user gets what lay
# there, and the books are exact.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

# console ID SEED COUNT TOTAL_CENTS: the foreign console: one LPUSH a packet, ids
# of its own. Writes what it has pushed to $dir/ID.json.
console() {
	python3 - "$@" "$redis_port" "$dir/$1.json" <<'PY'
import json, random, subprocess, sys

activity, seed, count, total, port, path = sys.argv[1:]
random.seed(int(seed))
count, total = int(count), int(total)
cuts = sorted(random.sample(range(1, total), count - 1))
cents = [b - a for a, b in zip([0] + cuts, cuts + [total])]
packets = []
for i, c in enumerate(cents):
    packets.append((str(365628617880842241 + 17 * i), c))
    text = json.dumps(
        {"redPacketId": packets[-1][0], "amount": f"{c // 100}.{c % 100:02}"},
        separators=(",", ":"))
    subprocess.run(["redis-cli", "-p", port, "LPUSH", f"rain:{{{activity}}}:packets",
                    text], check=True, stdout=subprocess.DEVNULL)
json.dump(packets, open(path, "w"))
PY
}

plan friday 500.00 200 'min = 0.01'
console friday 7 200 50000
ctl activity create --adopt -f "$dir/friday.ini" friday
expect "the algorithm" "$(ctl --json activity show friday | field algorithm)" adopted
ctl activity preload friday

say "one element is wrong: open says which"
right=$(redis LINDEX 'rain:{friday}:packets' -17)
redis LSET 'rain:{friday}:packets' -17 '{"redPacketId":"x","amount":"0.00"}' >/dev/null
if ctl activity open friday >"$dir/out" 2>&1; then
	wrong "a list with an empty packet not to be opened"
fi
grep -q 'packet 17 in Redis is no packet: the amount is not 0.01 or more' "$dir/out" || {
	cat "$dir/out"
	wrong "open to name packet 17"
}
redis LSET 'rain:{friday}:packets' -17 "$right" >/dev/null
ctl activity open friday

say "120 users get what lies there; the grab-service is killed in between"
first=$(grab_of friday alice)
tap_on friday --front --conns 8 --users 59 --rate 100 \
	--duration 2 --retry honour >"$dir/flood.json"
kill_hard grab-service
stack_service grab-service
told_again() {
	[ "$(grab_of friday alice)" = "ALREADY_GRABBED ${first#* }" ]
}
until_true 60 told_again || wrong "alice to be told ${first#* } again"
tap_on friday --front --conns 8 --users 119 --rate 100 \
	--duration 3 --retry honour >"$dir/flood.json"
ctl activity close friday
wait_state friday SETTLED 60
books friday

if ctl verify friday >"$dir/out" 2>&1; then
	wrong "verify to prove nothing of an adopted list"
fi
grep -q 'not provable: its packets were adopted' "$dir/out" || {
	cat "$dir/out"
	wrong "verify to say why"
}
printf 'algorithm = adopted\n' >>"$dir/friday.ini"
if ctl plan "$dir/friday.ini" >"$dir/out" 2>&1 ||
	! grep -q 'there is nothing to draw' "$dir/out"; then
	cat "$dir/out"
	wrong "plan to have nothing to draw"
fi

python3 - "$dir/friday.json" "$dir/ledger.db" <<'PY'
import json, sqlite3, sys

packets = json.load(open(sys.argv[1]))
ledger = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
claims = ledger.execute("SELECT seq, red_packet_id, amount FROM "
                        "red_packet_record ORDER BY seq").fetchall()
assert len(claims) >= 100, len(claims)
for seq, packet, cents in claims:
    assert [packet, cents] == packets[seq - 1], (seq, packet, cents)
refunded = sum(cents for _, cents in packets[len(claims):])
paid = sum(cents for _, _, cents in claims)
assert paid + refunded == 50000, (paid, refunded)
print(f"{len(claims)} claims with {paid} cents, {refunded} cents are left")
PY

say "edited while no grab-service runs, with the same lengths and the same sum"
plan saturday 10.00 5
console saturday 8 5 1000
ctl activity create --adopt -f "$dir/saturday.ini" saturday
ctl activity preload saturday
ctl activity open saturday
expect "the first grab" "$(grab_of saturday alice | cut -d' ' -f1)" WON
kill_hard grab-service
one=$(redis LINDEX 'rain:{saturday}:packets' -1)
two=$(redis LINDEX 'rain:{saturday}:packets' -2)
redis LSET 'rain:{saturday}:packets' -1 "$two" >/dev/null
redis LSET 'rain:{saturday}:packets' -2 "$one" >/dev/null
stack_service grab-service
wait_state saturday HALTED 30
ctl activity show saturday | grep -q 'its packets are not those that were opened' ||
	wrong "the reason of the halt"

say "put back, it goes on"
redis LSET 'rain:{saturday}:packets' -1 "$one" >/dev/null
redis LSET 'rain:{saturday}:packets' -2 "$two" >/dev/null
ctl activity resume saturday
ctl activity resume saturday
goes_on() {
	case $(grab_of saturday bob) in
	WON\ * | ALREADY_GRABBED\ *) ;;
	*) return 1 ;;
	esac
}
until_true 20 goes_on || wrong "bob to get a packet"
ctl activity close saturday
wait_state saturday SETTLED 60
books saturday
passed
