# The words of ./rain.

# no_arguments WORD [ARGUMENT...]: what is not understood is refused before
# anything is done.
no_arguments() {
	[ $# -eq 1 ] || fail "./rain $1 takes no '$2'; see ./rain help"
}

word_setup() {
	no_arguments setup "$@"
	need build run test
	"$top/deploy/kafka/kafka.sh" fetch
	say "everything is there"
}

word_build() {
	preset=release
	case ${1:-}:${2:-} in
	:) ;;
	--preset:dev | --preset:release | --preset:asan | --preset:tsan | --preset:fuzz | --preset:tidy)
		preset=$2
		shift 2
		;;
	*) fail "./rain build takes --preset dev|release|asan|tsan|fuzz|tidy" ;;
	esac
	no_arguments build "$@"
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
	say "its data and logs are in $dir"
	trap 'trap - EXIT; say "interrupted, stopping everything"; stack_remove "$dir"; exit 130' INT TERM HUP
	trap 'stack_stop "$dir"; say "stopped; its logs are in $dir"' EXIT
	stack_start
}

word_up() {
	no_arguments up "$@"
	stack_up
	trap - INT TERM HUP EXIT
	stack_hint
}

# quiz_arguments [--users N] [--at-once N] [--taps N]
quiz_arguments() {
	while [ $# -gt 0 ]; do
		case $1:${2:-} in
		--users:[1-9]* | --at-once:[1-9]* | --taps:[1-9]*) shift 2 ;;
		*) fail "./rain demo takes --keep, then --users N, --at-once N and --taps N" ;;
		esac
	done
}

word_demo() {
	keep=
	if [ "${1:-}" = --keep ]; then
		keep=1
		shift
	fi
	quiz_arguments "$@"
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

# down [STACK...]: stop, and forget the data: these are stacks to try things on.
word_down() {
	found=
	[ $# -gt 0 ] || set -- "$runs"/stack.*
	for dir in "$@"; do
		dir=$runs/$(basename "$dir")
		case $dir in
		"$runs"/stack.*) ;;
		*) fail "./rain down takes names of stacks as ./rain status lists them" ;;
		esac
		if [ ! -d "$dir" ]; then
			[ "$(basename "$dir")" = 'stack.*' ] && continue
			fail "there is no $(basename "$dir"); ./rain status lists them"
		fi
		found=1
		say "stopping $(basename "$dir") and removing its data"
		stack_remove "$dir"
	done
	[ -n "$found" ] || say "nothing is running"
}

word_status() {
	no_arguments status "$@"
	found=
	for dir in "$runs"/stack.*; do
		[ -f "$dir/env" ] || continue
		found=1
		. "$dir/env"
		state=running
		for kind in rain-gateway grab-service settle-worker; do
			alive "$dir/$kind.pid" || state="$kind is not running"
		done
		printf '%s  gateway %s  %s\n' "$(basename "$dir")" "$gateway" "$state"
	done
	[ -n "$found" ] || say "nothing is running"
}

# word_torture [--seed N] [--minutes M]: five minutes and a random seed unless
# told otherwise. It prints the seed; its data stays when something was wrong.
word_torture() {
	case ${1:-}:${2:-}:${3:-}:${4:-} in
	::: | --seed:[0-9]*:: | --minutes:[1-9]*:: | \
		--seed:[0-9]*:--minutes:[1-9]* | --minutes:[1-9]*:--seed:[0-9]*) ;;
	*) fail "./rain torture takes --seed N and --minutes M" ;;
	esac
	[ $# -le 4 ] || fail "./rain torture takes --seed N and --minutes M"
	need build run test
	# shellcheck disable=SC2086 # a list of words
	build release $programs fault_torture fault_tappers fault_check
	"$top/deploy/kafka/kafka.sh" fetch
	mkdir -p "$runs"
	RAIN_BIN=$bin RAIN_SOURCE=$top TMPDIR=$runs "$bin/fault_torture" "$@"
}

word_fmt() {
	mode=-i
	if [ "${1:-}" = --check ]; then
		mode='--dry-run -Werror'
		shift
	fi
	no_arguments fmt "$@"
	need fmt
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
# real servers under the sanitizers, then whole stacks and benchmarks as they are released.
word_test() {
	if [ "${1:-}" = --quick ]; then
		shift
		no_arguments test "$@"
		need build test
		build dev
		ctest --preset quick
		return
	fi
	no_arguments test "$@"
	need build run test
	build asan
	build release
	build tsan race
	test_broker
	rc=0
	say "tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	ctest --preset asan || rc=1
	say "the real programs under ThreadSanitizer"
	ctest --preset tsan || rc=1
	say "house rules, whole stacks of the release build, and each benchmark for a second"
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
