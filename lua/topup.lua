#!lua
-- Another tranche while people grab: README.md has the operations. It is
-- announced first, which funds it; then its packets come in chunks, each in
-- the list and in meta at once.
--#include common.lua
--#include money.lua
--#include change.lua
--#include event.lua

local TRANCHES_MAX, PACKETS_MAX, CENTS_MAX = 16, 10000000, 2 ^ 53 - 1

local operation, number = ARGV[1], tonumber(ARGV[2])
local name = 't' .. ARGV[2] .. '_'

local function text(n)
	return string.format('%.0f', n)
end

-- A number of the tranche's text.
local function planned(plan, field_name)
	return tonumber(string.match(plan, '\n' .. field_name .. '=(%d+)\n'))
end

local function running()
	return state == 'OPEN' or state == 'PAUSED'
end

local steps = {}

-- Why this tranche can't be the next one, or nil.
local function refused(packets, cents)
	local ends = tonumber(meta.end_ms)
	local all = meta.all_cents or meta.total_cents
	if not running() then
		return 'STATE', 'topup is not possible in state ' .. state
	elseif ends > 0 and now >= ends then
		return 'STATE', 'topup is not possible: its end is past'
	elseif meta.algorithm == 'adopted' then
		return 'DIFFERENT', 'has an adopted list: nothing can be added to it'
	elseif meta.mode == 'live' then
		return 'DIFFERENT', 'is drawn while people grab: ' ..
			'nothing can be added to it'
	elseif meta.topup then
		return 'STATE', 'has tranche ' .. meta.topup .. ' still to load: ' ..
			'ask for that top-up again first'
	elseif tonumber(meta.tranches) >= TRANCHES_MAX then
		return 'DIFFERENT', 'has ' .. meta.tranches ..
			' tranches, no more are allowed'
	elseif number ~= meta.tranches + 1 then
		return 'DIFFERENT', 'has tranche ' .. meta.tranches ..
			', so the next one is ' .. text(meta.tranches + 1) ..
			', not ' .. text(number)
	elseif meta.packets + packets > PACKETS_MAX then
		return 'DIFFERENT', 'has ' .. meta.packets .. ' packets, and with ' ..
			text(packets) .. ' more it would have over ' ..
			text(PACKETS_MAX)
	elseif all + cents > CENTS_MAX then
		return 'DIFFERENT', 'has ' .. all .. ' cents, and with ' ..
			text(cents) .. ' more it would have over ' .. text(CENTS_MAX)
	elseif not counts_hold() then
		return 'COUNTS', miscounted()
	end
end

function steps.announce()
	local plan, seed, commitment, id_base = unpack(ARGV, 3)
	local there = meta[name .. 'plan']
	if there == plan then
		return head('ALREADY', 'has tranche ' .. text(number) .. ' already')
	elseif there then
		return head('DIFFERENT', 'has another tranche ' .. text(number))
	end
	local packets = planned(plan, 'packets')
	local cents = planned(plan, 'total_cents')
	local code, why = refused(packets, cents)
	if code then
		return head(code, why)
	end
	local all = text((meta.all_cents or meta.total_cents) + cents)
	return change(state, { 'topup', text(number), 'topup_cents', text(cents),
		'all_cents', all, name .. 'plan', plan, name .. 'seed', seed,
		name .. 'commitment', commitment, name .. 'id_base', id_base },
		'topped_up', 'tranche', text(number), 'packets', text(packets),
		'total_cents', text(cents), 'commitment', commitment)
end

-- How many packets there are before the tranche, and how many of it; nil if
-- meta contradicts itself.
local function places()
	local ends = {}
	for place in string.gmatch(meta.tranche_ends or '', '%d+') do
		ends[#ends + 1] = tonumber(place)
	end
	local before = ends[number - 1]
	if meta.topup ~= text(number) or not before or #ends > number or
		ends[#ends] ~= tonumber(meta.packets) then
		return nil
	end
	ends[number] = nil
	return before, meta.packets - before, table.concat(ends, ',')
end

-- What is left of the tranche's money after the packets in ARGV, or nil.
local function rest_of(cents)
	for i = 4, #ARGV do
		local whole, part = string.match(ARGV[i],
			'^{"redPacketId":"%d+","amount":"(%d+)%.(%d%d)"}$')
		if not whole then
			return nil
		end
		cents = cents - whole * 100 - part
	end
	return cents
end

function steps.load()
	local offset, n = tonumber(ARGV[3]), #ARGV - 3
	local size = planned(meta[name .. 'plan'] or '', 'packets')
	if not size then
		return head('DIFFERENT', 0, 'has no tranche ' .. text(number))
	elseif number <= tonumber(meta.tranches) then
		return head('ALREADY', size, 'has tranche ' .. text(number) ..
			' already')
	end
	local before, there, ends = places()
	if not before then
		return head('SCHEMA', 0, 'has tranches that do not fit its packets')
	elseif not running() then
		return head('STATE', there, 'topup is not possible in state ' .. state)
	elseif not counts_hold() then
		return head('COUNTS', there, miscounted())
	elseif offset ~= there or offset + n > size then
		return head('ORDER', there, '')
	elseif n == 0 then
		return head('OK', there, '')
	end
	local last, rest = there + n == size, rest_of(tonumber(meta.topup_cents))
	if not rest or rest < 0 or last ~= (rest == 0) then
		return head('DIFFERENT', there, 'has other packets in tranche ' ..
			text(number))
	end
	if not allowed({ 'LPUSH', PACKETS, 'p' }, { 'HSET', META, 'f', 'v' },
		{ 'HDEL', META, 'f' }) then
		return head('ACL', there,
			'Redis does not allow LPUSH, HSET and HDEL on the keys')
	end
	local total = text(before + there + n)
	call('HSET', META, 'packets', total, 'tranche_ends', ends .. ',' .. total,
		'topup_cents', text(rest), 'updated_ms', now)
	if last then
		call('HSET', META, 'tranches', text(number))
		call('HDEL', META, 'topup', 'topup_cents')
	end
	call('LPUSH', PACKETS, unpack(ARGV, 4))
	return head('OK', there + n, '')
end

if #ARGV > 1003 then
	return redis.error_reply('ERR more than 1000 packets in a chunk')
end
local step = steps[operation]
if not step or not number then
	return redis.error_reply('ERR no operation ' .. operation)
end
local code = sound(true)
if not code and meta.unlinked then
	code = 'UNLINKED'
end
if code then
	return head(code)
end
return step()
