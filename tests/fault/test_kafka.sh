# Kafka in trouble while it rains: killed, frozen, its topics deleted, strangers'
# messages in them. Users notice nothing, memory stays bounded, and the books
# end exact by themselves.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
# It is killed: not the one that all tests share.
unset KAFKA_BOOTSTRAP
topic_prefix=fault
stack_new
# A gap is asked for again sooner than in production.
printf '[settle]\ngap_age = 2s\ncounters = 1s\n' >>"$dir/settle-worker.ini"
# A message may be larger than what is fetched at once.
sed -i 's/^bootstrap.servers = .*/&\nfetch.message.max.bytes = 20000/' \
	"$dir/settle-worker.ini"
stack_start

broker() {
	"$top/deploy/kafka/kafka.sh" "$@" >>"$dir/kafka.log" 2>&1
}

broker_pid() {
	cat "$dir/kafka/kafka.pid"
}

# tap ID USERS: each of them, those of before again, until all were told a
# packet: whoever is told BUSY taps again, as an app does.
tap() {
	tries=10
	until tapped=$(tap_on "$1" --front --users "$2" --conns 20 --taps 1 --in-flight 32 --uncached --duration 0) &&
		[ "$(printf %s "$tapped" | field winners)" = "$2" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || wrong "$2 users of $1 with a packet: $tapped"
	done
}

# ledger_has TABLE-AND-CONDITION: how many rows.
ledger_has() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(db.execute("SELECT count(*) FROM " + sys.argv[2]).fetchone()[0])' \
		"$dir/ledger.db" "$1"
}

above() {
	[ "$(metric "$1" "$2")" -gt "$3" ]
}

# ended ID: closed, exact, settled.
ended() {
	ctl activity close "$1"
	books "$1"
	wait_state "$1" SETTLED 60
}

# F40: users notice nothing, and what waits waits in Redis.
opened killed 500.00 10000
tap killed 1000
before=$(metric "$grab_http" process_resident_memory_bytes)
say "kill -9 of Kafka"
broker kill "$dir/kafka"
died=$(date +%s)
tap killed 8000
until_true 20 above "$grab_http" rain_relay_unpublished_claims 6000 ||
	wrong "claims to wait for Kafka"
rss=$(metric "$grab_http" process_resident_memory_bytes)
say "the grab-service holds $((rss / 1048576)) MiB, before $((before / 1048576))"
[ "$rss" -lt $((before + 64 * 1048576)) ] || wrong "memory to stay bounded"
# Away for longer than the session of the group and the leases.
while [ "$(date +%s)" -lt $((died + 9)) ]; do sleep 0.2; done
broker start "$dir/kafka" "$kafka_port" "$kafka_controller"
ended killed

say "SIGSTOP of Kafka for longer than the session"
opened frozen 500.00 10000
tap frozen 1000
kill -STOP "$(broker_pid)"
frozen=$(date +%s)
tap frozen 8000
while [ "$(date +%s)" -lt $((frozen + 9)) ]; do sleep 0.2; done
kill -CONT "$(broker_pid)"
ended frozen

for kind in claims activities; do
	say "the topic of $kind is deleted"
	opened "lost-$kind" 500.00 10000
	tap "lost-$kind" 2000
	"$KAFKA_HAND" "$kafka" delete "fault.$kind"
	tap "lost-$kind" 4000
	ctl activity pause "lost-$kind"
	ctl activity resume "lost-$kind"
	tap "lost-$kind" 6000
	ended "lost-$kind"
done
say "both topics are deleted while the settle-worker is down"
opened lost-both 500.00 10000
tap lost-both 1000
kill_hard settle-worker
tap lost-both 2000
"$KAFKA_HAND" "$kafka" delete fault.claims
"$KAFKA_HAND" "$kafka" delete fault.activities
tap lost-both 3000
stack_service settle-worker
ended lost-both

# F44: what nobody can read stands aside, its neighbours go on.
say "strangers' messages"
head -c 1048000 /dev/zero | tr '\0' '\377' >"$dir/large"
printf '\n\005stray' >"$dir/small"
opened strangers 500.00 10000
dead=$(metric "$ledger_http" rain_settle_dead_letters_total)
tap strangers 1000
for kind in claims activities; do
	for file in large small; do
		"$KAFKA_HAND" "$kafka" put "fault.$kind" "$dir/$file"
	done
done
tap strangers 3000
ended strangers
expect "dead letters" "$(($(metric "$ledger_http" rain_settle_dead_letters_total) - dead))" 4
dlq_has() {
	[ "$("$KAFKA_HAND" "$kafka" count fault.claims.dlq)" -ge 4 ]
}
until_true 30 dlq_has || wrong "4 messages on the dead letter topic"
# What was settled before is in the new topics too.
for id in killed frozen lost-claims lost-activities; do
	books "$id"
done
expect "activities with an alarm" \
	"$(ledger_has "red_packet_info WHERE alarm <> ''")" 0
passed
