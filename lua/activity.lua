#!lua flags=allow-oom
-- The states of an activity: README.md has the operations. Each compares the
-- state, writes, adds one to the revision and pushes the event, or does
-- nothing at all.
--#include common.lua
--#include money.lua
--#include change.lua
--#include event.lua

local operation, expected_revision = ARGV[1], ARGV[2]

local function wrong_state(sentence)
	return head('STATE', sentence or
		operation .. ' is not possible in state ' .. state)
end

local function wrong_counts()
	return head('COUNTS', miscounted() or packets_left() ..
		' packets are not what the step expects')
end

-- Who goes on after a halt accepts the events that are there.
local function accept_events(fields)
	if state == 'HALTED' then
		fields[#fields + 1] = 'events_missing'
		fields[#fields + 1] = (tonumber(meta.events_missing) or 0) +
			events_missing()
	end
	return fields
end

-- A change of state that carries nothing but a reason.
local function move(from, to, kind, reason)
	if state == to then
		return head('ALREADY', 'is ' .. to .. ' already')
	end
	if not from[state] then
		return wrong_state()
	end
	reason = reason or ARGV[3] or ''
	local fields = accept_events({ 'reason', reason })
	if to == 'CANCELLED' then
		fields[3], fields[4] = 'cancelled_ms', now
	end
	return change(to, fields, kind, 'reason', reason)
end

local steps = {}

-- Before any packet is made of the seed; once.
function steps.entropy()
	if meta.entropy == ARGV[3] then
		return head('ALREADY', 'has this entropy already')
	end
	if state ~= 'CREATED' then
		return wrong_state()
	end
	if meta.algorithm == 'adopted' then
		return head('DIFFERENT', 'has packets that are not made of a seed: ' ..
			'entropy would change nothing')
	end
	if meta.entropy then
		return head('DIFFERENT', 'has other entropy already')
	end
	return change('CREATED', { 'entropy', ARGV[3], 'entropy_by', ARGV[4],
		'entropy_ms', now }, 'entropy', 'entropy', ARGV[3], 'by', ARGV[4])
end

-- The entropy that the newest two events have; CREATED has no more of them.
local function entropy_on_record()
	for _, text in ipairs(call('LRANGE', EVENTS, 0, 1)) do
		if string.find(text, '{"type":"entropy",', 1, true) == 1 then
			return string.match(text, '"entropy":"(%x+)"')
		end
	end
end

function steps.loading()
	-- What nobody was told of must not choose the packets.
	local begins = state == 'CREATED' or state == 'LOADING'
	if begins and entropy_on_record() ~= meta.entropy then
		return head('DIFFERENT', 'has other entropy than its events: cancel it')
	end
	return move({ CREATED = true }, 'LOADING', nil)
end

function steps.loaded()
	if state == 'LOADED' then
		return head('ALREADY', 'is LOADED already')
	end
	if state ~= 'LOADING' then
		return wrong_state()
	end
	local count, length = meta.count, call('LLEN', PACKETS)
	local live = meta.mode == 'live'
	if length ~= (live and 0 or tonumber(count)) then
		return head('COUNTS', 'there are ' .. length ..
			' packets in Redis, and ' .. count .. ' in the plan')
	end
	if call('LLEN', CLAIMS) ~= 0 or call('HLEN', USERS) ~= 0 then
		return wrong_counts()
	end
	if ARGV[3] ~= meta.total_cents then
		return head('DIFFERENT', 'the plan has ' .. meta.total_cents ..
			' cents, not ' .. ARGV[3])
	end
	local fields = { 'packets', count, 'tranches', '1', 'tranche_ends', count,
		'reason', '' }
	if live then
		fields[9], fields[10] = 'left', count
		fields[11], fields[12] = 'balance', meta.total_cents
		fields[13], fields[14] = 'claimed_cents', '0'
	end
	return change('LOADED', fields, 'loaded', 'tranche', '1',
		'packets', count, 'total_cents', ARGV[3])
end

function steps.open()
	if state == 'OPEN' then
		return head('ALREADY', 'is OPEN already')
	end
	if state ~= 'LOADED' then
		return wrong_state()
	end
	if packets_left() ~= tonumber(ARGV[3]) or not counts_hold() then
		return wrong_counts()
	end
	if meta.mode == 'live' and meta.balance ~= meta.total_cents then
		return head('DIFFERENT', 'has ' .. meta.balance ..
			' cents in Redis, and ' .. meta.total_cents .. ' in the plan')
	end
	local fields = { 'reason', '', 'opened_ms', now }
	if ARGV[4] then
		fields[5], fields[6] = 'list', ARGV[4]
	end
	return change('OPEN', fields, 'opened', 'packets', meta.packets)
end

function steps.pause()
	return move({ OPEN = true }, 'PAUSED', 'paused')
end

function steps.resume()
	if state == 'HALTED' then
		-- Its final numbers and its seed are public.
		if meta.final_claims then
			return wrong_state('was closed before it was halted: ' ..
				'it can only be closed again')
		end
		-- Whoever opens it again shall know what happened.
		return move({ HALTED = true }, 'PAUSED', 'resumed',
			(ARGV[3] or '') .. '; it was halted: ' .. (meta.reason or ''))
	end
	if state == 'PAUSED' and not counts_hold() then
		return wrong_counts()
	end
	return move({ PAUSED = true }, 'OPEN', 'resumed')
end

-- A tranche of which some packets are there, and not all.
local function half_loaded()
	local _, begun = string.gsub(meta.tranche_ends or '', '%d+', '')
	return meta.topup and begun >= tonumber(meta.topup)
end

-- The seeds of the tranches after the first, as a field of an event.
local function topup_seeds()
	local seeds, n = {}, 2
	while meta['t' .. n .. '_seed'] do
		seeds[#seeds + 1], n = meta['t' .. n .. '_seed'], n + 1
	end
	return #seeds > 0 and { 'topup_seeds', table.concat(seeds, ',') } or {}
end

function steps.close()
	if state == 'CLOSED' then
		return head('ALREADY', 'is CLOSED already')
	end
	if state ~= 'OPEN' and state ~= 'PAUSED' and state ~= 'HALTED' then
		return wrong_state()
	end
	if state ~= 'HALTED' and not counts_hold() then
		return wrong_counts()
	end
	-- What was promised is given, or nothing of it.
	if state ~= 'HALTED' and half_loaded() then
		return wrong_state('tranche ' .. meta.topup .. ' is half loaded: ' ..
			'ask for the same top-up again, then close it')
	end
	if meta.leftover_cents then
		-- Halted after it was counted: count again.
		if not allowed({ 'HDEL', META, 'f' }, { 'HSET', META, 'f', 'v' },
			{ 'LPUSH', EVENTS, 'e' }) then
			return head('ACL', 'Redis does not allow HDEL on meta')
		end
		call('HDEL', META, 'leftover_cents')
	end
	local made, left = call('LLEN', CLAIMS), packets_left()
	local seeds = topup_seeds()
	local fields = { 'reason', ARGV[3] or '', 'final_claims', made,
		'final_users', call('HLEN', USERS) }
	if meta.mode == 'live' then
		-- What nobody claimed is left, whatever was written there.
		left = math.max(0, (tonumber(meta.count or '') or 0) - made)
		fields[7], fields[8] = 'left', left
	end
	fields[#fields + 1], fields[#fields + 2] = 'final_left', left
	return change('CLOSED', accept_events(fields), 'closed', 'claims', made,
		'packets_left', left, 'seed', meta.seed or '', unpack(seeds))
end

-- cents are those of the packets that are left. What of a tranche was never
-- loaded is funded too, and nobody can win it.
function steps.counted()
	local left = ARGV[4]
	if state ~= 'CLOSED' then
		return wrong_state()
	end
	local cents = string.format('%.0f', ARGV[3] + (meta.topup_cents or 0))
	if meta.leftover_cents == cents and meta.final_left == left then
		return head('ALREADY', 'is counted already')
	end
	if meta.leftover_cents then
		return head('DIFFERENT', 'was counted already, with ' ..
			meta.leftover_cents .. ' cents')
	end
	if left ~= meta.final_left or packets_left() ~= tonumber(left) then
		return wrong_counts()
	end
	-- Halted as its money did not fit, it was counted by its claims.
	if meta.mode == 'live' and ARGV[3] ~= meta.balance and
		not live_wrong() then
		return head('DIFFERENT', 'has ' .. meta.balance ..
			' cents left, not ' .. ARGV[3])
	end
	local all = meta.all_cents or meta.total_cents
	if tonumber(cents) > tonumber(all) or
		(tonumber(left) == 0) ~= (tonumber(ARGV[3]) == 0) then
		return head('DIFFERENT', cents .. ' cents cannot be in ' .. left ..
			' packets of ' .. all)
	end
	return change('CLOSED', { 'leftover_cents', cents }, 'counted',
		'leftover_cents', cents, 'packets_left', left)
end

function steps.cancel()
	return move({ CREATED = true, LOADING = true, LOADED = true },
		'CANCELLED', 'cancelled')
end

--#include halt.lua

function steps.settled()
	if state == 'SETTLED' then
		return head('ALREADY', 'is SETTLED already')
	end
	if state == 'CLOSED' and not meta.leftover_cents then
		return wrong_state('is closed, but what is left is not counted yet')
	end
	if state ~= 'CLOSED' and state ~= 'CANCELLED' then
		return wrong_state()
	end
	return change('SETTLED', { 'settled_ms', now, 'reason', ARGV[3] or '' },
		'settled', 'reason', ARGV[3] or '')
end

function steps.unlink()
	if state ~= 'SETTLED' then
		return wrong_state()
	end
	local cursors = call('HMGET', RELAY, 'claims', 'events')
	if tonumber(count_of(cursors[1])) ~= call('LLEN', CLAIMS) or
		tonumber(count_of(cursors[2])) ~= call('LLEN', EVENTS) then
		return head('ORDER', 'not everything is published yet')
	end
	if not allowed({ 'UNLINK', PACKETS, USERS, CLAIMS, EVENTS }) then
		return head('ACL', 'Redis does not allow UNLINK on the keys')
	end
	local reply = change('SETTLED', { 'unlinked', '1' })
	if reply[1] == 'OK' then
		call('UNLINK', PACKETS, USERS, CLAIMS, EVENTS)
	end
	return reply
end

local function create()
	if not type_ok(META) then
		return head('TYPE', 'meta is not a hash')
	end
	local found = call('HMGET', META, 'schema', 'plan', 'state', 'revision')
	state, revision = found[3] or '', found[4] or 0
	local fields = { 'schema', '1', 'incarnation', incarnation(),
		'created_ms', now, 'tranches', '0', 'reason', '' }
	for i = 3, #ARGV, 2 do
		meta[ARGV[i]] = ARGV[i + 1]
		fields[#fields + 1] = ARGV[i]
		fields[#fields + 1] = ARGV[i + 1]
	end
	if call('HLEN', META) > 0 then
		if found[1] ~= '1' then
			return head('SCHEMA', 'exists in another schema')
		end
		if found[2] == meta.plan then
			return head('ALREADY', 'exists with this plan')
		end
		return head('DIFFERENT', 'exists with another plan')
	end
	for _, key in ipairs({ PACKETS, USERS, CLAIMS, EVENTS, RELAY }) do
		local found = call('TYPE', key).ok
		if found ~= 'none' and not (key == PACKETS and found == 'list' and
			meta.algorithm == 'adopted') then
			return head('DIFFERENT', key .. ' exists, but no activity')
		end
	end
	return change('CREATED', fields, 'created', 'title', meta.title,
		'sponsor', meta.sponsor, 'currency', meta.currency,
		'total_cents', meta.total_cents, 'packets', meta.count,
		'commitment', meta.commitment, 'start_ms', meta.start_ms,
		'end_ms', meta.end_ms, 'ack', meta.ack)
end

if operation == 'create' then
	return create()
end
local step = steps[operation]
if not step then
	return redis.error_reply('ERR no operation ' .. operation)
end
local trusted = operation == 'halt' and ARGV[3] == 'evidence'
local code = sound(not trusted)
-- Halting is what one does about a stranger's key: only its own two matter.
if code == 'TYPE' and operation == 'halt' and state ~= '' and
	type_ok(EVENTS) then
	code = not trusted and meta.incarnation ~= incarnation() and
		'INCARNATION' or nil
end
if not code and meta.unlinked and operation ~= 'unlink' then
	code = 'UNLINKED'
elseif not code and meta.unlinked then
	code = 'ALREADY'
end
if code then
	return head(code, '')
end
local reply = nil
if expected_revision ~= '' and expected_revision ~= revision then
	-- Asked again after a lost reply, the same step is done already.
	local before = revision
	local done = { loading = 'LOADING', loaded = 'LOADED', open = 'OPEN',
		pause = 'PAUSED', close = 'CLOSED', cancel = 'CANCELLED',
		halt = 'HALTED', settled = 'SETTLED' }
	if done[operation] == state then
		reply = head('ALREADY', 'is ' .. state .. ' already')
	else
		reply = head('REVISION', 'the revision is ' .. before .. ', not ' ..
			expected_revision)
	end
end
return reply or step()
