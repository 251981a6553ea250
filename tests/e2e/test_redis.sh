# SCRIPT FLUSH in mid rain is not noticed by anybody; a restart of Redis (AOF)
# is a moment of BUSY, then it goes on.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

plan calm 1000.00 500
ctl --json quiz "$dir/calm.ini" --id calm --users 2000 --at-once 50 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
flushes=0
while kill -0 $quiz 2>/dev/null; do
	redis SCRIPT FLUSH >/dev/null
	flushes=$((flushes + 1))
	sleep 0.05
done
wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	wrong "the quiz to end well"
}
say "$flushes times SCRIPT FLUSH"
[ $flushes -gt 10 ] || wrong "many flushes in mid rain"
expect "exact books" "$(field books_exact <"$dir/report")" true
expect "waits" "$(field waits <"$dir/report")" 0
expect "pending" "$(field pending <"$dir/report")" 0
expect "reconnects" "$(field reconnects <"$dir/report")" 0

plan night 30000.00 6000
ctl --json quiz "$dir/night.ini" --id night --users 12000 --at-once 400 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
claims_above() {
	[ "$(redis LLEN 'rain:{night}:claims')" -gt "$1" ]
}
for n in 500 1000 1500; do
	until_true 60 claims_above $n || wrong "$n claims within 60 s"
	redis SCRIPT FLUSH >/dev/null
done
until_true 60 claims_above 2500 || wrong "2500 claims within 60 s"
say "restarting Redis"
stop_pid redis "$dir/redis.pid" 10
stack_redis
wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	ctl activity show night
	wrong "the quiz to end well"
}
cat "$dir/report"
expect "winners" "$(field winners <"$dir/report")" 6000
expect "exact books" "$(field books_exact <"$dir/report")" true
expect "wrong answers" "$(field wrong_answers <"$dir/report")" 0
passed
