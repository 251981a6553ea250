	-- The packets of the winners of a live activity, each drawn from what is
	-- left: the part of grab.lua that a list spares the others. The rule is
	-- that of docs/fairness.md (lib/plan/allocate.c). Numbers are whole, and
	-- none passes 2^53, up to which Lua's are exact.
	local p = call('HMGET', META, 'balance', 'total_cents', 'min_cents',
		'max_cents', 'id_base', 'seed', 'entropy')
	local min, max = tonumber(p[3] or ''), tonumber(p[4] or '')
	local high, low = string.match(p[5] or '', '^(%d+)(%d%d%d%d%d%d%d%d%d)$')
	if not min or not max or not high then
		return { 'SCHEMA', now, revision, state, 0, 0, 0, 0 }
	end

	-- The draws are of the places from `first` on, 12 bytes each.
	local first, from = string.match(draws or '', '^(%d+) ()')
	first = tonumber(first or '')
	if not first or made + 1 < first or
		made + #winners >= first + (#draws + 1 - from) / 12 then
		return { 'DRAWS', now, revision, state, left, made, total, 0,
			p[6] or '', p[7] or '' }
	end

	-- floor(draw * bound / 2^96), the draw's bytes big-endian, by 24 bits.
	local function scaled(at, bound)
		local above, below = math.floor(bound / 2 ^ 24), bound % 2 ^ 24
		local carry = 0
		for i = at + 9, at, -3 do
			local a, b, c = string.byte(draws, i, i + 2)
			local limb = a * 65536 + b * 256 + c
			carry = limb * above + math.floor(carry / 2 ^ 24) +
				math.floor((limb * below + carry % 2 ^ 24) / 2 ^ 24)
		end
		return carry
	end

	local function share(place, packets, cents)
		local others = packets - 1
		if others == 0 then
			return cents
		end
		local lo = min
		local hi = math.min(max, cents - others * min)
		if max <= math.floor(cents / others) then
			lo = math.max(min, cents - others * max)
		end
		hi = math.max(lo,
			math.min(hi, 2 * math.floor(cents / packets) - min))
		return lo + scaled(from + 12 * (place - first), hi - lo + 1)
	end

	local function id_of(place)
		local n = low + place - 1
		return string.format('%.0f%09.0f', high + math.floor(n / 1e9),
			n % 1e9)
	end

	if balance_fits(left, p[1], min, max) then
		max = max > 0 and max or tonumber(p[2])
		balance = tonumber(p[1])
		popped = {}
		for k = 1, #winners do
			local cents = share(made + k, left - k + 1, balance)
			local text = string.format('%03.0f', cents)
			balance = balance - cents
			popped[k] = '{"redPacketId":"' .. id_of(made + k) ..
				'","amount":"' .. string.sub(text, 1, -3) .. '.' ..
				string.sub(text, -2) .. '"}'
		end
	else
		-- Nobody wins of what can't be.
		for at in pairs(repeats) do
			winners[#winners + 1] = at
		end
		for _, at in ipairs(winners) do
			reply[at] = BUSY
		end
		reply[1], winners, repeats = 'COUNTS', {}, {}
	end
