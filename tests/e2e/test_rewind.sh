# The relay is rewound again and again while it rains: events come twice and
# more, and nothing changes in the ledger.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
plan night 25000.00 5000
ctl --json quiz "$dir/night.ini" --id night --users 8000 --at-once 400 \
	>"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
rains() {
	[ "$(redis LLEN 'rain:{night}:claims')" -gt 500 ]
}
until_true 60 rains || wrong "500 claims within 60 s"
rewinds=0
while kill -0 $quiz 2>/dev/null && [ $rewinds -lt 5 ]; do
	ctl relay rewind night && rewinds=$((rewinds + 1))
	sleep 0.3
done
wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	wrong "the quiz to end well"
}
[ $rewinds -gt 0 ] || wrong "at least one rewind in mid rain"
expect "winners" "$(field winners <"$dir/report")" 5000
expect "exact books" "$(field books_exact <"$dir/report")" true
ctl relay rewind night
again=$(ctl --json books night --wait 60 | field published_again)
[ "$again" -gt 0 ] || wrong "events to have been published again"
say "$again events came more than once"
books night
passed
