# Two gateways and two grab-services at once: the books are exact, one relay
# serves an activity, and when it is killed the other takes over; a gateway dies
# in the middle and its users find their packets through the other.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
# shellcheck disable=SC2046 # a list of ports
set -- $("$bin/rainctl" ports 2)
grabs=$grab,127.0.0.1:$1
gateways=$gateway,127.0.0.1:$2
sed "s/^listen = $grab\$/listen = 127.0.0.1:$1/
	s/^listen = $grab_http\$/listen = 127.0.0.1:0/" \
	"$dir/grab-service.ini" >"$dir/grab-service-2.ini"
sed "s/^listen = $gateway\$/listen = 127.0.0.1:$2/
	s/^listen = $gateway_http\$/listen = 127.0.0.1:0/" \
	"$dir/rain-gateway.ini" >"$dir/rain-gateway-2.ini"
for ini in rain-gateway rain-gateway-2 settle-worker rainctl; do
	sed -i "s/^addresses = $grab\$/addresses = $grabs/" "$dir/$ini.ini"
done
sed -i "s/^addresses = $gateway\$/addresses = $gateways/" "$dir/rainctl.ini"
launch grab-service-2 "$bin/grab-service" --config "$dir/grab-service-2.ini"
launch rain-gateway-2 "$bin/rain-gateway" --config "$dir/rain-gateway-2.ini"
stop_pid rain-gateway "$dir/rain-gateway.pid" 10
stack_service rain-gateway
ctl doctor --quiet --wait 30

plan night 40000.00 8000
ctl --json quiz "$dir/night.ini" --id night --users 16000 --at-once 400 \
	--taps 2 >"$dir/report" 2>"$dir/quiz.log" &
quiz=$!
claims_above() {
	[ "$(redis LLEN 'rain:{night}:claims')" -gt "$1" ]
}
owner() {
	redis HGET 'rain:{night}:relay' owner
}
until_true 60 claims_above 1000 || wrong "1000 claims within 60 s"
first=$(owner)
[ -n "$first" ] || wrong "a relay to own the activity"

# The services print their id when they start: kill the one that owns.
if grep -q "$first" "$dir/grab-service.log"; then
	owning=grab-service
else
	owning=grab-service-2
fi
say "kill -9 of $owning, which relays"
kill_hard $owning
taken_over() {
	[ -n "$(owner)" ] && [ "$(owner)" != "$first" ]
}
until_true 30 taken_over || wrong "the other grab-service to take over"
until_true 60 claims_above 3000 || wrong "3000 claims within 60 s"
say "kill -9 of rain-gateway-2"
kill_hard rain-gateway-2
wait $quiz || {
	cat "$dir/report" "$dir/quiz.log"
	wrong "the quiz to end well"
}
cat "$dir/report"
expect "winners" "$(field winners <"$dir/report")" 8000
expect "exact books" "$(field books_exact <"$dir/report")" true
expect "wrong answers" "$(field wrong_answers <"$dir/report")" 0
passed
