#!lua flags=no-writes
-- What became of the grabs of these users: README.md has the arguments and
-- the reply. It never writes, so a full Redis answers it too.

--#include common.lua
--#include ask.lua

local reply = { code, now, revision, state, left, made, total, wait }
for i = 1, count do
	local claim, answer = known[i], closed_to_all
	if i > upto then
		next_deadline()
	end
	if claim then
		answer = held(claim)
	elseif code == 'COUNTS' then
		-- The claim may be what is missing: nothing is known.
		answer = BUSY
	elseif not late then
		-- The grab may still be on its way.
		answer = PENDING
	elseif not answer then
		answer = left == 0 and SOLD_OUT or BUSY
		if left > 0 and released() <= made then
			answer = NOT_YET
			reply[8] = released_in(made)
		end
	end
	reply[8 + i] = answer
end
return reply
