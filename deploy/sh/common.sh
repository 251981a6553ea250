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
