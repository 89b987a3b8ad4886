-- Moves reservations of one set of charges as far ahead as those in front of them allow. Twin of Call.Look in internal/inline/decide.go.
--
-- KEYS, ARGV: inline_limits.lua. Then 1 to move, 0 only to say where they are; then the tags, in the order of the line.
-- Reply: {now}, then for each: 1 and how far away it is in microseconds, or 0, 0 when it is not there.

local reply = {now}

local function look(tag)
  local places, date, movable, there = {}, 0, true, false
  for i = 1, #limits do
    local s = states[limits[i].at] or open(limits[i].at, limits[i])
    tabled(s)
    places[i] = find(s, tag)
    local at = places[i]
    if at then
      there, date, movable = true, max(date, s.d[at]), movable and reserved(s.f[at])
    end
  end
  if not there then
    return 0, 0
  elseif not movable or date <= up or ARGV[next_arg] == '0' then
    return 1, date * 1000 - now
  end
  local moment, own, agreed, rounds = up * 1000, {}, false, 0
  while not agreed do
    if rounds == MOST_ROUNDS then
      return 1, date * 1000 - now
    end
    agreed = true
    for i = 1, #limits do
      local l, at = limits[i], places[i]
      if at then
        local s = states[l.at]
        if rounds == 0 then
          own[i] = place(s, l, s.p[at], up * 1000, at, true)
        end
        local m = place(s, l, s.p[at], moment, at, true)
        agreed, moment = agreed and m == moment, m
      end
    end
    rounds = rounds + 1
  end
  if moment >= date * 1000 then
    return 1, date * 1000 - now
  end
  for i = 1, #limits do
    local l, at = limits[i], places[i]
    if at then
      local s = states[l.at]
      local permits = remove(s, at)
      local to, flags = date_of(s, l, permits, moment, own[i] == moment, at)
      insert(s, l, to, permits, flags - flags % 2 + RESERVED, tag)
      close(s, l)
    end
  end
  return 1, moment - now
end

for i = next_arg + 1, #ARGV do
  reply[#reply + 1], reply[#reply + 2] = look(ARGV[i])
end
for i = 1, #limits do
  mend(states[limits[i].at], limits[i])
end
save()
return reply
