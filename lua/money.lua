-- What the packets of a live activity are drawn from: fields of meta. Not in
-- common.lua: a grab from a list would make them for nothing.
local drawn_from = { 'balance', 'claimed_cents', 'total_cents', 'min_cents',
	'max_cents', 'id_base', 'seed', 'commitment' }

-- Why no packet can be drawn where `left` of them are left, or nil. p are the
-- fields above; max_cents 0 is no bound.
local function undrawable(left, p)
	for i = 1, 6 do
		if not string.find(p[i] or '', '^%d+$') then
			return drawn_from[i] .. ' is no number'
		end
	end
	local balance, total = tonumber(p[1]), tonumber(p[3])
	local max = tonumber(p[5])
	if balance + p[2] ~= total then
		return p[1] .. ' cents left and ' .. p[2] .. ' in claims are not the ' ..
			p[3] .. ' cents of the activity'
	elseif balance < left * p[4] or max > 0 and balance > left * max or
		left == 0 and balance > 0 then
		return p[1] .. ' cents cannot be the money of ' .. left .. ' packets'
	elseif #p[6] < 10 or not string.find(p[7] or '', '^%x+$') or
		#p[7] ~= 64 then
		return 'id_base or seed is none'
	end
end
