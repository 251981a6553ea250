-- What the steps have in common that act for a person or for the relay: meta,
-- read and checked, and the head of their reply. Who reads only some fields of
-- it must name all that the functions here look at: any other is nil.

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

-- Reads meta, or these fields of it: all of them are many. nil, or the code to
-- refuse with.
local function read_meta(fields)
	local found = fields and try('HMGET', META, unpack(fields)) or
		try('HGETALL', META)
	if found.err then
		return refusal(found.err)
	end
	if fields then
		for i, name in ipairs(fields) do
			meta[name] = found[i] or nil
		end
	else
		for i = 1, #found, 2 do
			meta[found[i]] = found[i + 1]
		end
	end
	if not meta.schema and call('HLEN', META) == 0 then
		return 'NO_META'
	end
	if meta.schema ~= '1' or not state_known[meta.state or ''] or
		not string.find(meta.revision or '', '^%d+$') then
		return 'SCHEMA'
	end
	state, revision = meta.state, meta.revision
end

-- Reads meta, as above. same: the incarnation must be the one that the activity
-- was verified against.
local function sound(same, fields)
	local code = read_meta(fields)
	if code then
		return code
	end
	if not type_ok(PACKETS, USERS, CLAIMS, EVENTS, RELAY) then
		return 'TYPE'
	end
	if same and meta.incarnation ~= incarnation() then
		return 'INCARNATION'
	end
end

-- How many events are missing, or too many if it is negative: every step but
-- `loading` makes one, and a person may have accepted that some are not there.
local function events_missing(told)
	if state == 'CREATED' or state == 'CANCELLED' or state == 'SETTLED' then
		return 0
	end
	return revision - 1 - (tonumber(meta.events_missing) or 0) -
		(told or call('LLEN', EVENTS))
end

local function packets_left(listed)
	if meta.mode == 'live' then
		return left_of(meta.left)
	end
	return listed or call('LLEN', PACKETS)
end

-- Why nothing can be drawn of a live activity, or nil.
local function live_wrong()
	return undrawable(packets_left(), call('HMGET', META, unpack(drawn_from)))
end

-- What the counts are made of, read by `call` or `try`; nil and the code to
-- refuse with, if one of the keys can't be read.
local function read_counts(read)
	local c = { listed = read('LLEN', PACKETS), made = read('LLEN', CLAIMS),
		have = read('HLEN', USERS), told = read('LLEN', EVENTS),
		relay = read('HMGET', RELAY, 'claims', 'events', 'owner',
			'lease_until', 'generation') }
	for _, found in pairs(c) do
		if type(found) == 'table' and found.err then
			return nil, refusal(found.err)
		end
	end
	return c
end

-- Why what is in Redis cannot be what the steps made of it, or nil: no packet
-- and no claim comes or goes but by a grab. Once it is closed none may come or
-- go: a halted activity is closed with what there is.
local function miscounted(c)
	c = c or read_counts(call)
	local left, made, have = packets_left(c.listed), c.made, c.have
	local told, cursor = c.told, c.relay
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
		wrong = c.listed > 0 and
			'somebody made a list of packets' or live_wrong()
		if wrong then
			return wrong
		end
	end
	if made < (tonumber(cursor[1] or 0) or 2 ^ 53) then
		return cursor[1] .. ' claims were published, here are ' .. made
	elseif told < (tonumber(cursor[2] or 0) or 2 ^ 53) then
		return cursor[2] .. ' events were published, here are ' .. told
	elseif events_missing(told) ~= 0 then
		return told .. ' events do not fit revision ' .. revision
	end
end

local function counts_hold(c)
	return not miscounted(c)
end
