#!/bin/sh
# One real Apache Kafka broker (KRaft, no ZooKeeper) for tests and the demo.
#
#   kafka.sh fetch                            get the jars, once per machine
#   kafka.sh start DIR PORT CONTROLLER_PORT   run a broker, its files in DIR
#   kafka.sh run DIR PORT CONTROLLER_PORT     the same in this process: never
#                                             returns, logs to its output
#   kafka.sh stop DIR                         stop it, gently if it lets us
#   kafka.sh kill DIR                         stop it at once (kill -9)
#
# KAFKA_JVM are options for Java. Those it has otherwise let it start quickly and
# never become fast, which is right for tests.
#
# Needs a Java of version 17 or later, and Maven for the first fetch. Starting
# again in the same DIR keeps the data, also on other ports. Two brokers need
# two DIRs and four ports; nothing else is shared but the jars.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's:.*<kafka.version>\(.*\)</kafka.version>.*:\1:p' \
	"$here/pom.xml")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/redrain
jars=$cache/kafka-$version
start_limit_s=60
stop_limit_s=20

die() {
	echo "kafka.sh: $*" >&2
	exit 1
}

usage() {
	sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

# The major version of the Java at $1, 0 if it does not run.
java_major() {
	"$1" -version 2>&1 | sed -n '
		s/.* version "1\.\([0-9]*\).*/\1/p;t
		s/.* version "\([0-9]*\).*/\1/p' | head -n 1 | grep . || echo 0
}

# Set $java to the first one that is new enough: JAVA_HOME's, the one in PATH,
# then whatever Debian has installed beside it.
find_java() {
	for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" \
		"$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
		if [ -x "$java" ] && [ "$(java_major "$java")" -ge 17 ]; then
			return
		fi
	done
	die "no Java of version 17 or later (apt install default-jre-headless)"
}

# Copy the jars into the cache. The lock makes a second caller wait for the
# first; the rename makes the folder appear complete or not at all.
fetch() {
	if [ -d "$jars" ]; then
		return
	fi
	command -v mvn >/dev/null || die "needs mvn (apt install maven)"
	mkdir -p "$cache"
	exec 9>"$cache/kafka.lock"
	flock 9
	if [ ! -d "$jars" ]; then
		echo "kafka.sh: fetching Apache Kafka $version from Maven Central"
		temp=$(mktemp -d "$cache/fetch.XXXXXX")
		trap 'rm -rf "$temp"' EXIT
		trap 'exit 1' HUP INT TERM
		mvn -q -B -C -f "$here/pom.xml" dependency:copy-dependencies \
			-DoutputDirectory="$temp/jars" 9>&- >&2 ||
			die "Maven could not get the jars"
		ls "$temp/jars/kafka_"*.jar >/dev/null ||
			die "Maven copied no Kafka into $temp/jars"
		mv "$temp/jars" "$jars"
		rm -rf "$temp"
		trap - EXIT HUP INT TERM
	fi
	exec 9>&-
}

# Set $dir to the absolute path of DIR, which must exist.
enter() {
	dir=$(cd "$1" && pwd) || die "no folder $1"
}

# Whether process $pid runs. A zombie does not: its parent may never reap it.
runs() {
	{ read -r stat <"/proc/$pid/stat"; } 2>/dev/null || return 1
	case $stat in
	*') Z '*) return 1 ;;
	esac
}

# Set $pid to DIR's broker; false if none runs. The command line is compared,
# for a process id may have been given to somebody else meanwhile.
running() {
	{ read -r pid <"$dir/kafka.pid"; } 2>/dev/null || return 1
	runs && tr '\0' '\n' <"/proc/$pid/cmdline" |
		grep -qxF "$dir/server.properties"
}

# Seconds of uptime, for deadlines.
now() {
	cut -d. -f1 /proc/uptime
}

