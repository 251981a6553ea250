# An activity whose lists do not add up can be closed all the same, and stays
# closed: what is left is counted, nothing is refunded, and the ledger says what
# differs.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
opened friday 30.00 3
won=$(grab_of friday alice)
expect "the first grab" "${won%% *}" WON
has=${won#* }

say "a stranger takes a packet from the list, for good"
redis RPOP 'rain:{friday}:packets' >/dev/null
wait_state friday HALTED 10
ctl activity close friday
alarm_says() {
	ctl books friday 2>/dev/null | grep -q "$1"
}
until_true 20 alarm_says 'no refund: the pool has' ||
	wrong "the ledger to say what differs"
expect "the state" "$(ctl --json activity show friday | field state)" CLOSED
same_packet friday alice "$has" "closed with a packet too few"
# Nobody knows whose packet it is that the stranger has.
expect "bob's grab" "$(grab_of friday bob)" "BUSY - -"

say "restarting Redis"
stop_pid redis "$dir/redis.pid" 10
stack_redis
verified() {
	[ "$(grab_of friday alice)" = "ALREADY_GRABBED $has" ]
}
until_true 20 verified || wrong "alice's packet after the restart"
expect "the state" "$(ctl --json activity show friday | field state)" CLOSED
passed
