# Whoever has a packet is told it again, in every state, for ever; and the
# money of a cancelled activity goes back.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin
opened friday 30.00 3 'keep_days = 0' 'end = +3600'

won=$(grab_of friday alice)
expect "the first grab" "${won%% *}" WON
has=${won#* }
same_packet friday alice "$has" open

ctl activity pause friday
same_packet friday alice "$has" paused
expect "bob's grab while paused" "$(grab_of friday bob)" "PAUSED - -"
ctl activity resume friday

say "a stranger takes a packet from the list"
stolen=$(redis RPOP 'rain:{friday}:packets')
# The relay may have noticed before carol does.
expect "carol's grab on lists that do not add up" \
	"$(grab_of friday carol | sed s/PAUSED/BUSY/)" "BUSY - -"
wait_state friday HALTED 10
same_packet friday alice "$has" halted
expect "carol's grab while halted" "$(grab_of friday carol)" "PAUSED - -"
redis RPUSH 'rain:{friday}:packets' "$stolen" >/dev/null
ctl activity resume friday
same_packet friday alice "$has" "paused again"
ctl activity resume friday
expect "bob's grab after all that" "$(grab_of friday bob | cut -d' ' -f1)" WON

ctl activity close friday
same_packet friday alice "$has" closed
expect "dave's grab after the close" "$(grab_of friday dave)" "ENDED - -"
wait_state friday SETTLED 20
same_packet friday alice "$has" settled
lists_gone() {
	[ "$(redis EXISTS 'rain:{friday}:users')" = 0 ]
}
until_true 20 lists_gone || wrong "the lists to be unlinked (keep_days = 0)"
same_packet friday alice "$has" unlinked
expect "dave's grab after the unlink" "$(grab_of friday dave)" "ENDED - -"
books friday
ctl activity list | grep -q '^friday.*SETTLED' ||
	wrong "activity list to show the settled one"
credited() {
	[ "$(ctl --json balance --user alice | field balance)" = "${has#* }" ]
}
until_true 10 credited || wrong "alice's balance to be ${has#* }"

say "an activity that ends by the clock"
opened short 5.00 5 'end = +3'
won=$(grab_of short alice)
ended() {
	[ "$(ctl --json result short --user bob | field status)" = ENDED ]
}
until_true 10 ended || wrong "short to end after 3 s"
same_packet short alice "${won#* }" "past its end"
wait_state short SETTLED 30
same_packet short alice "${won#* }" "settled by itself"
books short

say "a cancelled activity"
plan never 77.00 7
ctl activity create -f "$dir/never.ini" never
ctl activity preload never
ctl activity cancel never
wait_state never SETTLED 20
books never
expect "a grab of a cancelled one" "$(grab_of never alice)" "ENDED - -"
expect "a grab of one that never was" "$(grab_of nothing alice)" "NO_SUCH_ACTIVITY - -"
passed
