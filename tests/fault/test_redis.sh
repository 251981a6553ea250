# A rain through everything that happens to Redis while it goes on: killed with
# fsync every second (F32a), stopped for ten seconds, all its connections
# killed, its memory full (F17); the grab-service killed in between (F68); and
# the console looking on all the time (F80). The books are exact to the cent.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

plan night 30000.00 6000
ctl --json quiz "$dir/night.ini" --id night --users 12000 --at-once 300 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
claims() {
	redis LLEN 'rain:{night}:claims' 2>/dev/null || echo 0
}
claims_above() {
	[ "$(claims)" -gt "$1" ] 2>/dev/null
}
more_claims() {
	until_true 60 claims_above "$1" || {
		ctl activity show night
		wrong "more than $1 claims within 60 s"
	}
}

# Whoever looks costs nothing that grows with the rain.
# look ID: while the quiz lasts.
look() {
	while kill -0 $quiz 2>/dev/null; do
		for looks in 'activity list' "activity show $1" "books $1" \
			doctor; do
			# shellcheck disable=SC2086 # words
			ctl $looks || true
		done
		sleep 0.3
	done >"$dir/looks" 2>&1
}

more_claims 300
look night &
looking=$!
say "kill -9 of Redis, which writes to disk once a second"
redis CONFIG SET appendfsync everysec >/dev/null
before=$(claims)
kill_hard redis
stack_redis
until_true 10 claims_above $((before - 1)) ||
	wrong "all $before claims to be there after kill -9, there are $(claims)"
more_claims $((before + 300))

say "every connection to Redis is killed"
for type in normal normal normal; do
	redis CLIENT KILL TYPE $type SKIPME yes >/dev/null
	sleep 0.2
done
more_claims $(($(claims) + 300))

say "Redis is stopped for ten seconds"
kill -STOP "$(cat "$dir/redis.pid")"
sleep 10
kill -CONT "$(cat "$dir/redis.pid")"
more_claims $(($(claims) + 300))

say "kill -9 of the grab-service"
kill_hard grab-service
stack_service grab-service
more_claims $(($(claims) + 300))

say "Redis is full"
opened other 3.00 3
expect "the first grab of other" "$(grab_of other alice | cut -d' ' -f1)" WON
# What is used goes up and down with the buffers of clients: this is always less.
redis CONFIG SET maxmemory 1 >/dev/null
is_full() {
	[ "$(grab_of other bob | cut -d' ' -f1)" = BUSY ]
}
until_true 10 is_full || wrong "a grab to be BUSY while Redis is full"
stuck=$(claims)
left=$(redis LLEN 'rain:{night}:packets')
expect "packets and claims" $((stuck + left)) 6000
expect "who has a packet" "$(ctl --json result other --user alice | field status)" \
	ALREADY_GRABBED
published() {
	[ "$(redis HGET 'rain:{night}:relay' claims)" = "$(claims)" ]
}
until_true 20 published || wrong "what was won to be published all the same"
ctl activity close other
wait_state other SETTLED 30
books other
[ "$(claims)" = "$stuck" ] || wrong "no claim while Redis is full"
plan huge 100000.00 100000
if ctl activity create -f "$dir/huge.ini" huge >"$dir/huge" 2>&1; then
	wrong "a plan that does not fit to be refused"
fi
grep -q 'when all is grabbed it takes .* MiB of Redis' "$dir/huge" || {
	cat "$dir/huge"
	wrong "the refusal to name the memory"
}
redis CONFIG SET maxmemory 0 >/dev/null
more_claims $((stuck + 100))

wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	ctl activity show night
	wrong "the quiz to end well"
}
wait $looking
cat "$dir/report"
expect "winners" "$(field winners <"$dir/report")" 6000
expect "exact books" "$(field books_exact <"$dir/report")" true
expect "wrong answers" "$(field wrong_answers <"$dir/report")" 0

say "what the console asks of Redis in a rain"
redis MONITOR >"$dir/monitor" 2>&1 &
monitor=$!
plan crowd 3000.00 3000
ctl --json quiz "$dir/crowd.ini" --id crowd --users 4000 --at-once 200 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
look crowd
wait $quiz || wrong "the second quiz to end well"
kill $monitor
say "p99 of a tap with somebody looking on: $(python3 -c '
import json, sys
print(round(json.load(sys.stdin)["latency_ms"]["p99"]))' <"$dir/report") ms"
# Only what is bounded: pages of lists, never a whole one; meta and relay are
# small and the only hashes that are read whole.
if grep -vE '"(evalsha|eval|EVALSHA|EVAL)"' "$dir/monitor" | python3 -c '
import re, sys
bad = {}
for line in sys.stdin:
    words = re.findall(r"\"((?:[^\"\\]|\\.)*)\"", line)
    if not words:
        continue
    command = words[0].upper()
    if command in ("KEYS", "SCAN", "SORT", "SUNION", "LREM", "HKEYS", "HVALS"):
        bad[" ".join(words[:3])] = line
    if command == "HGETALL" and not words[1].endswith((":meta", ":relay")):
        bad[" ".join(words[:3])] = line
    if command == "SMEMBERS" and words[1] != "rain:activities":
        bad[" ".join(words[:3])] = line
    if command == "LRANGE":
        first, last = int(words[2]), int(words[3])
        if (first < 0) != (last < 0) or last - first + 1 > 4000:
            bad[" ".join(words[:4])] = line
    if command in ("HMGET", "HDEL") and len(words) > 4002:
        bad[" ".join(words[:2])] = line
for line in bad.values():
    print(line, end="")
sys.exit(0 if bad else 1)'; then
	wrong "no command that grows with the rain"
fi
grep -qi '"lrange"' "$dir/monitor" || wrong "the monitor to see anything"
passed
