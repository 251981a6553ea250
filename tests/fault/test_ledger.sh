# The ledger in trouble while it rains: its disk full, its file locked, moved
# away, its worker killed inside of transactions, two workers on one file. People
# grab on, consumption pauses with an alarm, and the books end exact by
# themselves.
#
# The disk is a file system of the test's own, where one can be mounted.
if [ -z "${MOUNTS:-}" ]; then
	if unshare -m true 2>/dev/null; then
		MOUNTS=own exec unshare -m sh "$0"
	elif unshare -rm true 2>/dev/null; then
		MOUNTS=own exec unshare -rm sh "$0"
	fi
	MOUNTS=none
fi
. "$RAIN_SOURCE/tests/e2e/lib.sh"
# The disk can only be removed when nobody uses it.
finish() {
	rv=$?
	[ -z "${dir:-}" ] || stack_stop "$dir" || true
	[ "$MOUNTS" != own ] || umount -l "$dir/books" || true
	(exit $rv)
	cleanup
}
trap finish EXIT
topic_prefix=ledger.$$.$(date +%N)
stack_new
printf '[settle]\ngap_age = 2s\n' >>"$dir/settle-worker.ini"
# The ledger in a directory of its own.
mkdir "$dir/books"
sed -i "s,^path = .*,path = $dir/books/ledger.db," "$dir/settle-worker.ini"
if [ "$MOUNTS" = own ] && ! mount -t tmpfs -o size=48m none "$dir/books"; then
	MOUNTS=none
fi
stack_start

# tap_all ID USERS: each of them once.
tap_all() {
	tap_on "$1" --front --users "$2" --conns 20 --taps 1 --in-flight 32 --uncached --duration 0
}

# rain ID USERS: they tap in the background; rained waits until all have a packet.
rain() {
	rains=$1
	users=$2
	tap_all "$1" "$2" >"$dir/tapped" &
	tapping=$!
}

# Whoever was told BUSY taps again, as an app does.
rained() {
	wait $tapping || wrong "the taps to end well"
	tries=10
	until [ "$(field winners <"$dir/tapped")" = "$users" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || wrong "$users users with a packet: $(cat "$dir/tapped")"
		tap_all "$rains" "$users" >"$dir/tapped"
	done
}

# pauses PART: the worker says that it has stopped consuming, and why.
pauses() {
	until_true 30 paused "$1" || wrong "consumption to pause because '$1': $(ready_page)"
	grep -q "consumption is paused.*$1" "$dir/settle-worker.log" ||
		wrong "the log to say '$1'"
}

ready_page() {
	page "$ledger_http" readyz
}

paused() {
	ready_page | grep -q "consumption is paused.*$1"
}

goes_on() {
	! ready_page | grep -q 'consumption is paused'
}

ended() {
	until_true 30 goes_on || wrong "consumption to go on: $(ready_page)"
	ctl activity close "$1"
	books "$1"
}

if [ "$MOUNTS" = own ]; then
	say "no room on the ledger's disk"
	opened full 500.00 10000
	head -c 100m /dev/zero >"$dir/books/ballast" 2>/dev/null || true
	rain full 6000
	pauses full
	rained
	rm "$dir/books/ballast"
	ended full
else
	say "no file system can be mounted here: the full disk is left out"
fi

say "another process holds the lock"
opened locked 500.00 10000
mkfifo "$dir/hold"
python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
db.execute("ROLLBACK")' "$dir/books/ledger.db" <"$dir/hold" >"$dir/held" &
exec 3>"$dir/hold"
until_true 10 test -s "$dir/held" || wrong "the lock to be taken"
rain locked 6000
pauses locked
rained
exec 3>&-
ended locked

say "the file is moved away, and back"
opened moved 500.00 10000
mv "$dir/books/ledger.db" "$dir/books/away.db"
rain moved 6000
pauses 'put that very file back'
rained
mv "$dir/books/away.db" "$dir/books/ledger.db"
ended moved

# F46: a second worker joins the group and the ledger, and leaves it hard.
say "two workers on one ledger, killed in turns"
# shellcheck disable=SC2046 # a list of ports
set -- $("$bin/rainctl" ports 2)
sed "s/^listen = $ledger\$/listen = 127.0.0.1:$1/
	s/^listen = $ledger_http\$/listen = 127.0.0.1:$2/" \
	"$dir/settle-worker.ini" >"$dir/settle-worker-2.ini"
assigned() {
	[ "$(grep -c event=assigned "$dir/$1.log")" -gt "$2" ]
}
opened twice 1000.00 20000
for round in 1 2 3; do
	before=$(grep -c event=assigned "$dir/settle-worker.log")
	launch settle-worker-2 "$bin/settle-worker" --config "$dir/settle-worker-2.ini"
	rain twice $((round * 6000))
	until_true 30 assigned settle-worker "$before" || wrong "a rebalance"
	kill_hard settle-worker-2
	kill_hard settle-worker
	stack_service settle-worker
	rained
done
ctl doctor --quiet --wait 30
ended twice
for id in full locked moved; do
	[ "$id$MOUNTS" = fullnone ] || books "$id"
done
passed
