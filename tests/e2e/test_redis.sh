# SCRIPT FLUSH in mid rain is not noticed by anybody; a restart of Redis (AOF)
# is a moment of BUSY, then it goes on.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
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
