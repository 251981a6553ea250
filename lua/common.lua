-- What every step begins with: its keys, the time, the incarnation, and the
-- head of its reply. Every script that includes this file must declare all of
-- KEYS, also those that it does not use: they share one hash tag.

local PACKETS, USERS, CLAIMS, EVENTS, META, RELAY = unpack(KEYS)
local call, try = redis.call, redis.pcall

local t = call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

-- The Redis process and history that answers: run_id alone survives a demotion
-- and re-promotion, which can lose writes; the replication id does not.
local function incarnation()
	local info = call('INFO', 'server', 'replication')
	local _, run = string.find(info, '\nrun_id:', 1, true)
	local _, repl = string.find(info, '\nmaster_replid:', run, true)
	return string.sub(info, run + 1, run + 40) .. '/' ..
		string.sub(info, repl + 1, repl + 40)
end

local state_known = { CREATED = true, LOADING = true, LOADED = true,
	OPEN = true, PAUSED = true, HALTED = true, CLOSED = true,
	SETTLED = true, CANCELLED = true }

-- What no step writes together: somebody else changed the state. claims is
-- how many there are; the others are fields of meta, false or nil if missing.
local function contradiction(state, claims, closed, settled, cancelled)
	if state == 'OPEN' or state == 'PAUSED' or state == 'CLOSED' then
		if cancelled then
			return 'it was cancelled'
		elseif closed and state ~= 'CLOSED' then
			return 'it was closed'
		elseif not closed and state == 'CLOSED' then
			return 'nothing closed it'
		end
	elseif state == 'SETTLED' then
		return not settled and 'nothing settled it' or nil
	elseif state ~= 'HALTED' and claims > 0 then
		return 'it has claims'
	end
end

-- The code for a read that failed inside redis.pcall.
local function refusal(err)
	return string.find(err, 'WRONGTYPE', 1, true) and 'TYPE' or 'ACL'
end

-- Nothing may fail half-way, for the writes before would stay: so every write
-- to come is asked for first. The commands are arrays.
local function allowed(...)
	for _, command in ipairs({ ... }) do
		if not redis.acl_check_cmd(unpack(command)) then
			return false
		end
	end
	return true
end

-- Of a live activity no list is in Redis: meta says what is left. A number of
-- meta, and one that no count can fit if it is none.
local function left_of(text)
	return string.find(text or '0', '^%d+$') and tonumber(text or 0) or 2 ^ 53
end
