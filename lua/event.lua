-- How a step leads an activity on: the fields of meta, and the event that tells
-- everybody.

local function event(kind, ...)
	local fields = { ... }
	local text = '{"type":"' .. kind .. '","revision":' .. revision ..
		',"atMs":' .. now
	for i = 1, #fields, 2 do
		text = text .. ',"' .. fields[i] .. '":' ..
			cjson.encode(tostring(fields[i + 1]))
	end
	call('LPUSH', EVENTS, text .. '}')
end

-- One step onward: the fields to write, then the event, or nil for none.
local function change(to, fields, kind, ...)
	if not allowed({ 'HSET', META, 'f', 'v' },
		{ 'LPUSH', EVENTS, 'e' }) then
		return head('ACL', 'Redis does not allow HSET and LPUSH on the keys')
	end
	state, revision = to, string.format('%.0f', revision + 1)
	local set = { 'state', state, 'revision', revision, 'updated_ms', now }
	for i = 1, #fields do
		set[#set + 1] = fields[i]
	end
	call('HSET', META, unpack(set))
	if kind then
		event(kind, ...)
	end
	return head('OK', '')
end
