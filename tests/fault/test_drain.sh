# Services are stopped, reloaded and killed while people tap: what was accepted
# is answered, nobody is left without a word, and the books are exact.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
. "$RAIN_SOURCE/tests/fault/flood.sh"

# flood: people tap until flood_ends.
flood() {
	(tap_exec=exec && tap_on night --front --users 1000000 --rate 500 \
		--conns 8 --not-after 9s --duration 240 --retry honour) \
		>"$dir/flood.json" 2>"$dir/flood.log" &
	flood=$!
	won=$(redis LLEN 'rain:{night}:claims')
	more_claims
}

# more_claims: they go on winning, now.
more_claims() {
	won=$(redis LLEN 'rain:{night}:claims')
	until_true 60 claims_grew || {
		cat "$dir/flood.log"
		wrong "taps to win"
	}
}
claims_grew() {
	[ "$(redis LLEN 'rain:{night}:claims')" -gt $((won + 20)) ]
}

# flood_ends: all have their answers, whoever was in doubt knows.
flood_ends() {
	kill -TERM $flood
	wait $flood || {
		cat "$dir/flood.log"
		wrong "the flood to end well"
	}
	flood_read
	never unanswered unresolved strange waits_missing
	say "$1: $(report answers) answers, p99 $(report executed_ms.p99) ms," \
		"$(report statuses.BUSY) BUSY, $(report statuses.PENDING)" \
		"PENDING, $(report closed) closed, $(report lost) lost with them"
}

# drained NAME: SIGTERM, and it says that all is finished.
drained() {
	say "SIGTERM of $1"
	pid=$(cat "$dir/$1.pid")
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	expect "the exit code of $1" $rc 0
}

# again NAME PROGRAM: started again, and it serves.
again() {
	launch "$1" "$bin/$2" --config "$dir/$1.ini"
	ctl doctor --quiet --wait 30 >/dev/null || wrong "$1 to serve again"
}

topic_prefix=drain.$$.$(date +%N)
stack_new
# shellcheck disable=SC2046 # a list of ports
set -- $("$bin/rainctl" ports 3)
grabs=$grab,127.0.0.1:$1
gateways=$gateway,127.0.0.1:$2
gateway_2_http=127.0.0.1:$3
sed "s/^listen = $grab\$/listen = 127.0.0.1:$1/
	s/^listen = $grab_http\$/listen = 127.0.0.1:0/" \
	"$dir/grab-service.ini" >"$dir/grab-service-2.ini"
sed "s/^listen = $gateway\$/listen = 127.0.0.1:$2/
	s/^listen = $gateway_http\$/listen = $gateway_2_http/" \
	"$dir/rain-gateway.ini" >"$dir/rain-gateway-2.ini"
for ini in rain-gateway rain-gateway-2 settle-worker rainctl; do
	sed -i "s/^addresses = $grab\$/addresses = $grabs/" "$dir/$ini.ini"
done
sed -i "s/^addresses = $gateway\$/addresses = $gateways/" "$dir/rainctl.ini"
# A machine that is busy with other things must not look like a service that
# lost something.
for ini in rain-gateway rain-gateway-2; do
	sed -i 's/^\[gateway\]$/&\ntry_time = 8s/' "$dir/$ini.ini"
done
for ini in grab-service grab-service-2; do
	sed -i 's/^\[grab\]$/&\nwait_max = 8s/; s/^\[redis\]$/&\nstall = 8s/' \
		"$dir/$ini.ini"
done
launch grab-service-2 "$bin/grab-service" --config "$dir/grab-service-2.ini"
launch rain-gateway-2 "$bin/rain-gateway" --config "$dir/rain-gateway-2.ini"
stack_start
ctl doctor --quiet --wait 30
opened night 80000.00 40000
redis CONFIG SET latency-monitor-threshold 250 >/dev/null

# The gateways turn to the other grab-service, and nobody notices.
flood
for name in grab-service grab-service-2; do
	drained $name
	more_claims
	again $name grab-service
	more_claims
done
drained settle-worker
more_claims
again settle-worker settle-worker

# Limits, log and keys are read again: no connection notices either.
for round in 1 2 3; do
	for name in rain-gateway rain-gateway-2 grab-service grab-service-2 \
		settle-worker; do
		sed -i '/^\[log\]/,$d' "$dir/$name.ini"
		printf '[log]\nlevel = %s\n' \
			"$([ $round = 2 ] && echo debug || echo info)" \
			>>"$dir/$name.ini"
		kill -HUP "$(cat "$dir/$name.pid")"
	done
	more_claims
done
for name in rain-gateway rain-gateway-2 grab-service settle-worker; do
	grep -q 'configuration reloaded' "$dir/$name.log" ||
		wrong "$name to reload"
done
flood_ends "grab-services and settle-worker drained, all reloaded"
never closed lost errors statuses.PENDING
# Grabs that would wait for a disk that stands still are BUSY, rightly.
if [ -n "$(redis LATENCY LATEST)" ]; then
	say "Redis stood still:" $(redis LATENCY LATEST)
else
	never statuses.BUSY
fi

# A gateway says that it stops, answers what it has, and closes; its users go
# to the other.
flood
for name in rain-gateway rain-gateway-2; do
	drained $name
	more_claims
	again $name rain-gateway
	more_claims
done
flood_ends "gateways drained"
[ "$(report closed)" -ge 8 ] || wrong "all connections to have moved"

# F67: a gateway of two is gone without a word.
flood
say "kill -9 of rain-gateway-2"
kill_hard rain-gateway-2
more_claims
flood_ends "a gateway killed"
expect "connections that were lost" "$(report closed)" 4
expect "connections of the other" \
	"$(metric "$gateway_http" rain_gateway_connections)" 0
again rain-gateway-2 rain-gateway

ctl activity close night
books night
passed
