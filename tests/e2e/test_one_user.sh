# One user from 50 connections over 4 gateways, 1,000 grabs at once: one packet,
# the same in all answers. Then 100,000 users in turns for 1 packet: one has it,
# 99,999 are told SOLD_OUT. Few script calls serve many grabs.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
# A user who is as fast as this is limited, as a rule.
printf '[limit]\nuser_rate = 0\n' >>"$dir/rain-gateway.ini"
kill -HUP "$(cat "$dir/rain-gateway.pid")"
until_true 10 grep -q 'configuration reloaded' "$dir/rain-gateway.log" ||
	wrong "the gateway to take the limit"
gateways=$gateway
for n in 2 3 4; do
	# shellcheck disable=SC2046 # a list of ports
	set -- $("$bin/rainctl" ports 1)
	sed "s/^listen = $gateway\$/listen = 127.0.0.1:$1/
		s/^listen = $gateway_http\$/listen = 127.0.0.1:0/" \
		"$dir/rain-gateway.ini" >"$dir/rain-gateway-$n.ini"
	launch "rain-gateway-$n" "$bin/rain-gateway" --config "$dir/rain-gateway-$n.ini"
	gateways=$gateways,127.0.0.1:$1
done
ctl --set gateway.addresses="$gateways" doctor --quiet --wait 30

opened one 5.00 5
tapped=$(tap_on one --users 1 --conns 50 --taps 20 --in-flight 20 --uncached --duration 0)
printf '%s\n' "$tapped"
expect "answers" "$(printf %s "$tapped" | field answers)" 1000
expect "users with a packet" "$(printf %s "$tapped" | field winners)" 1
expect "packets that differ" "$(printf %s "$tapped" | field wrong_answers)" 0
expect "wins" "$(printf %s "$tapped" | field statuses.WON)" 1
expect "repeats" "$(printf %s "$tapped" | field statuses.ALREADY_GRABBED)" 999

script_calls() {
	redis INFO commandstats |
		sed -n 's/^cmdstat_evalsha:calls=\([0-9]*\),.*/\1/p'
}
gateways=$gateway
opened single 1.00 1
before=$(script_calls)
tapped=$(tap_on single --front --users 100000 --conns 50 --taps 1 --in-flight 32 --uncached --duration 0)
calls=$(($(script_calls) - before))
printf '%s\n' "$tapped"
expect "answers" "$(printf %s "$tapped" | field answers)" 100000
expect "wins" "$(printf %s "$tapped" | field statuses.WON)" 1
expect "sold out" "$(printf %s "$tapped" | field statuses.SOLD_OUT)" 99999
say "$calls script calls for 100000 grabs"
[ "$calls" -lt 12500 ] || wrong "a mean batch above 8"

ctl activity close one
ctl activity close single
books one
books single
passed
