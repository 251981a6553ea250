	-- The packets of the winners of a live activity, each drawn from what is
	-- left: the part of grab.lua that a list spares the others. The rule is
	-- that of docs/fairness.md (lib/plan/allocate.c). Numbers are whole, and
	-- none passes 2^53, up to which Lua's are exact.
	local p = call('HMGET', META, unpack(drawn_from))
	local wrong = undrawable(left, p)

	-- The draws are those of the places from `first` on, 12 bytes each, of the
	-- seed that this commitment is of: else nothing is done but to tell it.
	local first, of, from = string.match(draws or '', '^(%d+) (%x+) ()')
	first = tonumber(first or '')
	if not wrong and (not first or of ~= p[8] or made + 1 < first or
		made + #winners >= first + math.floor((#draws + 1 - from) / 12)) then
		local more = call('HMGET', META, 'entropy', 'plan')
		return { 'DRAWS', now, revision, state, left, made, total, 0, p[7],
			more[1] or '', more[2] or '', p[8] or '' }
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

	local min, max = tonumber(p[4] or ''), tonumber(p[5] or '')
	max = max ~= 0 and max or tonumber(p[3] or '')
	local function share(place, packets, cents)
		local others = packets - 1
		if others == 0 then
			return cents
		end
		local mean, lo = math.floor(cents / packets), min
		if max <= math.floor(cents / others) then
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
	local function id_of(place)
		local n = low + place - 1
		return string.format('%.0f%09.0f', high + math.floor(n / 1e9),
			n % 1e9)
	end

	if wrong then
		-- Nobody wins of what can't be, and none of it is sold out.
		for at = 9, 7 + 2 * count, 2 do
			reply[at] = reply[at + 1] == '' and BUSY or reply[at]
		end
		reply[1], winners, repeats = 'COUNTS', {}, {}
	else
		balance, popped = tonumber(p[1]), {}
		for k = 1, #winners do
			local cents = share(made + k, left - k + 1, balance)
			local text = string.format('%03.0f', cents)
			balance = balance - cents
			popped[k] = '{"redPacketId":"' .. id_of(made + k) ..
				'","amount":"' .. string.sub(text, 1, -3) .. '.' ..
				string.sub(text, -2) .. '"}'
		end
		claimed = p[3] - balance
	end
