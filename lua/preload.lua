#!lua
-- Push a chunk of the plan: README.md has the arguments and the reply. The
-- offset makes a chunk that is sent twice harmless.
--#include common.lua
--#include money.lua
--#include change.lua

local offset, n = tonumber(ARGV[1]), #ARGV - 1
if n > 1000 then
	return redis.error_reply('ERR more than 1000 packets in a chunk')
end
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
if call('LLEN', CLAIMS) + call('HLEN', USERS) > 0 then
	-- The state is a stranger's: packets of these claims would come again.
	return head('COUNTS', length)
end
if length ~= offset or offset + n > tonumber(field('count')) then
	return head('ORDER', length)
end
if n == 0 then
	return head('OK', length)
end
if not allowed({ 'LPUSH', PACKETS, 'p' }) then
	return head('ACL', length)
end
return head('OK', call('LPUSH', PACKETS, unpack(ARGV, 2)))
