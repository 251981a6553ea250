#!lua flags=allow-oom
-- The relay's lease and its cursors: README.md has the operations.
--#include common.lua
--#include money.lua
--#include change.lua

local operation, owner, generation = ARGV[1], ARGV[2], ARGV[3]
local code = sound(operation == 'advance', { 'schema', 'state', 'revision',
	'incarnation', 'unlinked' })
if not code and meta.unlinked then
	code = 'UNLINKED'
end
if code then
	return head(code)
end

local r = call('HMGET', RELAY, 'owner', 'lease_until', 'generation', 'claims',
	'events')
local owned_by, lease_until = r[1] or '', count_of(r[2])
local at_generation = count_of(r[3])
local claims_at, events_at = count_of(r[4]), count_of(r[5])
local ours = owned_by ~= '' and owned_by == owner and
	at_generation == generation

local function answer(answer_code)
	return head(answer_code, at_generation, lease_until, claims_at, events_at)
end

local function write(...)
	if not allowed({ 'HSET', RELAY, 'f', 'v' }) then
		return answer('ACL')
	end
	call('HSET', RELAY, ...)
	r = call('HMGET', RELAY, 'owner', 'lease_until', 'generation', 'claims',
		'events')
	lease_until, at_generation = count_of(r[2]), count_of(r[3])
	claims_at, events_at = count_of(r[4]), count_of(r[5])
	return answer('OK')
end

local function next_generation()
	return string.format('%.0f', at_generation + 1)
end

local steps = {}

function steps.acquire()
	-- No lease is longer than a minute: that one was given by another clock.
	local free = owned_by == '' or tonumber(lease_until) <= now or
		tonumber(lease_until) > now + 60000
	if owned_by == owner then
		return write('lease_until', now + ARGV[4])
	end
	if not free then
		return answer('LEASE')
	end
	return write('owner', owner, 'generation', next_generation(),
		'lease_until', now + ARGV[4])
end

-- A lease that lapsed is still ours until somebody else takes it.
function steps.renew()
	if not ours then
		return answer('LEASE')
	end
	return write('lease_until', now + ARGV[4])
end

function steps.advance()
	local claims, events = tonumber(ARGV[4]), tonumber(ARGV[5])
	if not ours then
		return answer('LEASE')
	end
	if claims < tonumber(claims_at) or events < tonumber(events_at) or
		claims > call('LLEN', CLAIMS) or events > call('LLEN', EVENTS) then
		return answer('ORDER')
	end
	if claims == tonumber(claims_at) and events == tonumber(events_at) then
		return answer('ALREADY')
	end
	return write('claims', ARGV[4], 'events', ARGV[5])
end

function steps.release()
	if not ours then
		return answer('LEASE')
	end
	return write('owner', '', 'lease_until', '0')
end

-- Publishing again is harmless, so anybody may ask for it; the new generation
-- stops an owner who would move the cursors on from where it stood.
function steps.rewind()
	local seq = tonumber(ARGV[4])
	if seq > call('LLEN', CLAIMS) then
		return answer('ORDER')
	end
	return write('owner', '', 'lease_until', '0', 'generation',
		next_generation(), 'events', '0', 'claims',
		string.format('%.0f', math.min(seq, tonumber(claims_at))))
end

local step = steps[operation]
if not step then
	return redis.error_reply('ERR no operation ' .. operation)
end
return step()
