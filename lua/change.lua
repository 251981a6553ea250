-- What the steps have in common that act for a person or for the relay: meta,
-- read whole and checked, and the head of their reply.

local meta, state, revision = {}, '', 0
local function field(name)
	return meta[name]
end

local function head(code, ...)
	return { code, now, revision, state, ... }
end

-- What the relay keeps, as decimal text: no field of it makes a step fail.
local function count_of(text)
	return text and string.find(text, '^%d+$') and text or '0'
end

local expected = { [PACKETS] = 'list', [USERS] = 'hash', [CLAIMS] = 'list',
	[EVENTS] = 'list', [META] = 'hash', [RELAY] = 'hash' }
local function type_ok(...)
	for _, key in ipairs({ ... }) do
		local found = call('TYPE', key).ok
		if found ~= 'none' and found ~= expected[key] then
			return false
		end
	end
	return true
end

-- Reads meta. nil, or the code to refuse with. same: the incarnation must be
-- the one that the activity was verified against.
local function sound(same)
	if not type_ok(META) then
		return 'TYPE'
	end
	local flat = call('HGETALL', META)
	for i = 1, #flat, 2 do
		meta[flat[i]] = flat[i + 1]
	end
	if #flat == 0 then
		return 'NO_META'
	end
	if meta.schema ~= '1' or not state_known[meta.state or ''] or
		not string.find(meta.revision or '', '^%d+$') then
		return 'SCHEMA'
	end
	state, revision = meta.state, meta.revision
	if not type_ok(PACKETS, USERS, CLAIMS, EVENTS, RELAY) then
		return 'TYPE'
	end
	if same and meta.incarnation ~= incarnation() then
		return 'INCARNATION'
	end
end

-- How many events are missing, or too many if it is negative: every step but
-- `loading` makes one, and a person may have accepted that some are not there.
local function events_missing()
	if state == 'CREATED' or state == 'CANCELLED' or state == 'SETTLED' then
		return 0
	end
	return revision - 1 - (tonumber(meta.events_missing) or 0) -
		call('LLEN', EVENTS)
end

local function packets_left()
	if meta.mode == 'live' then
		return left_of(meta.left)
	end
	return call('LLEN', PACKETS)
end

-- Why nothing can be drawn of a live activity, or nil.
local function live_wrong()
	local fields = {}
	for i, name in ipairs(drawn_from) do
		fields[i] = meta[name] or false
	end
	return undrawable(packets_left(), fields)
end

-- Why what is in Redis cannot be what the steps made of it, or nil: no packet
-- and no claim comes or goes but by a grab. Once it is closed none may come or
-- go: a halted activity is closed with what there is.
local function miscounted()
	local left, made = packets_left(), call('LLEN', CLAIMS)
	local have, told = call('HLEN', USERS), call('LLEN', EVENTS)
	local cursor = call('HMGET', RELAY, 'claims', 'events')
	local as, wrong = nil, contradiction(state, made + have,
		meta.final_claims, meta.settled_ms, meta.cancelled_ms)
	if wrong then
		return 'the state is ' .. state .. ', but ' .. wrong
	end
	if meta.final_users and (state == 'CLOSED' or state == 'SETTLED') then
		as = left == tonumber(meta.final_left) and
			made == tonumber(meta.final_claims) and
			have == tonumber(meta.final_users)
	else
		as = left + made == tonumber(meta.packets or -1) and have == made
	end
	if not as then
		return 'packets ' .. string.format('%.0f', left) ..
			', claims ' .. made .. ', users ' ..
			have .. ' do not fit the ' ..
			(meta.packets or 'unknown number of') ..
			' packets of the activity'
	end
	-- Closed, it is what it is: it is counted then.
	if meta.mode == 'live' and state ~= 'CLOSED' and state ~= 'SETTLED' then
		wrong = call('LLEN', PACKETS) > 0 and
			'somebody made a list of packets' or live_wrong()
		if wrong then
			return wrong
		end
	end
	if made < (tonumber(cursor[1] or 0) or 2 ^ 53) then
		return cursor[1] .. ' claims were published, here are ' .. made
	elseif told < (tonumber(cursor[2] or 0) or 2 ^ 53) then
		return cursor[2] .. ' events were published, here are ' .. told
	elseif events_missing() ~= 0 then
		return told .. ' events do not fit revision ' .. revision
	end
end

local function counts_hold()
	return not miscounted()
end
