#!lua flags=no-writes
-- What the relay publishes next: README.md has the arguments and the reply.
--#include common.lua
--#include money.lua
--#include change.lua

-- Many activities are read many times a second: what is not needed is not read,
-- and nothing twice.
local code = read_meta({ 'schema', 'state', 'revision', 'incarnation',
	'unlinked', 'packets', 'mode', 'left', 'events_missing', 'final_left',
	'final_claims', 'final_users', 'settled_ms', 'cancelled_ms' })
if code then
	return head(code)
end
local counts, refused = read_counts(try)
if refused then
	return head(refused)
end
if meta.incarnation ~= incarnation() then
	code = 'INCARNATION'
end
if meta.unlinked then
	code = 'UNLINKED'
end
local counted = { LOADED = true, OPEN = true, PAUSED = true, CLOSED = true,
	HALTED = true, SETTLED = true }
if not code and (counted[state] and (meta.packets or state ~= 'SETTLED') or
	counts.made > 0) and not counts_hold(counts) then
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

local r, made, told = counts.relay, counts.made, counts.told
local claims_at, events_at = tonumber(ARGV[1]), tonumber(ARGV[3])
if claims_at < 0 then
	claims_at = tonumber(count_of(r[1]))
end
if events_at < 0 then
	events_at = tonumber(count_of(r[2]))
end
local events_most = tonumber(ARGV[4])
if events_missing(told) ~= 0 then
	-- One of them is a stranger's, or one is gone: a person must look.
	events_most = 0
end
return head(code or 'OK', r[3] or '', count_of(r[4]), count_of(r[5]),
	count_of(r[1]), count_of(r[2]), made, told,
	after(CLAIMS, made, claims_at, tonumber(ARGV[2])),
	after(EVENTS, told, events_at, events_most),
	packets_left(counts.listed), counts.have)
