#!lua
-- Open the list for a chunk of the plan: README.md has the arguments, the
-- reply, and the transaction that this is the first command of. The packets do
-- not come through here, for to make strings of Lua of them costs more than to
-- push them. The offset makes a chunk that is sent twice harmless.
--#include common.lua
--#include money.lua
--#include change.lua

local GATE = KEYS[7]
local offset, n, first = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local code = sound(true)
if code then
	return head(code)
end
if state ~= 'LOADING' then
	return head('STATE', call('LLEN', PACKETS))
end
local length = call('LLEN', PACKETS)
if meta.mode == 'live' then
	-- Its packets are drawn while people grab.
	return head('DIFFERENT', length)
end
if call('LLEN', CLAIMS) + call('HLEN', USERS) > 0 or
	call('TYPE', GATE).ok ~= 'none' then
	-- The state is a stranger's: packets of these claims would come again.
	-- Or the gate is, which no transaction leaves open.
	return head('COUNTS', length)
end
if length ~= offset or offset + n > tonumber(field('count')) then
	return head('ORDER', length)
end
if not allowed({ 'MULTI' }, { 'EXEC' }, { 'LPUSH', GATE, 'p' },
		{ 'LPUSHX', GATE, 'p' }, { 'RENAMENX', PACKETS, GATE },
		{ 'RENAMENX', GATE, PACKETS }) then
	return head('ACL', length)
end
if length > 0 then
	call('RENAMENX', PACKETS, GATE)
end
call('LPUSH', GATE, first)
return head('OK', length + n)
