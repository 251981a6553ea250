# A quiz night from end to end: every user gets an answer, every cent arrives.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
plan night 5000.00 1000
report=$(ctl --json quiz "$dir/night.ini" --id night --users 3000 --at-once 500)
printf '%s\n' "$report"
expect "winners" "$(printf %s "$report" | field winners)" 1000
expect "sold out" "$(printf %s "$report" | field sold_out)" 2000
expect "exact books" "$(printf %s "$report" | field books_exact)" true
expect "wrong answers" "$(printf %s "$report" | field wrong_answers)" 0
wait_state night SETTLED 20
books night
passed
