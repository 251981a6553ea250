-- What grab and result have in common: the refusals that need no user, and
-- what a user without a claim is told where nothing can be won.

-- rain.Status of proto/rain/gateway.proto, without those that have a packet
local SOLD_OUT, NOT_STARTED, NOT_YET, PAUSED, ENDED = 3, 4, 5, 6, 7
local BUSY, PENDING = 11, 12

local users_max = 1000
-- ARGV: a witness, the draws, the deadlines, and then the users. A local is
-- quicker to read than a global.
local args = ARGV
local draws, count = args[2], #args - 3
if count > users_max then
	return redis.error_reply('ERR more than 1000 users in a batch')
end

local m = try('HMGET', META, 'schema', 'state', 'revision', 'incarnation',
	'packets', 'start_ms', 'end_ms', 'tranche_ends', 'unlinked',
	'final_claims', 'settled_ms', 'cancelled_ms', 'release_ms',
	'opened_ms', 'mode')
if m.err then
	return { refusal(m.err), now, 0, '', 0, 0, 0, 0 }
end
local state, revision = m[2], m[3]
if m[1] ~= '1' then
	local code = call('HLEN', META) == 0 and 'NO_META' or 'SCHEMA'
	return { code, now, revision or 0, state or '', 0, 0, 0, 0 }
end
-- Who can't tell where it stands says nothing final.
if not state_known[state or ''] or
	not string.find(revision or '', '^%d+$') then
	return { 'SCHEMA', now, 0, '', 0, 0, 0, 0 }
end
if m[9] then
	return { 'UNLINKED', now, revision, state, 0, 0, 0, 0 }
end

-- These two read the types on the way: a TYPE for each key would cost more.
local left, made = try('LLEN', PACKETS), try('LLEN', CLAIMS)
local have = try('HLEN', USERS)
local relay = try('HMGET', RELAY, 'claims', 'w:' .. args[1])
for _, length in ipairs({ left, made, have, relay }) do
	if type(length) == 'table' and length.err then
		return { refusal(length.err), now, revision, state, 0, 0, 0, 0 }
	end
end

local live = m[15] == 'live'
if live then
	-- A list is a stranger's; closed, nothing comes of it any more.
	local closed = state == 'CLOSED' or state == 'SETTLED'
	left = left > 0 and not closed and 2 ^ 53 or
		left_of(call('HGET', META, 'left'))
end

local total = tonumber(m[5] or 0)
local starts, ends = tonumber(m[6] or ''), tonumber(m[7] or '')
local release, opened = tonumber(m[13] or 0), tonumber(m[14] or 0)
if not starts or not ends or not total or not release or not opened then
	return { 'SCHEMA', now, revision, state, 0, 0, 0, 0 }
end
local wait = starts > now and starts - now or 0

-- How many packets may be taken by now, those that are claims included, and
-- the milliseconds until more than n may: evenly over `release` from the
-- start, the first one at once.
local begins = math.max(starts, opened)
local function released()
	if release <= 0 or now >= begins + release then
		return total
	end
	return math.min(total,
		math.floor(total * math.max(0, now - begins) / release) + 1)
end
local function released_in(n)
	return math.max(1, begins + math.ceil(n * release / total) - now)
end

local early = state == 'CREATED' or state == 'LOADING' or state == 'LOADED'
local cancelled = state == 'CANCELLED'
-- What is published has been claimed, and claims do not go away.
local published = tonumber(relay[1] or 0) or made + 1
local absurd = published > made or
	contradiction(state, made + have, m[10], m[11], m[12])

if not early and not cancelled and m[4] ~= incarnation() then
	return { 'INCARNATION', now, revision, state, 0, 0, 0, 0 }
end

-- What somebody without a claim is told; nil where a packet can be won.
-- A halted activity has been found out already: its counts are not news.
local code, closed_to_all = 'OK', nil
if absurd and state ~= 'HALTED' then
	code, closed_to_all = 'COUNTS', BUSY
elseif early then
	closed_to_all = NOT_STARTED
elseif cancelled then
	closed_to_all = ENDED
elseif state == 'HALTED' then
	closed_to_all = PAUSED
elseif (left + made ~= total or have ~= made) and
	(m[5] or state ~= 'SETTLED') then
	-- What was cancelled before it was loaded has no number of packets.
	code, closed_to_all = 'COUNTS', BUSY
elseif state == 'CLOSED' or state == 'SETTLED' then
	closed_to_all = ENDED
elseif wait > 0 then
	closed_to_all = NOT_STARTED
elseif state == 'PAUSED' then
	closed_to_all = PAUSED
elseif state ~= 'OPEN' or ends > 0 and now >= ends then
	closed_to_all = ENDED
end

-- Users one behind another have the same deadline: `late` is whether it has
-- passed for those up to number `upto`.
local runs, upto, late = string.gmatch(args[3], '(%d+) (%d+)'), 0, nil
local function next_deadline()
	local n, not_after_ms = runs()
	upto, late = upto + n, now > tonumber(not_after_ms)
end

-- What is told of a claim that was there before.
local function held(claim)
	return '*' .. claim
end

-- Nobody has a claim in an empty hash: before the first win, and when all
-- that is asked is the time.
local known = {}
if have > 0 and count > 0 then
	known = call('HMGET', USERS, unpack(args, 4))
end
