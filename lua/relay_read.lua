#!lua flags=no-writes
-- What the relay publishes next: README.md has the arguments and the reply.
--#include common.lua
--#include change.lua

local code = sound(true)
if code and code ~= 'INCARNATION' then
	return head(code)
end
if meta.unlinked then
	code = 'UNLINKED'
end
local counted = { LOADED = true, OPEN = true, PAUSED = true, CLOSED = true,
	HALTED = true, SETTLED = true }
if not code and counted[state] and meta.packets and not counts_hold() then
	code = 'COUNTS'
end

-- The elements after the first `read`, at most `most`, oldest first; the
-- newest is at the head of the list.
local function after(key, length, read, most)
	local out = {}
	if most > 0 and read < length and code ~= 'INCARNATION' then
		local found = call('LRANGE', key, -(read + most), -(read + 1))
		for i = #found, 1, -1 do
			out[#out + 1] = found[i]
		end
	end
	return out
end

local r = call('HMGET', RELAY, 'owner', 'lease_until', 'generation', 'claims',
	'events')
local claims_at, events_at = tonumber(ARGV[1]), tonumber(ARGV[3])
if claims_at < 0 then
	claims_at = tonumber(r[4] or 0)
end
if events_at < 0 then
	events_at = tonumber(r[5] or 0)
end
local made, told = call('LLEN', CLAIMS), call('LLEN', EVENTS)
return head(code or 'OK', r[1] or '', r[2] or '0', r[3] or '0', r[4] or '0',
	r[5] or '0', made, told,
	after(CLAIMS, made, claims_at, tonumber(ARGV[2])),
	after(EVENTS, told, events_at, tonumber(ARGV[4])),
	call('LLEN', PACKETS), call('HLEN', USERS))
