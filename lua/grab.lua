#!lua
-- One atomic step for a batch of users: README.md has the arguments and the
-- reply. The order of the checks is a contract: refusals of all, claims that
-- exist, counts, refusals of those without a claim, packets.
--#include common.lua
--#include ask.lua

-- From 9 on there is room for the answers: a table that grows is dear.
local reply = { code, now, revision, state, left, made, total, wait,
	unpack(ARGV, 2) }

-- Of what is left, only what has been released by now.
local free = math.max(0, math.min(left, released() - made))

-- Pass 1 reads only. winners[k] is the number of the user who gets the k-th of
-- n packets; place[user] is where the answer of a user stands who is named twice.
local winners, n, place, repeats = {}, 0, {}, {}
-- Most of a batch have the same deadline, and to read a number is dear.
local deadline, late = nil, nil
for i = 1, count do
	local at, user, claim = 7 + 2 * i, ids[i], known[i]
	local status, text = closed_to_all, ''
	if claim then
		status, text = ALREADY_GRABBED, claim
	elseif status then
		-- told above
	elseif place[user] then
		repeats[at] = place[user]
		status = ALREADY_GRABBED
	else
		if ARGV[2 * i + 1] ~= deadline then
			deadline = ARGV[2 * i + 1]
			late = now > tonumber(deadline)
		end
		if late then
			status = BUSY
		elseif n == left then
			-- The counts hold, so all packets of the activity are claims.
			status = SOLD_OUT
		elseif n >= free then
			status = NOT_YET
			reply[8] = released_in(made + free)
		else
			n = n + 1
			winners[n], place[user] = i, at
			status = WON
		end
	end
	reply[at], reply[at + 1] = status, text
end

-- The packets, if they are not in the list, and what is left after them.
local popped, balance, claimed = nil, nil, nil
if live and n > 0 then
--#include money.lua
--#include live.lua
end

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

-- Where each tranche ends, seen before the first write: a plan that does not
-- tell the tranche of a packet must not cost one.
local ends_at, last = {}, 0
for text in string.gmatch(m[8] or '', '%d+') do
	last = math.max(last, tonumber(text))
	ends_at[#ends_at + 1] = last
end
if n > 0 and made + n > last then
	return { 'SCHEMA', now, revision, state, 0, 0, 0, 0 }
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
local digits = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }
local stored, texts = {}, {}
local sub = string.sub
local tranche, tail, tens = 0, nil, nil
last = 0
for k = 1, n do
	local seq, i = made + k, winners[k]
	while seq > last do
		tranche = tranche + 1
		last = ends_at[tranche]
		tail = ',"atMs":' .. now .. ',"tranche":' .. tranche .. '}'
	end
	-- To make a number text is dear, a digit is not.
	local digit = seq % 10
	if digit == 0 or not tens then
		tens = seq < 10 and '' or string.format('%d', (seq - digit) / 10)
	end
	-- The packet is spliced, not parsed: its closing brace makes room.
	local claim = sub(popped[k], 1, -2) .. ',"userId":"' .. ids[i] ..
		'","seq":' .. tens .. digits[digit] .. tail
	stored[2 * k - 1], stored[2 * k] = ids[i], claim
	texts[k], reply[8 + 2 * i] = claim, claim
end
call('HSET', USERS, unpack(stored))
call('LPUSH', CLAIMS, unpack(texts))

for at, first in pairs(repeats) do
	reply[at + 1] = reply[first + 1]
end
reply[5], reply[6] = left - n, made + n
return reply
