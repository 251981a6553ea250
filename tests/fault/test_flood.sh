# F66: three times what the system can do. What it can do it goes on doing, the
# rest is refused at once and told when to come again, nothing grows without end,
# and refusals do not make more work. Then F26: a Redis that says nothing.
#
# Redis is made the bottleneck, with a delay in front of it, so that the flood
# and the services do not fight for the same processors. The ratio and the times
# are printed; they fail the test only when the system has collapsed.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
. "$RAIN_SOURCE/tests/fault/flood.sh"

cat >"$runs/slow.py" <<'PY'
"""A TCP proxy that delays what goes to Redis: slow.py PORT TARGET SECONDS"""
import asyncio
import sys

port, target, delay = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])


async def pump(reader, writer, seconds):
    loop = asyncio.get_running_loop()
    try:
        while True:
            data = await reader.read(65536)
            if not data:
                break
            loop.call_later(seconds, writer.write, data)
    except OSError:
        pass
    loop.call_later(seconds, writer.close)


async def serve(reader, writer):
    try:
        there = await asyncio.open_connection("127.0.0.1", target)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, there[1], delay),
                         pump(there[0], writer, 0))


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    await server.serve_forever()

asyncio.run(main())
PY

# flood WHAT ARGUMENT...: every tap has one answer, every refusal a time.
flood() {
	what=$1
	shift
	tap_on night --front --users 300000 --warmup 1 "$@" \
		>"$dir/flood.json" 2>"$dir/flood.log" || {
		cat "$dir/flood.log"
		wrong "the flood to end well"
	}
	flood_read
	never unanswered unresolved strange waits_missing closed lost errors
	say "$what: $(report useful_per_second) useful a second of" \
		"$(report sent) taps, executed p99 $(report executed_ms.p99) ms," \
		"refused p50 $(report refused_ms.p50) p99 $(report refused_ms.p99) ms"
}

rss_mib() {
	echo $(($(metric "$1" process_resident_memory_bytes) / 1048576))
}

topic_prefix=flood.$$.$(date +%N)
stack_new
slow=$("$bin/rainctl" ports 1)
python3 "$runs/slow.py" "$slow" "$redis_port" 0.02 2>"$dir/slow.log" &
echo $! >"$dir/grab-service.slow.pid"
sed -i "s#^url = .*#url = redis://127.0.0.1:$slow#
	s/^\[grab\]\$/&\nbatch_max = 16/" "$dir/grab-service.ini"
stack_start
opened night 32000.00 16000

best=0
for round in 1 2; do
	flood "best rate" --in-flight 20 --conns 4 --duration 3
	[ "$(report useful_per_second)" -le $best ] ||
		best=$(report useful_per_second)
	goodput_of=$((best * 3))
	flood "3 x $best" --rate $goodput_of --conns 8 --duration 4
	ratios="${ratios:-}$(($(report useful_per_second) * 100 / best)) % "
	goodput=$(report useful_per_second)
	refused=$(report statuses.BUSY)
done
say "goodput at three times the best rate: $ratios"
[ $((goodput * 4)) -gt "$best" ] || wrong "no collapse"
[ "$refused" -gt "$best" ] || wrong "what is too much to be refused"
shed() {
	metric "$grab_http" "rain_grab_shed_total{reason=\"$1\"}"
}
say "refused for the wait $(shed wait), in the queue as late $(shed late)"
[ "$(shed wait)" -gt 0 ] || wrong "grabs to be refused for the wait"

# Those who are refused come again when they are told, or at once: neither is
# asked of Redis more than Redis can do, nor kept.
before=$(rss_mib "$gateway_http"),$(rss_mib "$grab_http")
for retry in honour ignore; do
	scripts=$(metric "$grab_http" rain_grab_batch_size_sum)
	flood "who is refused: $retry" --rate $((best * 2)) --conns 8 --duration 3 \
		--retry $retry
	scripts=$(($(metric "$grab_http" rain_grab_batch_size_sum) - scripts))
	say "$(report again) taps again, $scripts grabs went to Redis"
	useful=$(($(report statuses.WON) + $(report statuses.ALREADY_GRABBED) +
		$(report statuses.SOLD_OUT)))
	[ "$scripts" -le $((useful + useful / 10 + $(report statuses.PENDING) + 100)) ] ||
		wrong "no more grabs at Redis than were told its word ($useful)"
	[ "$(report wait_min_ms)" -ge 75 ] || wrong "a wait of 75 ms at least"
	[ "$(report wait_max_ms)" -le 4000 ] || wrong "a wait of 4 s at most"
done
after=$(rss_mib "$gateway_http"),$(rss_mib "$grab_http")
say "resident MiB of gateway,grab-service: $before before, $after after"
[ "$(rss_mib "$grab_http")" -lt 1000 ] || wrong "bounded memory"
expect "grabs in the queues" "$(metric "$grab_http" rain_grab_waiting)" 0
expect "grabs asked again" "$(metric "$grab_http" rain_grab_asked_again)" 0

# F26: Redis freezes under load, and thaws.
silent() {
	[ "$(metric "$grab_http" rain_grab_redis_silent)" = "$1" ]
}
(tap_exec=exec && tap_on night --front --users 300000 --rate $((best / 2)) \
	--conns 8 --duration 200 --retry honour) \
	>"$dir/flood.json" 2>"$dir/flood.log" &
flood=$!
asked=$(metric "$gateway_http" rain_gateway_grab_replies_total)
answered_more() {
	[ "$(metric "$gateway_http" rain_gateway_grab_replies_total)" -gt $((asked + best / 4)) ]
}
until_true 60 answered_more || wrong "answers before Redis freezes"
kill -STOP "$(cat "$dir/redis.pid")"
until_true 20 silent 1 || wrong "the grab-service to notice"
refused=$(metric "$gateway_http" 'rain_gateway_grab_replies_total{status="busy"}')
busy_more() {
	[ "$(metric "$gateway_http" 'rain_gateway_grab_replies_total{status="busy"}')" \
		-gt $((refused + best)) ]
}
until_true 20 busy_more || wrong "BUSY while Redis is frozen"
expect "grabs that wait for a frozen Redis" \
	"$(metric "$grab_http" rain_grab_waiting)" 0
kill -CONT "$(cat "$dir/redis.pid")"
until_true 20 silent 0 || wrong "it to recover by itself"
kill -TERM $flood
wait $flood || wrong "the flood to end well"
flood_read
never unanswered unresolved strange waits_missing closed
say "Redis frozen for a while: $(report statuses.PENDING) PENDING," \
	"$(report statuses.BUSY) BUSY, refused p50 $(report refused_ms.p50) ms"

ctl activity close night
books night
passed
