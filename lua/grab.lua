#!lua
-- One atomic step for a batch of users: README.md has the arguments and the
-- reply. The order of the checks is a contract: refusals of all, claims that
-- exist, counts, refusals of those without a claim, packets.
--#include common.lua
--#include ask.lua

local reply = { code, now, revision, state, left, made, total, wait }

-- Of what is left, only what has been released by now.
local free = math.max(0, math.min(left, released() - made))

-- Pass 1 reads only. winners[k] is the place in the reply of the user who gets
-- the k-th packet; place[user] finds it for a user who is named twice.
local winners, place, repeats = {}, {}, {}
-- Most of a batch have the same deadline, and to read a number is dear.
local deadline, passed = nil, nil
local function late(text)
	if text ~= deadline then
		deadline, passed = text, now > tonumber(text)
	end
	return passed
end
for i = 1, count do
	local at, claim = 7 + 2 * i, known[i]
	local status, text = closed_to_all, ''
	if claim then
		status, text = ALREADY_GRABBED, claim
	elseif status then
		-- told above
	elseif place[ids[i]] then
		repeats[at] = place[ids[i]]
		status = ALREADY_GRABBED
	elseif late(ARGV[2 * i + 1]) then
		status = BUSY
	elseif #winners == left then
		-- The counts hold, so all the packets of the activity are claims.
		status = SOLD_OUT
	elseif #winners >= free then
		status = NOT_YET
		reply[8] = released_in(made + free)
	else
		winners[#winners + 1] = at
		place[ids[i]] = at
		status = WON
	end
	reply[at], reply[at + 1] = status, text
end

-- The packets, if they are not in the list, and what is left after them.
local popped, balance, claimed = nil, nil, nil
if live and #winners > 0 then
--#include money.lua
--#include live.lua
end

local n = #winners
local witness = ARGV[1] ~= '' and 'w:' .. ARGV[1]
if relay[2] then
	witness = false
end
if witness and not allowed({ 'HSET', RELAY, witness, '0' }) or
	n > 0 and not allowed(popped and { 'HSET', META, 'f', 'v' } or
		{ 'RPOP', PACKETS, '1' },
		{ 'HSET', USERS, 'u', 'c' }, { 'LPUSH', CLAIMS, 'c' }) then
	return { 'ACL', now, revision, state, 0, 0, 0, 0 }
end

-- The end of each claim, made before the first write: a plan that does not
-- tell the tranche of a packet must not cost one.
local ending = {}
local tranche, last, text = 0, 0, ''
local next_end = string.gmatch(m[8] or '', '%d+')
for k = 1, n do
	local seq = made + k
	while seq > last do
		tranche, last = tranche + 1, tonumber(next_end() or '')
		text = ',"atMs":' .. now .. ',"tranche":' .. tranche .. '}'
		if not last then
			return { 'SCHEMA', now, revision, state, 0, 0, 0, 0 }
		end
	end
	ending[k] = text
end

-- Pass 2 writes, and nothing in it can fail.
if witness then
	call('HSET', RELAY, witness, now)
end
if n == 0 then
	return reply
end
if popped then
	call('HSET', META, 'left', left - n, 'balance',
		string.format('%.0f', balance), 'claimed_cents',
		string.format('%.0f', claimed))
else
	popped = call('RPOP', PACKETS, n)
end
local stored, texts = {}, {}
local sub, format = string.sub, string.format
for k = 1, n do
	local at = winners[k]
	local user = ids[(at - 7) / 2]
	-- The packet is spliced, not parsed: its closing brace makes room. As %d,
	-- for a number by itself is written by way of a fraction.
	local claim = sub(popped[k], 1, -2) .. ',"userId":"' .. user ..
		'","seq":' .. format('%d', made + k) .. ending[k]
	stored[2 * k - 1], stored[2 * k] = user, claim
	texts[k], reply[at + 1] = claim, claim
end
call('HSET', USERS, unpack(stored))
call('LPUSH', CLAIMS, unpack(texts))

for at, first in pairs(repeats) do
	reply[at + 1] = reply[first + 1]
end
reply[5], reply[6] = left - n, made + n
return reply
