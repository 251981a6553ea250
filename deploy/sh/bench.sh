# Measuring: ./rain bench.

# The best rate of a closed loop, what is left of it when three times as much is
# asked for, the best rate again, three times. Nobody taps twice and packets are
# left, so every useful answer is a win. What is behind the gateway has its
# processors to itself: the taps that come, and the refusals that go, would be
# missing there, as they are not where a gateway has its own machine.
bench_overload() {
	last=$(nproc --ignore=1)
	for pid in "$dir"/*.pid "$dir"/kafka/kafka.pid; do
		case $pid in
		*/rain-gateway.pid) cpus=$last ;;
		*) cpus=0-$((last - 1)) ;;
		esac
		[ ! -f "$pid" ] || taskset -a -p -c "$cpus" "$(cat "$pid")" >/dev/null
	done
	taps 1 --in-flight 100
	ratios=
	for round in 1 2 3; do
		taps $((round * 3 - 1)) --in-flight 100
		before=$(figure useful_per_second)
		taps $((round * 3)) --rate $((before * 3))
		kept=$(figure useful_per_second)
		refused="refused after $(figure refused_ms p50) ms, 99 % within $(figure refused_ms p99) ms"
		taps $((round * 3 + 1)) --in-flight 100
		after=$(figure useful_per_second)
		ratio=$((kept * 200 / (before + after)))
		ratios="$ratios$ratio
"
		say "$before wins a second at best, $kept when $((before * 3)) are asked for, $after at best again:" \
			"$ratio %; $refused"
	done
	say "$(printf %s "$ratios" | sort -n | sed -n 2p) % is the median"
}

# taps N OPTION...: ten seconds of the Nth million of users, once the wins of
# those before are settled: to settle them later would cost the next.
taps() {
	million=$1
	shift
	until_true 120 all_settled || fail "the last wins were not settled"
	taskset -c "$last" "$bin/rainbench" --target "tcp://$gateway" \
		--keys "$dir/keys" --activity bench --front --conns 8 \
		--users 1000000 --first-user "${million}000000" \
		--warmup 1 --duration 10 --json --quiet "$@" >"$dir/taps.json"
	! grep -q SOLD_OUT "$dir/taps.json" ||
		fail "this machine is so fast that $packets packets are too few"
}

all_settled() {
	[ "$(metric "$grab_http" rain_relay_unpublished_claims)" = 0 ] &&
		[ "$(metric "$grab_http" rain_relay_published_claims_total)" = \
			"$(metric "$ledger_http" rain_settle_claims_total)" ]
}

# figure NAME...: of the last taps; large ones without decimals.
figure() {
	python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    value = value[name]
print(f"{value:.0f}" if value >= 100 else f"{value:.1f}")' "$dir/taps.json" "$@"
}

# ./rain bench overload: four million packets for all that can be won.
bench_overload_run() {
	[ "$(nproc)" -gt 1 ] ||
		fail "the generator needs a processor of its own, there is one"
	packets=4000000
	stack_up
	printf '[activity]\nsponsor = sponsor:bench\ntotal = %s.00\npackets = %s\n' \
		$((packets * 2)) $packets >"$dir/bench.ini"
	for step in "create -f $dir/bench.ini bench" 'preload bench' 'open bench'; do
		# shellcheck disable=SC2086 # words
		"$bin/rainctl" --config "$dir/rainctl.ini" activity $step
	done
	bench_overload
	"$bin/rainctl" --config "$dir/rainctl.ini" activity close bench
	"$bin/rainctl" --config "$dir/rainctl.ini" books bench --wait 120
	bench_end
}

bench_end() {
	trap - EXIT
	stack_remove "$dir"
}

# word_bench [overload | --peers] [OPTION...]: the suite (bench/suite) on a stack
# of its own; --peers installs those that it compares with.
word_bench() {
	programs="$programs rainbench rain-echo"
	export KAFKA_JVM= # a broker that becomes fast, as those of production
	if [ "${1:-}" = overload ]; then
		shift
		no_arguments 'bench overload' "$@"
		bench_overload_run
		return
	fi
	if [ "${1:-}" = --peers ]; then
		shift
		need peers
	fi
	need build run # Python among them
	# What it does not understand is refused before anything is started.
	python3 -B "$top/bench/suite" --check "$@" || exit 2
	stack_up
	rc=0
	RAIN_BIN=$bin python3 -B "$top/bench/suite" --stack "$dir" \
		--results "$top/bench/results" "$@" || rc=$?
	[ $rc -eq 0 ] || fail "not every row has a result; logs and data: $dir"
	bench_end
	say "the same for scripts, and a picture: bench/results/latest.json, latest.svg"
}
