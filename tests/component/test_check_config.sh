# What a service would stop at is refused by --check-config, and by a start, in
# the same words: with the key, and with what is allowed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo 'k1 HS256 user c2hvcnQ=' >"$dir/short.keys"

# refused PROGRAM TEXT SETTING...: exit 1, and TEXT is said.
refused() {
	program=$1
	text=$2
	shift 2
	for mode in --check-config --set=log.level=info; do
		code=0
		"$RAIN_BIN/$program" "$mode" "$@" >"$dir/out" 2>&1 || code=$?
		if [ $code != 1 ] || ! grep -qF "$text" "$dir/out"; then
			echo "$program $mode $*: exit $code, without: $text"
			cat "$dir/out"
			exit 1
		fi
	done
}
# fine PROGRAM SETTING...
fine() {
	program=$1
	shift
	"$RAIN_BIN/$program" --check-config "$@"
}

plain=--set=gateway.trust_plain_users=true
kafka=--set=kafka.bootstrap.servers=127.0.0.1:9092
ledger=--set=ledger.path=$dir/ledger.db
fine rain-gateway $plain
fine grab-service $kafka --set=ledger.addresses='a:1, unix:/b,[::1]:2'
fine settle-worker $kafka "$ledger" --set=grab.addresses=

refused rain-gateway 'gateway.keys: is not set'
refused rain-gateway 'gateway.keys: /nowhere: No such file' --set=gateway.keys=/nowhere
refused rain-gateway "gateway.keys: $dir/short.keys:1: " $plain --set=gateway.keys="$dir/short.keys"
refused rain-gateway 'gateway.listen: "foo" is no address; allowed: host:port' $plain --set=gateway.listen=foo
refused rain-gateway 'grab.addresses: "foo" is no address; allowed:' $plain --set=grab.addresses=a:1,foo
refused rain-gateway 'ledger.addresses: "" is no address; allowed:' $plain --set=ledger.addresses=a:1,
refused grab-service 'grab.listen: "foo" is no address' $kafka --set=grab.listen=foo
refused grab-service 'redis.url: ' $kafka --set=redis.url=foo
refused grab-service 'kafka.bootstrap.servers: is not set; allowed: host:port'
refused grab-service 'kafka.nonsense: No such configuration property' $kafka --set=kafka.nonsense=1
# What does not go together, and what would break what is promised.
refused grab-service 'kafka: ' $kafka --set=kafka.max.in.flight.requests.per.connection=9
refused settle-worker 'kafka: ' $kafka "$ledger" --set=kafka.session.timeout.ms=90000 --set=kafka.max.poll.interval.ms=60000
refused grab-service 'kafka: ' $kafka --set=kafka.security.protocol=ssl --set=kafka.ssl.ca.location=/nowhere
refused grab-service 'kafka.acks: only all' $kafka --set=kafka.acks=1
refused settle-worker 'kafka.auto.offset.reset: only earliest' $kafka "$ledger" --set=kafka.auto.offset.reset=latest
fine grab-service $kafka --set=kafka.acks=-1 --set=kafka.linger.ms=0 --set=kafka.enable.idempotence=false
refused grab-service 'http.listen: ' $kafka --set=http.listen=foo
refused settle-worker 'ledger.listen: "foo" is no address' $kafka "$ledger" --set=ledger.listen=foo
refused settle-worker 'kafka.bootstrap.servers: is not set'
# All at once.
refused grab-service 'kafka.bootstrap.servers: is not set' --set=redis.url=foo --set=a.b=c --set=kafka.acks=x
grep -qF 'redis.url: ' "$dir/out"
grep -qF 'a.b: no such key' "$dir/out"
grep -qF 'kafka.acks: ' "$dir/out"
