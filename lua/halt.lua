-- To halt an activity. For activity.lua: it adds to its steps.

-- The check of a halt is made here again: who saw it fail may have read half
-- of a change. Returns the reason, or nil.
local checks = {}

function checks.counts()
	if not type_ok(PACKETS, USERS, CLAIMS, RELAY) then
		return 'a key of the activity has the wrong type'
	end
	return miscounted()
end

function checks.claim(seq, text)
	if call('LINDEX', CLAIMS, '-' .. seq) ~= text then
		return 'claim ' .. seq .. ' is not what it was'
	end
end

function checks.element(seq)
	local text = call('LINDEX', CLAIMS, '-' .. seq)
	if not text or not string.find(text, '^{"redPacketId":"[^"]+",' ..
		'"amount":"[%d.]+","userId":"[^"]+","seq":' .. seq ..
		',"atMs":%d+,"tranche":%d+}$') then
		return 'element ' .. seq .. ' of the claims is not the claim ' .. seq
	end
end

function checks.user(user)
	if not call('HGET', USERS, user) then
		return 'user ' .. user .. ' has a claim and is not among the users'
	end
end

function checks.evidence(reason)
	return reason
end

function steps.halt()
	if state == 'HALTED' then
		return head('ALREADY', 'is HALTED already')
	end
	local reason = nil
	if state == 'OPEN' or state == 'PAUSED' or state == 'CLOSED' then
		reason = checks[ARGV[3]](ARGV[4], ARGV[5])
	else
		-- The state itself may be what somebody wrote.
		reason = type_ok(PACKETS, USERS, CLAIMS, RELAY) and
			contradiction(state, call('LLEN', CLAIMS) +
			call('HLEN', USERS), nil, meta.settled_ms)
		if not reason then
			return wrong_state()
		end
		reason = 'the state is ' .. state .. ', but ' .. reason
	end
	if not reason then
		return head('DIFFERENT', 'the check holds: not halted')
	end
	local reply = change('HALTED', { 'reason', reason }, 'halted',
		'reason', reason)
	if reply[1] == 'OK' then
		reply[5] = reason
	end
	return reply
end
