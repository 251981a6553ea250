# The real programs under ThreadSanitizer: four loops in the gateway, two
# grab-services, rain, scrapes of metrics, reloads, kills, drains and a Redis
# that was restarted in the middle of it. Any report in a log fails.
#
# With addresses at random, newer kernels put things where the runtime of older
# compilers expects none.
if [ -z "${RACE_SETARCH:-}" ] && setarch -R true 2>/dev/null; then
	RACE_SETARCH=done exec setarch -R sh "$0"
fi
. "$RAIN_SOURCE/tests/e2e/lib.sh"
TSAN_OPTIONS="${TSAN_OPTIONS:-} halt_on_error=0 suppressions=$RAIN_SOURCE/tests/sanitize/tsan.supp"
export TSAN_OPTIONS

# seeded WHAT: whether ThreadSanitizer reports it, launched and stopped as the
# services are.
seeded() {
	launch seeded "$SEEDED" "$1"
	until_true 10 grep -q ready "$dir/seeded.log" || wrong "seeded $1 to start"
	stop_pid seeded "$dir/seeded.pid" 10
	if grep -q 'WARNING: ThreadSanitizer: data race' "$dir/seeded.log"; then
		echo yes
	else
		echo no
	fi
	rm "$dir/seeded.log"
}

topic_prefix=race.$$.$(date +%N)
stack_new
expect "a report about a race" "$(seeded race)" yes
expect "a report about the same with a lock" "$(seeded locked)" no

# shellcheck disable=SC2046 # a list of ports
set -- $("$bin/rainctl" ports 2)
sed "s/^listen = $grab\$/listen = 127.0.0.1:$1/
	s/^listen = $grab_http\$/listen = 127.0.0.1:$2/" \
	"$dir/grab-service.ini" >"$dir/grab-service-2.ini"
for ini in rain-gateway settle-worker rainctl; do
	sed -i "s/^addresses = $grab\$/addresses = $grab,127.0.0.1:$1/" \
		"$dir/$ini.ini"
done
sed -i 's/^\[gateway\]$/&\nloops = 4/' "$dir/rain-gateway.ini"
pages="$gateway_http $grab_http 127.0.0.1:$2 $ledger_http"
second() {
	launch grab-service-2 "$bin/grab-service" \
		--config "$dir/grab-service-2.ini"
}
second
stack_start

# Whoever asks for the numbers comes on a thread of his own.
scrape() {
	exec python3 - "$@" <<'PY'
import sys, time, urllib.request
while True:
    for page in sys.argv[1:]:
        for path in ("metrics", "readyz"):
            try:
                urllib.request.urlopen(f"http://{page}/{path}", timeout=5).read()
            except OSError:
                pass  # it was killed, or is not ready
    time.sleep(0.05)
PY
}
# shellcheck disable=SC2086 # a list of words
scrape $pages &
scraper=$!
trap 'kill $scraper 2>/dev/null || true; cleanup' EXIT

# again NAME: it has started as often as this test has started it, twice. A
# SIGHUP before that would end it.
again() {
	until_true 60 started_twice "$1" || wrong "$1 to start again"
}
started_twice() {
	[ "$(grep -c 'event=started' "$dir/$1.log")" -eq 2 ]
}
reload() {
	for name in rain-gateway grab-service grab-service-2 settle-worker; do
		kill -HUP "$(cat "$dir/$name.pid")"
	done
}
claims_above() {
	[ "$(redis LLEN 'rain:{night}:claims')" -gt "$1" ]
}
plan night 20000.00 4000
ctl --json quiz "$dir/night.ini" --id night --users 6000 --at-once 200 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
until_true 60 claims_above 300 || wrong "300 claims within 60 s"
printf '[limit]\ngreeting_max = 5000\n' >>"$dir/rain-gateway.ini"
printf 'more HS256 user %s\n' "$(head -c 32 /dev/urandom | base64)" >>"$dir/keys"
say "reload of all at $(redis LLEN 'rain:{night}:claims') claims"
reload
until_true 60 claims_above 1000 || wrong "1000 claims within 60 s"
say "kill -9 of grab-service-2"
kill_hard grab-service-2
second
until_true 60 claims_above 1600 || wrong "1600 claims within 60 s"
say "drain of grab-service and rain-gateway"
stop_pid grab-service "$dir/grab-service.pid" 30
stack_service grab-service
stop_pid rain-gateway "$dir/rain-gateway.pid" 30
stack_service rain-gateway
until_true 60 claims_above 2200 || wrong "2200 claims within 60 s"
say "restart of settle-worker, kill -9 of Redis"
stop_pid settle-worker "$dir/settle-worker.pid" 30
stack_service settle-worker
kill_hard redis
stack_redis
claims_again() {
	claims_above 2500 2>/dev/null
}
until_true 60 claims_again || wrong "2500 claims within 60 s"
for name in grab-service grab-service-2 rain-gateway settle-worker; do
	again $name
done
reload
wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	wrong "the quiz to end well"
}
grep -q 'configuration changed.*limit.greeting_max' "$dir/rain-gateway.log" ||
	wrong "the gateway to say that it took the new limit"
expect "winners" "$(field winners <"$dir/report")" 4000
expect "exact books" "$(field books_exact <"$dir/report")" true
expect "wrong answers" "$(field wrong_answers <"$dir/report")" 0
kill $scraper
passed
