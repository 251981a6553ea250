# The words of ./rain.

word_setup() {
	need build run test
	"$top/deploy/kafka/kafka.sh" fetch
	say "everything is there"
}

word_build() {
	preset=release
	[ "${1:-}" = --preset ] && preset=${2:?a preset is missing after --preset}
	need build
	[ "$preset" = fuzz ] && need fuzz
	build "$preset"
	say "built build/$preset/bin"
}

# What up and demo have in common; sets dir.
stack_up() {
	need build run
	# shellcheck disable=SC2086 # a list of words
	build release $programs
	[ -n "${KAFKA_BOOTSTRAP:-}" ] || "$top/deploy/kafka/kafka.sh" fetch
	stack_new
	trap 'trap - EXIT; say "interrupted, stopping everything"; stack_remove "$dir"; exit 130' INT TERM HUP
	trap 'stack_stop "$dir"; say "its logs are in $dir"' EXIT
	stack_start
}

word_up() {
	stack_up
	trap - INT TERM HUP EXIT
	stack_hint
}

word_demo() {
	keep=
	if [ "${1:-}" = --keep ]; then
		keep=1
		shift
	fi
	stack_up
	rc=0
	"$bin/rainctl" --config "$dir/rainctl.ini" quiz \
		"$top/examples/quiz-night.ini" "$@" || rc=$?
	if [ $rc -ne 0 ]; then
		exit $rc
	fi
	trap - EXIT
	if [ -n "$keep" ]; then
		trap - INT TERM HUP
		stack_hint
	else
		say "stopping everything"
		stack_remove "$dir"
	fi
}

word_down() {
	found=
	for dir in "$runs"/stack.*; do
		[ -d "$dir" ] || continue
		found=1
		say "stopping $dir"
		stack_remove "$dir"
	done
	[ -n "$found" ] || say "nothing is running"
}

# One closed loop through one gateway: 50 connections carry 200,000 users, 32
# grabs in flight on each, for 100,000 packets. Absolute numbers of this machine.
word_bench() {
	programs="$programs tapper"
	stack_up
	printf '[activity]\nsponsor = sponsor:bench\ntotal = 200000.00\npackets = 100000\n' \
		>"$dir/bench.ini"
	for step in "create -f $dir/bench.ini bench" 'preload bench' 'open bench'; do
		# shellcheck disable=SC2086 # words
		"$bin/rainctl" --config "$dir/rainctl.ini" activity $step
	done
	"$bin/tapper" front "$gateway" "$dir/keys" bench 50 200000
	"$bin/rainctl" --config "$dir/rainctl.ini" activity close bench
	"$bin/rainctl" --config "$dir/rainctl.ini" books bench --wait 120
	trap - EXIT
	stack_remove "$dir"
}

word_fmt() {
	need fmt
	mode=-i
	[ "${1:-}" = --check ] && mode='--dry-run -Werror'
	# shellcheck disable=SC2086 # options
	git ls-files '*.[ch]' | xargs clang-format $mode
}

# word_fuzz TARGET [SECONDS]: what it finds stays in the build tree.
word_fuzz() {
	targets=$(cd "$top/tests/fuzz/corpus" && ls | sed 's/\.txt$//' | tr '\n' ' ')
	case " $targets" in
	*" ${1:-none given} "*) ;;
	*) fail "usage: ./rain fuzz TARGET [SECONDS]; targets: $targets" ;;
	esac
	need build test fuzz
	build fuzz "fuzz_$1" "fuzz_replay_$1"
	say "looking for input that breaks $1, for ${2:-60} s"
	python3 -B "$top/tests/fuzz/run.py" "$top/build/fuzz/tests/fuzz_$1" \
		"$top/tests/fuzz/corpus/$1.txt" "$top/build/fuzz/fuzz/$1" "${2:-60}" || {
		say "see it again: build/fuzz/tests/fuzz_replay_$1 FILE"
		say "keep it, once it is mended: tests/fuzz/run.py --line NAME FILE >>tests/fuzz/corpus/$1.txt"
		fail "$1 breaks; FILE is named above"
	}
}

# word_test [--quick]: the unit tests and house rules, then everything with
# real servers under the sanitizers, then whole stacks as they are released.
word_test() {
	if [ "${1:-}" = --quick ]; then
		need build test
		build dev
		ctest --preset quick
		return
	fi
	need build run test
	build asan
	build release
	test_broker
	rc=0
	say "tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	ctest --preset asan || rc=1
	say "house rules, and whole stacks of the release build"
	ctest --preset stacks || rc=1
	[ $rc -eq 0 ] || fail "some tests failed, see above"
}

# One Kafka broker for all tests; they use topics of their own.
test_broker() {
	[ -z "${KAFKA_BOOTSTRAP:-}" ] || return 0
	"$top/deploy/kafka/kafka.sh" fetch
	mkdir -p "$runs"
	broker=$(mktemp -d "$runs/kafka.XXXXXX")
	trap '"$top/deploy/kafka/kafka.sh" stop "$broker" >/dev/null 2>&1; rm -rf "$broker"' EXIT
	trap 'exit 130' INT TERM HUP
	# shellcheck disable=SC2046 # a list of ports
	set -- $("$top/build/release/bin/rainctl" ports 2)
	say "starting Kafka on port $1"
	"$top/deploy/kafka/kafka.sh" start "$broker" "$1" "$2" ||
		fail "Kafka did not start"
	export KAFKA_BOOTSTRAP="127.0.0.1:$1"
}
