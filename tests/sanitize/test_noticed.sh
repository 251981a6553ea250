# Would what AddressSanitizer finds fail a test? A leak in a Criterion test
# does, and one in a program that an end-to-end test launches and stops; the
# same without the leak passes.
set -eu
KAFKA_BOOTSTRAP=${KAFKA_BOOTSTRAP:-nowhere:1}
export KAFKA_BOOTSTRAP
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# noticed WHAT WANTED COMMAND...: WANTED is yes or no.
noticed() {
	what=$1
	wanted=$2
	shift 2
	found=no
	"$@" >"$out" 2>&1 || found=yes
	if [ "$found" != "$wanted" ] ||
		{ [ "$wanted" = yes ] && ! grep -q LeakSanitizer "$out"; }; then
		cat "$out"
		echo "expected $what to fail: $wanted, it did: $found" >&2
		echo "with ASAN_OPTIONS=${ASAN_OPTIONS:-}; CMakePresets.json has abort_on_error=1" >&2
		exit 1
	fi
}

# What an end-to-end test does around its programs. With "leak" it must not
# come to its end though all it asked for went well.
end_to_end() {
	sh -c '. "$RAIN_SOURCE/tests/e2e/lib.sh"
		stack_new
		launch settle-worker "$SEEDED" "$1"
		until_true 10 grep -q ready "$dir/settle-worker.log" ||
			wrong "it to start"
		passed' sh "$1"
}

noticed "a test that leaks" yes "$LEAKY" --filter 'leaky/forgets'
noticed "a test that frees" no "$LEAKY" --filter 'leaky/frees'
noticed "a stack with a program that leaks" yes end_to_end leak
noticed "a stack without one" no end_to_end idle
echo "leaks are noticed"
