# Shared by the words of ./rain: how they speak, and how they wait.

# One line about what happens next.
say() {
	printf '%s\n' "rain: $*"
}

fail() {
	printf '%s\n' "rain: $*" >&2
	exit 1
}

# have PROGRAM
have() {
	command -v "$1" >/dev/null 2>&1
}

# alive PIDFILE: whether the process of a pid file runs.
alive() {
	[ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null
}

# wait_gone PIDFILE SECONDS: true once the process is gone.
wait_gone() {
	tenths=$(($2 * 10))
	while alive "$1"; do
		[ $tenths -gt 0 ] || return 1
		tenths=$((tenths - 1))
		sleep 0.1
	done
}

# stop_pid NAME PIDFILE SECONDS: TERM, then KILL when it takes too long.
stop_pid() {
	if alive "$2"; then
		kill -TERM "$(cat "$2")" 2>/dev/null || true
		if ! wait_gone "$2" "$3"; then
			say "$1 did not stop within $3 s, killing it"
			kill -KILL "$(cat "$2")" 2>/dev/null || true
			wait_gone "$2" 5 || true
		fi
	fi
	rm -f "$2"
}

# until_true SECONDS COMMAND...: wait for a condition.
until_true() {
	deadline=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt "$deadline" ] || return 1
		sleep 0.1
	done
}

# page ADDRESS PATH: what a service says there, also with an error.
page() {
	python3 -c '
import sys, urllib.error, urllib.request
try:
    reply = urllib.request.urlopen(f"http://{sys.argv[1]}/{sys.argv[2]}", timeout=5)
except urllib.error.HTTPError as error:
    reply = error
print(reply.read().decode())' "$1" "$2"
}

# metric ADDRESS LINE: the sum of what begins so.
metric() {
	page "$1" metrics | python3 -c '
import sys
print(sum(int(float(line.rsplit(" ", 1)[1])) for line in sys.stdin
          if line.startswith(sys.argv[1])))' "$2"
}