# Wait for at most $1 seconds for $pid to end.
gone_within() {
	end=$(($(now) + $1))
	while runs; do
		[ "$(now)" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# Set $listeners, $advertised and $protocols for PORT and KAFKA_PROXIED.
list_listeners() {
	listeners=PLAINTEXT://127.0.0.1:$1
	advertised=PLAINTEXT://127.0.0.1:$1
	protocols=PLAINTEXT:PLAINTEXT
	n=0
	for pair in ${KAFKA_PROXIED:-}; do
		n=$((n + 1))
		listeners=$listeners,PROXIED$n://127.0.0.1:${pair%:*}
		advertised=$advertised,PROXIED$n://127.0.0.1:${pair#*:}
		protocols=$protocols,PROXIED$n:PLAINTEXT
	done
}

write_properties() {
	list_listeners "$1"
	cat >"$dir/server.properties" <<-END
		process.roles=broker,controller
		node.id=1
		listeners=$listeners,CONTROLLER://127.0.0.1:$2
		advertised.listeners=$advertised
		controller.listener.names=CONTROLLER
		inter.broker.listener.name=PLAINTEXT
		listener.security.protocol.map=$protocols,CONTROLLER:PLAINTEXT
		# Static voters, so that a restart may use another controller port.
		controller.quorum.voters=1@127.0.0.1:$2
		log.dirs=$dir/data
		# Who produces creates the topic first, with the settings it needs.
		auto.create.topics.enable=false
		# A cluster of one.
		offsets.topic.replication.factor=1
		offsets.topic.num.partitions=1
		transaction.state.log.replication.factor=1
		transaction.state.log.min.isr=1
		transaction.state.log.num.partitions=1
		share.coordinator.state.topic.replication.factor=1
		share.coordinator.state.topic.min.isr=1
		share.coordinator.state.topic.num.partitions=1
		# Small and quick: few threads, little memory, no waiting for others.
		num.network.threads=1
		num.io.threads=2
		background.threads=2
		group.coordinator.threads=1
		group.initial.rebalance.delay.ms=0
		log.cleaner.dedupe.buffer.size=2097152
		log.index.size.max.bytes=1048576
		controlled.shutdown.enable=true
	END
}

# run_java [setsid] CLASS ARGUMENT...
run_java() {
	alone=
	if [ "$1" = setsid ]; then
		alone=setsid
		shift
	fi
	# shellcheck disable=SC2086 # nothing, or words
	exec $alone "$java" -Xms64m -Xmx512m -XX:+UseSerialGC \
		${KAFKA_JVM--XX:TieredStopAtLevel=1} -Xshare:auto \
		-Djava.awt.headless=true \
		-Dlog4j2.configurationFile="$here/log4j2.xml" \
		-cp "$jars/*" "$@"
}

# Give a new data folder its cluster id: 22 characters of base64, and none of
# the leading minus that would read as an option.
format_new() {
	if [ -f "$dir/data/meta.properties" ]; then
		return
	fi
	id=$(head -c 16 /dev/urandom | base64 | tr '+/' 'Aa' | cut -c 1-22)
	(run_java setsid kafka.tools.StorageTool format --ignore-formatted -t "$id" \
		-c "$dir/server.properties") >>"$dir/kafka.log" 2>&1 || {
		tail -n 30 "$dir/kafka.log" >&2
		die "could not format $dir/data"
	}
}

# Whether this run's part of the log says that the broker serves.
started() {
	tail -c "+$((log_start + 1))" "$dir/kafka.log" |
		grep -q 'Kafka Server started'
}

# Whether somebody listens on 127.0.0.1:$1.
listens() {
	grep -q ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6 \
		2>/dev/null
}

# prepare DIR PORT CONTROLLER_PORT: all but the broker itself.
prepare() {
	fetch
	find_java
	mkdir -p "$1"
	enter "$1"
	if running; then
		die "a broker runs in $dir already (process $pid)"
	fi
	# Two brokers would not see the clash before one of them has formatted.
	for port in "$2" "$3"; do
		! listens "$port" || die "port $port is taken"
	done
	write_properties "$2" "$3"
	format_new
}

run() {
	prepare "$@"
	echo "$$" >"$dir/kafka.pid"
	run_java kafka.Kafka "$dir/server.properties" </dev/null
}

start() {
	prepare "$@"
	: >>"$dir/kafka.log"
	log_start=$(wc -c <"$dir/kafka.log")
	run_java setsid kafka.Kafka "$dir/server.properties" \
		>>"$dir/kafka.log" 2>&1 </dev/null &
	pid=$!
	echo "$pid" >"$dir/kafka.pid"
	trap 'kill -9 "$pid"; rm -f "$dir/kafka.pid"; exit 1' HUP INT TERM
	end=$(($(now) + start_limit_s))
	until started && listens "$2"; do
		if ! runs || [ "$(now)" -ge "$end" ]; then
			kill -9 "$pid" 2>/dev/null || true
			rm -f "$dir/kafka.pid"
			tail -n 30 "$dir/kafka.log" >&2
			die "the broker in $dir did not start, see kafka.log there"
		fi
		sleep 0.1
	done
	trap - HUP INT TERM
}

stop() {
	[ -d "$1" ] || return 0
	enter "$1"
	if running; then
		[ "$2" = kill ] || kill "$pid" 2>/dev/null || true
		if [ "$2" = kill ] || ! gone_within "$stop_limit_s"; then
			kill -9 "$pid" 2>/dev/null || true
			gone_within 5 || die "process $pid does not end"
		fi
	fi
	rm -f "$dir/kafka.pid"
}

case ${1-} in
fetch) [ $# -eq 1 ] || usage && fetch ;;
start) [ $# -eq 4 ] || usage && start "$2" "$3" "$4" ;;
run) [ $# -eq 4 ] || usage && run "$2" "$3" "$4" ;;
stop) [ $# -eq 2 ] || usage && stop "$2" stop ;;
kill) [ $# -eq 2 ] || usage && stop "$2" kill ;;
*) usage ;;
esac
