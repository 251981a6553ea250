#!lua flags=no-writes
-- What became of the grabs of these users: README.md has the arguments and
-- the reply. It never writes, so a full Redis answers it too.

-- ARGV begins with a user here and with the witness in grab.lua: ask.lua reads
-- the latter's layout.
table.insert(ARGV, 1, '')
--#include common.lua
--#include ask.lua

local reply = { code, now, revision, state, left, made, total, wait }
for i = 1, count do
	local at, claim = 7 + 2 * i, known[i]
	local status, text = closed_to_all, ''
	if claim then
		status, text = ALREADY_GRABBED, claim
	elseif code == 'COUNTS' then
		-- The claim may be what is missing: nothing is known.
		status = BUSY
	elseif now <= tonumber(ARGV[2 * i + 1]) then
		-- The grab may still be on its way.
		status = PENDING
	elseif not status then
		status = left == 0 and SOLD_OUT or BUSY
		if left > 0 and released() <= made then
			status = NOT_YET
			reply[8] = released_in(made)
		end
	end
	reply[at], reply[at + 1] = status, text
end
return reply
