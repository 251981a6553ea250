# What rainbench says is what the services know: winners and money of its JSON
# are the claims and their amounts, in both loops, with users who share
# connections and with users who each have one and walk through activities.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

# same_books ACTIVITY INDEX JSON: what is said of the INDEXth activity is what
# Redis has claimed and the ledger has credited.
same_books() {
	told=$(printf %s "$3" | python3 -c '
import json, sys
one = json.load(sys.stdin)["activities"][int(sys.argv[1])]
cents = one["cents_won"]
print(one["id"], one["winners"], "%d.%02d" % divmod(cents, 100))' "$2")
	ctl --json books "$1" --wait 60 >"$dir/books.json" || wrong "exact books of $1"
	for row in "claimed (Redis)" "credited (ledger)"; do
		known=$(python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    if row["what"] == sys.argv[1]:
        print(row["packets"], row["amount"])' "$row" <"$dir/books.json")
		expect "what rainbench says of $1" "$told" "$1 $known"
	done
}

# clean JSON: every tap was answered, with what can be.
clean() {
	for name in unanswered lost errors strange unresolved wrong_answers closed; do
		expect "$name" "$(printf %s "$1" | field $name)" 0
	done
	expect "answers" "$(printf %s "$1" | field answers)" \
		"$(printf %s "$1" | field sent)"
}

opened closed 20000.00 2000
measured=$(tap_on closed --front --conns 20 --in-flight 4 --users 5000 --duration 1)
clean "$measured"
same_books closed 0 "$measured"

opened open 20000.00 2000
measured=$(tap_on open --front --conns 20 --rate 2000 --users 5000 --duration 1 --ramp 500ms --threads 2)
clean "$measured"
same_books open 0 "$measured"
expect "taps of a second with a ramp of half of it" "$(printf %s "$measured" | field sent)" 1500

# Each of 100 users wins in each of three; the second 50 follow the first on the
# same connections.
for n in 1 2 3; do
	opened walk$n 1000.00 200
done
measured=$(tap_on walk%d --activities 3 --conns 50 --users 100 --taps 1 --duration 0)
clean "$measured"
expect "winners" "$(printf %s "$measured" | field winners)" 300
expect "won" "$(printf %s "$measured" | field statuses.WON)" 300
for n in 1 2 3; do
	same_books walk$n $((n - 1)) "$measured"
done

measured=$("$RAINBENCH" --target "tcp://$gateway" --keys "$dir/keys" --idle \
	--conns 500 --duration 1 --json --quiet)
expect "connections that were held" "$(printf %s "$measured" | field held)" 500

for id in closed open walk1 walk2 walk3; do
	ctl activity close $id
	books $id
done
passed
