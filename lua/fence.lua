#!lua flags=allow-oom
-- After a restart or a failover of Redis: show that nothing was lost, then
-- go on with the new incarnation. README.md has the operations.
--#include common.lua
--#include money.lua
--#include change.lua

local operation = ARGV[1]
local code = sound(false)
if not code and meta.unlinked then
	code = 'UNLINKED'
end
if not code and not allowed({ 'HSET', RELAY, 'f', 'v' },
	{ 'HDEL', RELAY, 'f' }, { 'HSET', META, 'f', 'v' }) then
	code = 'ACL'
end
if code then
	return head(code, '')
end
local this = incarnation()

local steps = {}

function steps.confirm()
	local seq, user = ARGV[3], ARGV[4]
	if seq ~= '0' then
		local claim = call('LINDEX', CLAIMS, '-' .. seq)
		if not claim or not string.find(claim, '"userId":"' .. user .. '",',
			1, true) then
			return head('LOST', 'claim ' .. seq .. ' of user ' .. user ..
				' is not there')
		end
	end
	if tonumber(revision) < tonumber(ARGV[5]) then
		return head('LOST', 'the revision was ' .. ARGV[5] ..
			' and is ' .. revision)
	end
	local told = call('LLEN', EVENTS)
	if told < tonumber(ARGV[6]) then
		return head('LOST', 'there were ' .. ARGV[6] ..
			' events and are ' .. told)
	end
	-- It is said again and again while others are waited for: written once.
	local witness, word = 'w:' .. ARGV[2], 'ok ' .. this
	if call('HGET', RELAY, witness) ~= word then
		call('HSET', RELAY, witness, word)
	end
	return head('OK', '')
end

-- Why what is in Redis cannot be all that there was; nil if it can.
local function missing(claims, least_revision)
	local made, told = call('LLEN', CLAIMS), call('LLEN', EVENTS)
	local cursor = call('HMGET', RELAY, 'claims', 'events')
	if made < tonumber(claims) then
		return 'the ledger knows ' .. claims .. ' claims, here are ' .. made
	elseif tonumber(revision) < tonumber(least_revision) then
		return 'the ledger knows revision ' .. least_revision ..
			', here is ' .. revision
	elseif made < tonumber(count_of(cursor[1])) then
		return cursor[1] .. ' claims were published, here are ' .. made
	elseif told < tonumber(count_of(cursor[2])) then
		return cursor[2] .. ' events were published, here are ' .. told
	end
end

function steps.stamp()
	local r = call('HGETALL', RELAY)
	local relay, silent = {}, {}
	for i = 1, #r, 2 do
		relay[r[i]] = r[i + 1]
		if string.sub(r[i], 1, 2) == 'w:' and r[i + 1] ~= 'ok ' .. this then
			silent[#silent + 1] = r[i]
		end
	end
	if (relay.owner or '') ~= ARGV[2] or relay.generation ~= ARGV[3] then
		return head('LEASE', '')
	end
	if meta.incarnation == this then
		return head('ALREADY', '')
	end
	local lost = missing(ARGV[4], ARGV[5])
	if lost then
		return head('LOST', lost)
	end
	local counted = { LOADED = true, OPEN = true, PAUSED = true,
		CLOSED = true }
	local wrong = counted[state] and miscounted()
	if wrong then
		return head('COUNTS', wrong)
	end
	if #silent > 0 then
		if relay.fence_for ~= this then
			relay.fence_since = now
			call('HSET', RELAY, 'fence_for', this, 'fence_since', now)
		end
		local over = count_of(relay.fence_since) + ARGV[6]
		if now < over then
			return head('WITNESS', #silent .. ' of those who served it ' ..
				'have not confirmed what they saw', over - now, #silent,
				string.sub(silent[1], 3))
		end
		call('HDEL', RELAY, unpack(silent))
	end
	call('HSET', META, 'incarnation', this)
	call('HDEL', RELAY, 'fence_for', 'fence_since')
	return head('OK', '')
end

function steps.leave()
	call('HDEL', RELAY, 'w:' .. ARGV[2])
	return head('OK', '')
end

local step = steps[operation]
if not step then
	return redis.error_reply('ERR no operation ' .. operation)
end
return step()
