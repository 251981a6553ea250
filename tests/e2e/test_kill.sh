# Each of the three services is killed once with kill -9 in the middle of the
# rain and started again: nobody loses a packet, nothing is paid twice.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
plan night 50000.00 10000

claims_above() {
	n=$(redis LLEN 'rain:{night}:claims')
	[ "$n" -gt "$1" ]
}

ctl --json quiz "$dir/night.ini" --id night --users 20000 --at-once 400 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
seen=0
for name in grab-service settle-worker rain-gateway; do
	seen=$((seen + 1500))
	until_true 60 claims_above $seen || wrong "$seen claims within 60 s"
	say "kill -9 of $name at $(redis LLEN 'rain:{night}:claims') claims"
	kill_hard $name
	stack_service $name
done
wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	wrong "the quiz to end well"
}
cat "$dir/report"
expect "winners" "$(field winners <"$dir/report")" 10000
expect "exact books" "$(field books_exact <"$dir/report")" true
expect "wrong answers" "$(field wrong_answers <"$dir/report")" 0
[ "$(field reconnects <"$dir/report")" -gt 0 ] ||
	wrong "users to have lost their connection to the killed gateway"
passed
