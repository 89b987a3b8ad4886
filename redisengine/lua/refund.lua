-- Takes grants of one set of charges back, or forgets all. Twin of Call.Refund in internal/inline/decide.go.
--
-- KEYS, ARGV: inline_limits.lua. Then the tags; none: forget all that is stored.
-- Reply: {now}, then for each tag how many permits it freed, over all charges.

-- How many units the debt falls if the grant at a place had never been: its cost less what has flowed back for nothing, as the bucket would
-- have been full without it.
local function unspent(s, l, at)
  local cost = s.p[at] * l.cost
  if reserved(s.f[at]) and s.d[at] * 1000 > now then
    return min(cost, s.debt)
  end
  local taken = s.d[at] * 1000 - (reserved(s.f[at]) and 0 or 999) -- the date of what was taken at once is rounded up
  local least, debt, since = s.debt, s.debt, s.mark
  local first = at -- of those of its millisecond: a reservation among them is used later than what was taken at once
  while first > 1 and s.d[first - 1] == s.d[at] do
    first = first - 1
  end
  for i = s.n, first, -1 do
    if i > at or i < at and reserved(s.f[i]) then
      if reserved(s.f[i]) then
        local passed = min(ticks_of(l, cost), floor(max(0, now - taken) / l.tick))
        return min(max(0, cost - passed * l.leak), s.debt)
      end
      debt = debt + floor(max(0, since - s.d[i] * 1000) / l.tick) * l.leak
      since = min(since, s.d[i] * 1000)
      debt = debt - s.p[i] * l.cost
      least = min(least, debt)
    end
  end
  return max(0, min(cost, least))
end

local function refund(tag)
  local freed = 0
  for i = 1, #limits do
    local l = limits[i]
    local s = states[l.at] or open(l.at, l)
    local at = find(s, tag)
    if at then
      tabled(s)
      if l.kind ~= BUCKET then
        freed = freed + remove(s, at)
      else
        local units = unspent(s, l, at)
        remove(s, at)
        local debt = max(s.debt - units, owed(s, from(s, up + 1), s.n + 1) * l.cost)
        freed = freed + floor((s.debt - debt) / l.cost)
        s.debt = debt
      end
      close(s, l)
    end
  end
  return freed
end

if next_arg > #ARGV then
  for i = 1, #KEYS do
    call('DEL', KEYS[i])
  end
  return {now}
end
local reply = {now}
for i = next_arg, #ARGV do
  reply[#reply + 1] = refund(ARGV[i])
end
for i = 1, #limits do
  mend(states[limits[i].at], limits[i])
end
save()
return reply
