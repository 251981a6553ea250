# Shared by the end-to-end tests: a stack of the real programs, rainctl as the
# operator, and expectations that say what was wrong.
#
# ctest gives RAIN_SOURCE and RAIN_BIN; KAFKA_BOOTSTRAP names the broker that
# all tests share, each with topics of its own.
set -eu
top=$RAIN_SOURCE
. "$top/deploy/sh/common.sh"
. "$top/deploy/sh/stack.sh"
bin=$RAIN_BIN
runs=$(mktemp -d)

[ -n "${KAFKA_BOOTSTRAP:-}" ] ||
	fail "KAFKA_BOOTSTRAP is not set: ./rain test starts a broker for the tests"

# Stops the stacks. A program that a sanitizer complained about, when it ran or
# when it ended, fails the test.
cleanup() {
	for d in "$runs"/stack.*; do
		[ -d "$d" ] || continue
		stack_stop "$d" || true
		if grep -lE 'Sanitizer|runtime error|check failed' "$d"/*.log; then
			failed=1
		fi
		[ -n "$failed" ] || continue
		for log in "$d"/*.log; do
			printf '%s\n' "--- $log"
			tail -n 25 "$log"
		done
	done
	rm -rf "$runs"
	[ -z "$failed" ] || exit 1
}
failed=1
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# begin: a fresh stack in $dir.
begin() {
	topic_prefix=e2e.$$.$(date +%N)
	stack_new
	stack_start
}

# passed: the last line of a test.
passed() {
	failed=
	say "passed"
}

ctl() {
	"$bin/rainctl" --config "$dir/rainctl.ini" "$@"
}

wrong() {
	fail "expected $*"
}

# field NAME: its value in the JSON on standard input ("" if it is not there);
# NAME.NAME is one of an object in it.
field() {
	python3 -c '
import json, sys
v = json.load(sys.stdin)
for name in sys.argv[1].split("."):
    v = v.get(name, "")
print(str(v).lower() if isinstance(v, bool) else v)' "$1"
}

# expect WHAT IS WANTED
expect() {
	[ "$2" = "$3" ] || wrong "$1 to be '$3', it is '$2'"
}

state_is() {
	[ "$(ctl --json activity show "$1" | field state)" = "$2" ]
}

# wait_state ID STATE SECONDS
wait_state() {
	until_true "$3" state_is "$1" "$2" ||
		wrong "$1 to become $2 within $3 s, it is $(ctl activity show "$1" | grep -E '^(state|reason)' | tr '\n' ' ')"
}

# plan ID TOTAL PACKETS [LINE...]: writes $dir/ID.ini.
plan() {
	plan_file=$dir/$1.ini
	{
		printf '[activity]\nsponsor = sponsor:test\ntitle = %s\n' "$1"
		printf 'total = %s\npackets = %s\n' "$2" "$3"
		shift 3
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >"$plan_file"
}

# opened ID TOTAL PACKETS [LINE...]: an activity that people can grab from.
opened() {
	plan "$@"
	ctl activity create -f "$dir/$1.ini" "$1"
	ctl activity preload "$1"
	ctl activity open "$1"
}

# grab_of ID USER: "STATUS PACKET AMOUNT" of one tap.
grab_of() {
	ctl --json grab "$1" --user "$2" |
		python3 -c '
import json, sys
m = json.load(sys.stdin)
print(m["status"], m.get("red_packet_id", "-"), m.get("amount", "-"))'
}

# same_packet ID USER PACKET-AND-AMOUNT: whoever has one is told it again.
same_packet() {
	expect "the packet of $2 in $1 while $4" "$(grab_of "$1" "$2")" \
		"ALREADY_GRABBED $3"
	expect "the result of $2 in $1 while $4" \
		"$(ctl --json result "$1" --user "$2" | field red_packet_id)" \
		"${3% *}"
}

# kill_hard NAME: kill -9, as if the machine had lost it.
kill_hard() {
	kill -KILL "$(cat "$dir/$1.pid")"
	wait_gone "$dir/$1.pid" 5 || wrong "$1 to die of kill -9"
}

# books ID: exact within a minute.
books() {
	ctl books "$1" --wait 60 || wrong "exact books of $1"
}

# tap_on ACTIVITY OPTION...: people tap through the gateways in $gateways, or
# through the one of the stack; what came of it as JSON. In the background with
# tap_exec=exec, so that a signal reaches it.
tap_on() {
	tapped_on=$1
	shift
	${tap_exec:-} "$RAINBENCH" --target "tcp://$(printf %s "${gateways:-$gateway}" | sed 's#,#,tcp://#g')" \
		--keys "$dir/keys" --activity "$tapped_on" --json --quiet "$@"
}

redis() {
	redis-cli -p "$redis_port" "$@"
}

# proven ID SUMMARY: by rainctl, and by a program that is not ours.
proven() {
	expect "what verify says of $1" "$(ctl verify "$1" || true)" "verify: $2"
	ctl --json activity show "$1" >"$dir/show.json"
	python3 -B "$top/tests/verify/verify.py" run "$dir/show.json" \
		"$dir/ledger.db" || wrong "verify.py to prove $1"
}

# refused TEXT COMMAND...: rainctl says no, with this in its sentence.
refused() {
	text=$1
	shift
	if ctl "$@" >"$dir/said" 2>&1; then
		wrong "rainctl $* to be refused"
	fi
	grep -qF "$text" "$dir/said" || {
		cat "$dir/said"
		wrong "rainctl $* to say '$text'"
	}
}
