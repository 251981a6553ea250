# Somebody writes into Redis: what the users are told is no longer what they
# have claimed, and the books name it. Beside it: what rainctl says to scripts.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
opened friday 1.50 3
expect "the first grab" "$(grab_of friday alice | cut -d' ' -f1)" WON
expect "the second grab" "$(grab_of friday bob | cut -d' ' -f1)" WON
books friday

# differs TEXT: the books are not exact, and say so.
differs() {
	if ctl books friday >"$dir/books"; then
		cat "$dir/books"
		wrong "the books of friday to differ"
	fi
	grep -qF "$1" "$dir/books" || {
		cat "$dir/books"
		wrong "the books to say '$1'"
	}
}

say "alice's answer is changed: nobody is told what the plan does not have"
claim=$(redis HGET 'rain:{friday}:users' alice)
redis HSET 'rain:{friday}:users' alice \
	"$(printf %s "$claim" | sed 's/"amount":"[^"]*"/"amount":"9.99"/')" \
	>/dev/null
expect "what alice is told" "$(ctl --json result friday --user alice | field status)" PENDING
wait_state friday HALTED 10
ctl activity show friday | grep -q 'with 9.99, and packet ' ||
	wrong "the reason to name the amount"
differs ': alice is told packet '
differs ', 9.99 instead of packet '
redis HSET 'rain:{friday}:users' alice "$claim" >/dev/null
books friday
ctl activity resume friday
ctl activity resume friday

say "a ghost is told a packet"
redis HSET 'rain:{friday}:users' ghost \
	"$(printf %s "$claim" | sed 's/"userId":"alice"/"userId":"ghost"/')" \
	>/dev/null
differs 'redis: 3 users are told a packet, but there are 2 claims'
redis HDEL 'rain:{friday}:users' ghost >/dev/null

say "bob is forgotten"
claim=$(redis HGET 'rain:{friday}:users' bob)
redis HDEL 'rain:{friday}:users' bob >/dev/null
differs ': bob is told nothing instead of packet '
redis HSET 'rain:{friday}:users' bob "$claim" >/dev/null
# Whoever looked meanwhile has halted it.
redis HGET 'rain:{friday}:meta' state | grep -q OPEN || ctl activity resume friday
books friday

# exits CODE COMMAND...
exits() {
	code=$1
	shift
	rc=0
	ctl "$@" >"$dir/out" 2>&1 || rc=$?
	[ "$rc" = "$code" ] || {
		cat "$dir/out"
		wrong "rainctl $* to exit $code, not $rc"
	}
}
plan later 1.00 1
ctl activity create -f "$dir/later.ini" later
exits 0 result friday --user alice
exits 1 grab nothing --user alice
exits 3 grab later --user alice
exits 2 grab 'no id' --user alice
exits 2 grab friday --user 'no user'
exits 2 activity show 'no id'
exits 1 activity show nothing
exits 0 balance --user alice
exits 2 ports 0
exits 2 activity
exits 2 activity frobnicate
tail -n 1 "$dir/out" | grep -q 'unknown command activity frobnicate' ||
	wrong "the error in the last line"
exits 0 relay --help
if grep -q 'activity create' "$dir/out"; then
	wrong "relay --help to list its own commands only"
fi
exits 0 --check-config
exits 2 --set gateway.adresses=x --check-config
if ctl --help >/dev/full 2>/dev/null; then
	wrong "a full disk to be no success"
fi
ctl --json activity show later >"$dir/out"
expect "the end of later" "$(field end <"$dir/out")" None
field created <"$dir/out" | grep -qE '^[0-9-]{10}T[0-9:]{8}\.[0-9]{3}Z$' ||
	wrong "ISO 8601, it is $(field created <"$dir/out")"

say "a preload outlasts the time of a call"
plan big 400000.00 400000
ctl activity create -f "$dir/big.ini" big
# The last time it asks, it may be done already.
expect "the preload of big" \
	"$(ctl --set ctl.timeout=150ms activity preload big |
		sed 's/, as before/: all 400000 packets are in Redis/')" \
	"big is LOADED: all 400000 packets are in Redis"

say "Redis goes away"
stop_pid redis "$dir/redis.pid" 10
exits 1 --set ctl.timeout=2s doctor
grep -q "^Redis .*FAIL .*redis://127.0.0.1:$redis_port" "$dir/out" || {
	cat "$dir/out"
	wrong "doctor to name the address of Redis"
}
grep -q '^grab-service .*warning .*waits for Redis' "$dir/out" || {
	cat "$dir/out"
	wrong "doctor to say that the grab-service waits for Redis"
}
exits 3 activity show friday
passed
