# A service that cannot start says why, ends with 2, and has closed all that it
# had opened: what it leaves open would be in its log, and in a build with
# sanitizers memory left behind would change the exit code.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# fails PROGRAM TEXT SETTING...
fails() {
	program=$1
	text=$2
	shift 2
	code=0
	"$RAIN_BIN/$program" "$@" >"$dir/out" 2>&1 || code=$?
	if [ $code != 2 ] || ! grep -qF "$text" "$dir/out" ||
		grep -E 'left open|Sanitizer|check failed' "$dir/out"; then
		echo "$program $*: exit $code, looking for: $text"
		cat "$dir/out"
		exit 1
	fi
}

# No address of this machine (RFC 5737), no Kafka, no Redis.
nobody=192.0.2.1:1
kafka=--set=kafka.bootstrap.servers=127.0.0.1:1
redis=--set=redis.url=unix:$dir/redis.sock
ledger=--set=ledger.path=$dir/ledger.db
plain=--set=gateway.trust_plain_users=true
fails rain-gateway 'event="cannot listen"' $plain --set=gateway.listen=$nobody
fails rain-gateway 'event="http cannot listen"' $plain --set=http.listen=$nobody
fails grab-service 'cannot listen for Dubbo' $kafka "$redis" --set=grab.listen=$nobody
fails settle-worker 'cannot listen for Dubbo' $kafka "$ledger" --set=ledger.listen=$nobody
fails settle-worker 'event=stopped exit=2' $kafka --set=ledger.path="$dir/none/ledger.db"
