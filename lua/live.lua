	-- The packets of the winners of a live activity, each drawn from what is
	-- left: the part of grab.lua that a list spares the others. The rule is
	-- that of docs/fairness.md (lib/plan/allocate.c). Numbers are whole, and
	-- none passes 2^53, up to which Lua's are exact.
	local p = call('HMGET', META, unpack(drawn_from))
	local wrong = undrawable(left, p)

	-- The draws are those of the places from `first` on, 12 bytes each, of the
	-- seed that this commitment is of: else nothing is done but to tell it.
	local first, of, from = string.match(draws, '^(%d+) (%x+) ()')
	first = tonumber(first or '')
	if not wrong and (not first or of ~= p[8] or made + 1 < first or
		made + n >= first + math.floor((#draws + 1 - from) / 12)) then
		local more = call('HMGET', META, 'entropy', 'plan')
		return { 'DRAWS', now, revision, state, left, made, total, 0, p[7],
			more[1] or '', more[2] or '', p[8] or '' }
	end

	-- floor(draw * bound / 2^96), the draw's bytes big-endian, by 24 bits.
	local byte, floor = string.byte, math.floor
	local function scaled(at, bound)
		local below = bound % 2 ^ 24
		local above = (bound - below) / 2 ^ 24
		local carry = 0
		for i = at + 9, at, -3 do
			local a, b, c = byte(draws, i, i + 2)
			local limb = a * 65536 + b * 256 + c
			local low = carry % 2 ^ 24
			carry = limb * above + (carry - low) / 2 ^ 24 +
				floor((limb * below + low) / 2 ^ 24)
		end
		return carry
	end

	local min, max = tonumber(p[4] or ''), tonumber(p[5] or '')
	max = max ~= 0 and max or tonumber(p[3] or '')
	local function share(place, packets, cents)
		local others = packets - 1
		if others == 0 then
			return cents
		end
		local mean, lo = floor(cents / packets), min
		if max <= floor(cents / others) then
			lo = math.max(min, cents - others * max)
		end
		local half = math.min(mean - lo,
			math.min(max, cents - others * min) - mean)
		if half <= 0 then
			return math.max(lo, mean)
		end
		return mean - half + scaled(from + 12 * (place - first),
			2 * half + 1)
	end

	local high, low = string.match(p[6] or '', '^(%d+)(%d%d%d%d%d%d%d%d%d)$')
	local function packet(place, cents)
		local n, part = low + place - 1, cents % 100
		return string.format('{"redPacketId":"%.0f%09.0f",' ..
			'"amount":"%.0f.%02.0f"}', high + floor(n / 1e9), n % 1e9,
			(cents - part) / 100, part)
	end

	if wrong then
		-- Nobody wins of what can't be, and none of it is sold out.
		for i = 1, count do
			reply[8 + i] = known[i] and reply[8 + i] or BUSY
		end
		reply[1], n, repeats = 'COUNTS', 0, {}
	else
		balance, popped = tonumber(p[1]), {}
		for k = 1, n do
			local cents = share(made + k, left - k + 1, balance)
			balance = balance - cents
			popped[k] = packet(made + k, cents)
		end
		claimed = p[3] - balance
	end
