# What Redis had is gone: a preload whose service died (F72), the tail of its
# file (F32b), everything. Nobody gets a packet twice, it is halted and somebody
# is told why.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

say "the grab-service dies in chunk 57 of 100 of a preload"
plan half 50000.00 50000
ctl activity create -f "$dir/half.ini" half
ctl --set ctl.timeout=60s activity preload half >"$dir/preload" 2>&1 &
preload=$!
loaded_above() {
	[ "$(redis LLEN 'rain:{half}:packets')" -ge "$1" ]
}
until loaded_above 28500; do
	:
done
kill_hard grab-service
loaded=$(redis LLEN 'rain:{half}:packets')
say "$loaded packets are there"
[ "$loaded" -lt 50000 ] || wrong "the preload not to be done yet"
expect "the state" "$(redis HGET 'rain:{half}:meta' state)" LOADING
stack_service grab-service
wait $preload || true

say "two services load it to the end, and open it, at once"
# shellcheck disable=SC2046 # a port
second=127.0.0.1:$("$bin/rainctl" ports 1)
sed "s/^listen = $grab\$/listen = $second/
	s/^listen = $grab_http\$/listen = 127.0.0.1:0/" \
	"$dir/grab-service.ini" >"$dir/grab-service-2.ini"
launch grab-service-2 "$bin/grab-service" --config "$dir/grab-service-2.ini"
ctl doctor --quiet --wait 30
ctl --set "grab.addresses=$second" doctor --quiet --wait 30
twice() {
	ctl --set ctl.timeout=60s activity "$1" half >"$dir/first" 2>&1 &
	first=$!
	ctl --set ctl.timeout=60s --set "grab.addresses=$second" \
		activity "$1" half >"$dir/second" 2>&1 || {
		cat "$dir/second"
		wrong "$1 through the second to end well"
	}
	wait $first || {
		cat "$dir/first"
		wrong "$1 through the first to end well"
	}
}
twice preload
expect "the packets" "$(redis LLEN 'rain:{half}:packets')" 50000
twice open
expect "the state" "$(redis HGET 'rain:{half}:meta' state)" OPEN
expect "the opening is told once" \
	"$(redis LRANGE 'rain:{half}:events' 0 10 | grep -c '"type":"opened"')" 1
expect "a grab" "$(grab_of half alice | cut -d' ' -f1)" WON
stop_pid grab-service-2 "$dir/grab-service-2.pid" 10
books half

say "the tail of the file is cut before Redis starts again"
opened tail 20.00 20
for i in 1 2 3 4 5 6 7 8 9 10; do
	expect "grab $i" "$(grab_of tail user$i | cut -d' ' -f1)" WON
done
books tail
last=$(grab_of tail user10 | cut -d' ' -f2-)
claims_of_tail() {
	redis LLEN 'rain:{tail}:claims'
}
kill_hard redis
file=$(ls "$dir"/redis/appendonlydir/*.incr.aof)
# Behind it are the claims of user9 and user10, and what was written since.
python3 - "$file" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as f:
    data = f.read()
    claim = data.rindex(b'"userId":"user9"')
    step = data.rindex(b"*1\r\n$5\r\nMULTI\r\n", 0, data.rindex(b"user9\r\n"))
    f.truncate(min(step, claim) + 7)
PYTHON
stack_redis
wait_state tail HALTED 60
expect "the claims that are left" "$(claims_of_tail)" 8
ctl activity show tail | grep '^reason'
redis HGET 'rain:{tail}:meta' reason | grep -qE 'is not there|here are 8' ||
	wrong "the reason to tell what is missing"
# Not even user1, whose claim is there: this Redis is not to be trusted.
for user in new1 new2 user1 user9 user10; do
	case $(grab_of tail $user | cut -d' ' -f1) in
	BUSY | PENDING | PAUSED) ;;
	*) wrong "$user to wait while tail is halted" ;;
	esac
done
expect "the claims that are left" "$(claims_of_tail)" 8
say "user10 had $last"
if ctl books tail >"$dir/books"; then
	cat "$dir/books"
	wrong "the books to miss two claims"
fi

say "FLUSHALL"
redis FLUSHALL >/dev/null
is_noticed() {
	page "$grab_http" metrics | grep -qE '^rain_lost_activities [1-9]'
}
until_true 10 is_noticed || wrong "rain_lost_activities to count them"
half_is_named() {
	page "$grab_http" readyz | grep -q 'half: is gone from Redis'
}
until_true 10 half_is_named || {
	page "$grab_http" readyz
	wrong "readyz to name half"
}
for user in alice new3; do
	expect "$user in half" "$(grab_of half $user | cut -d' ' -f1)" BUSY
done
if ctl activity create -f "$dir/half.ini" half >"$dir/out" 2>&1; then
	wrong "the id of half to stay taken"
fi
passed
