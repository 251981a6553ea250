-- What the steps have in common that act for a person or for the relay: meta,
-- read whole and checked, and the head of their reply.

local meta, state, revision = {}, '', 0
local function field(name)
	return meta[name]
end

local function head(code, ...)
	return { code, now, revision, state, ... }
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
	if not type_ok(META, RELAY) then
		return 'TYPE'
	end
	local flat = call('HGETALL', META)
	for i = 1, #flat, 2 do
		meta[flat[i]] = flat[i + 1]
	end
	if #flat == 0 then
		return 'NO_META'
	end
	state, revision = meta.state or '', meta.revision or 0
	if meta.schema ~= '1' then
		return 'SCHEMA'
	end
	if not type_ok(PACKETS, USERS, CLAIMS, EVENTS) then
		return 'TYPE'
	end
	if same and meta.incarnation ~= incarnation() then
		return 'INCARNATION'
	end
end

-- Whether no packet and no claim came or went but by a grab. Once it is closed
-- none may come or go: a halted activity is closed with what there is.
local function counts_hold()
	local left, made = call('LLEN', PACKETS), call('LLEN', CLAIMS)
	local have = call('HLEN', USERS)
	if meta.final_users and (state == 'CLOSED' or state == 'SETTLED') then
		return left == tonumber(meta.final_left) and
			made == tonumber(meta.final_claims) and
			have == tonumber(meta.final_users)
	end
	return left + made == tonumber(meta.packets or -1) and have == made
end
