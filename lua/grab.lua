#!lua
-- One atomic step for a batch of users: README.md has the arguments and the
-- reply. The order of the checks is a contract: refusals of all, claims that
-- exist, counts, refusals of those without a claim, packets.
--#include common.lua
--#include ask.lua

-- From 9 on an answer for each user, who keeps the place until there is one: a
-- table that grows is dear.
local reply = { code, now, revision, state, left, made, total, wait,
	unpack(args, 4) }

-- Of what is left, only what has been released by now.
local free = math.max(0, math.min(left, released() - made))

-- Pass 1 reads only. winners[k] is the number of the user who gets the k-th of
-- n packets; place[user] is that of a user who wins, repeats[i] whose answer
-- is told again.
local winners, n, place, repeats = {}, 0, {}, {}
for i = 1, count do
	local user, claim, answer = args[3 + i], known[i], closed_to_all
	if i > upto then
		next_deadline()
	end
	if claim then
		answer = held(claim)
	elseif answer then
		-- told above
	elseif place[user] then
		repeats[i] = place[user]
	elseif late then
		answer = BUSY
	elseif n == left then
		-- The counts hold, so all packets of the activity are claims.
		answer = SOLD_OUT
	elseif n >= free then
		answer = NOT_YET
		reply[8] = released_in(made + free)
	else
		n = n + 1
		winners[n], place[user] = i, i
	end
	if answer then
		reply[8 + i] = answer
	end
end

-- The packets, if they are not in the list, and what is left after them.
local popped, balance, claimed = nil, nil, nil
if live and n > 0 then
--#include money.lua
--#include live.lua
end

local witness = args[1] ~= '' and 'w:' .. args[1]
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
local stored = {}
local sub = string.sub
local tranche, tail, tens = 0, nil, nil
last = 0
for k = 1, n do
	local seq, i = made + k, winners[k]
	local user = args[3 + i]
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
	local claim = sub(popped[k], 1, -2) .. ',"userId":"' .. user ..
		'","seq":' .. tens .. digits[digit] .. tail
	stored[2 * k - 1], stored[2 * k] = user, claim
	popped[k], reply[8 + i] = claim, claim
end
call('HSET', USERS, unpack(stored))
call('LPUSH', CLAIMS, unpack(popped))

for i, first in pairs(repeats) do
	reply[8 + i] = held(reply[8 + first])
end
reply[5], reply[6] = left - n, made + n
return reply
