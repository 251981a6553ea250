# A stack: Redis, Kafka and the three services of one directory under
# build/run, on free ports of 127.0.0.1, found again through DIR/env.
#
#   DIR/env          addresses, as shell variables
#   DIR/NAME.pid     a process   DIR/NAME.log  what it said
#   DIR/NAME.ini     its configuration

runs=$top/build/run
bin=$top/build/release/bin

# stack_new: makes DIR, chooses ports and writes the configuration; sets dir.
stack_new() {
	mkdir -p "$runs"
	dir=$(mktemp -d "$runs/stack.XXXXXX")
	# shellcheck disable=SC2046 # a list of ports
	set -- $("$bin/rainctl" ports 10)
	[ $# -eq 10 ] || fail "found no free ports"
	cat >"$dir/env" <<TEXT
redis_url=${REDIS_URL:-redis://127.0.0.1:$1}
kafka=${KAFKA_BOOTSTRAP:-127.0.0.1:$2}
gateway=127.0.0.1:$4
grab=127.0.0.1:$5
ledger=127.0.0.1:$6
gateway_http=127.0.0.1:$7
grab_http=127.0.0.1:$8
ledger_http=127.0.0.1:$9
redis_port=$1
kafka_port=$2
kafka_controller=$3
TEXT
	. "$dir/env"
	stack_configure
}

# Topics of their own for stacks that share a broker: topic_prefix is set by
# tests.
stack_topics() {
	[ -n "${topic_prefix:-}" ] || return 0
	cat <<TEXT
[topics]
activities = $topic_prefix.activities
claims = $topic_prefix.claims
dlq = $topic_prefix.claims.dlq
TEXT
}

# stack_configure: one INI file per program, and a key that signs tokens.
stack_configure() {
	printf 'demo HS256 front %s\n' "$(head -c 32 /dev/urandom | base64)" \
		>"$dir/keys"
	chmod 600 "$dir/keys"
	cat >"$dir/rain-gateway.ini" <<TEXT
[gateway]
listen = $gateway
keys = $dir/keys
[grab]
addresses = $grab
[ledger]
addresses = $ledger
[http]
listen = $gateway_http
TEXT
	cat >"$dir/grab-service.ini" <<TEXT
[grab]
listen = $grab
[redis]
url = $redis_url
[kafka]
bootstrap.servers = $kafka
[ledger]
addresses = $ledger
[http]
listen = $grab_http
$(stack_topics)
TEXT
	cat >"$dir/settle-worker.ini" <<TEXT
[ledger]
path = $dir/ledger.db
listen = $ledger
[kafka]
bootstrap.servers = $kafka
[grab]
addresses = $grab
[http]
listen = $ledger_http
$(stack_topics)
TEXT
	cat >"$dir/rainctl.ini" <<TEXT
[gateway]
addresses = $gateway
keys = $dir/keys
[grab]
addresses = $grab
[ledger]
addresses = $ledger
[redis]
url = $redis_url
[kafka]
bootstrap.servers = $kafka
$(stack_topics | grep -v ^dlq)
TEXT
}

# launch NAME COMMAND...: in a session of its own, so that Ctrl-C at the
# terminal reaches only us and things stop in their order.
launch() {
	name=$1
	shift
	# Not ended by a SIGHUP that comes before it has begun to hear them.
	(
		trap '' HUP
		exec setsid "$@"
	) >>"$dir/$name.log" 2>&1 </dev/null &
	echo $! >"$dir/$name.pid"
}

stack_service() {
	launch "$1" "$bin/$1" --config "$dir/$1.ini"
}

stack_redis() {
	mkdir -p "$dir/redis"
	launch redis redis-server --port "$redis_port" --bind 127.0.0.1 \
		--dir "$dir/redis" --appendonly yes --appendfsync always \
		--save '' --maxmemory-policy noeviction
}

# stack_look: whether the servers that the user named are fit, before anything
# waits for them. The topics are still to be made.
stack_look() {
	[ -n "${REDIS_URL:-}${KAFKA_BOOTSTRAP:-}" ] || return 0
	names=$(printf '%s%s' "${REDIS_URL:+|Redis}" "${KAFKA_BOOTSTRAP:+|Kafka}")
	say "using your${REDIS_URL:+ Redis at $REDIS_URL}${KAFKA_BOOTSTRAP:+ Kafka at $KAFKA_BOOTSTRAP}"
	unfit=$("$bin/rainctl" --config "$dir/rainctl.ini" --set ctl.timeout=1s \
		doctor --quiet | grep -E "^(${names#|}) " |
		grep -v 'does not exist') || true
	if [ -n "$unfit" ]; then
		trap - EXIT
		rm -rf "$dir"
		fail "they are not fit for it:
$unfit"
	fi
}

# stack_start: everything of $dir; waits until it answers.
stack_start() {
	stack_look
	if [ -z "${REDIS_URL:-}" ]; then
		say "starting Redis on port $redis_port"
		stack_redis
	fi
	if [ -z "${KAFKA_BOOTSTRAP:-}" ]; then
		say "starting Kafka on port $kafka_port"
		"$top/deploy/kafka/kafka.sh" start "$dir/kafka" "$kafka_port" \
			"$kafka_controller" >>"$dir/kafka.log" 2>&1 || {
			tail -n 20 "$dir/kafka.log" >&2
			fail "Kafka did not start"
		}
	fi
	say "starting settle-worker, grab-service and rain-gateway"
	stack_service settle-worker
	stack_service grab-service
	stack_service rain-gateway
	stack_ready || {
		for name in redis settle-worker grab-service rain-gateway; do
			[ -f "$dir/$name.log" ] || continue
			printf '%s\n' "--- $name" >&2
			tail -n 5 "$dir/$name.log" >&2
		done
		"$bin/rainctl" --config "$dir/rainctl.ini" doctor --quiet >&2 || true
		fail "the stack did not become ready"
	}
}

# stack_ready: wait until everything answers, all loops of the gateway have a
# grab-service and that has the ledger; 60 s at most, no longer than the
# programs live.
stack_ready() {
	until_true 60 stack_settled && stack_answers
}

stack_settled() {
	for name in settle-worker grab-service rain-gateway; do
		alive "$dir/$name.pid" || return 0
	done
	stack_answers
}

stack_answers() {
	"$bin/rainctl" --config "$dir/rainctl.ini" doctor --quiet \
		>/dev/null 2>&1 &&
		page "$gateway_http" readyz 2>/dev/null |
		grep -q '"ready":true' &&
		[ "$(metric "$grab_http" rain_dubbo_client_providers_ready \
			2>/dev/null)" -gt 0 ]
}

# stack_stop DIR: in the order in which nothing accepted is lost. Tests start
# more of a kind: NAME-2 and so on.
stack_stop() {
	for kind in rain-gateway grab-service settle-worker; do
		for pid in "$1/$kind"*.pid; do
			stop_pid "$(basename "$pid" .pid)" "$pid" 15
		done
	done
	[ -d "$1/kafka" ] && "$top/deploy/kafka/kafka.sh" stop "$1/kafka" \
		>/dev/null 2>&1
	stop_pid redis "$1/redis.pid" 15
}

# stack_remove DIR: stop it and forget its data.
stack_remove() {
	stack_stop "$1"
	rm -rf "$1"
}

stack_hint() {
	cat <<TEXT

It is running. Talk to it:
  rainctl() { "$bin/rainctl" --config "$dir/rainctl.ini" "\$@"; }
  rainctl activity list
  rainctl --help
gateway (apps)   $gateway
metrics          http://$gateway_http/metrics http://$grab_http/metrics http://$ledger_http/metrics
logs and data    $dir
Stop it, and remove its data, with ./rain down
TEXT
}
