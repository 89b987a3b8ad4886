-- Decides calls under limits that travel with them, each for all its charges or none. Twin of internal/inline/decide.go.
--
-- KEYS, ARGV: inline_limits.lua. Then for each call: how many charges, for each of them its place in the list of limits and its permits; then the patience
-- in microseconds, how long to wait at least, units (0: once, n: as often as can be had at once, up to n), 1 for a peek, the tag.
-- Reply: {now}, then for each call: 0 refused or 1 granted, its units, the wait, and for each charge its own wait, the remaining
-- permits, the reset; or 2, the place of the charge that asks for more than its limit ever gives, 0. Times are microseconds.
-- What it calls: TIME, a GET for each key, and for a grant a SET for each.

local MOST_WAITING = 1000
local reply = {now}

local function say(status, units, wait)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = status, units, wait
end

local function say_parts(charges, waits)
  for i = 1, #charges do
    local c, n = charges[i], #reply
    reply[n + 1], reply[n + 2], reply[n + 3] = waits and waits[i] or 0, free(c.s, c.l), reset(c.s, c.l)
  end
end

-- Answers a call that has been granted before: its answer was lost, and it was sent again.
local function again(charges, tag)
  local wait, units, found = 0, 1, false
  for i = 1, #charges do
    local c = charges[i]
    local at = c.n > 0 and find(c.s, tag)
    if at then
      tabled(c.s)
      units, found = max(1, floor(c.s.p[at] / c.n)), true
      if reserved(c.s.f[at]) then
        wait = max(wait, c.s.d[at] * 1000 - now)
      end
    end
  end
  if found then
    say(1, units, wait)
    say_parts(charges)
  end
  return found
end

-- How many times the charges can be had now, up to so many.
local function room(charges, units)
  for i = 1, #charges do
    local c = charges[i]
    if c.n > 0 then
      units = min(units, floor(free(c.s, c.l) / c.n))
    end
  end
  return units
end

-- The earliest moment at which all charges can be had, and for each how long it would have to wait by itself. What one of them allows the
-- next may not, so it goes round until all agree.
local function settle(charges, units, waits, least)
  local moment, own = now + least, {}
  for i = 1, #charges do
    local c = charges[i]
    own[i] = 0
    if c.n > 0 then
      local m = place(c.s, c.l, c.n * units, now, c.s.n + 1, waits)
      own[i], moment = m - now, max(moment, m)
    end
  end
  local agreed, rounds = #charges == 1 and least == 0, 0
  while not agreed do
    if rounds == MOST_ROUNDS then
      return NEVER, own
    end
    agreed, rounds = true, rounds + 1
    for i = 1, #charges do
      local c = charges[i]
      if c.n > 0 then
        local m = place(c.s, c.l, c.n * units, moment, c.s.n + 1, waits)
        agreed, moment = agreed and m == moment, m
      end
    end
  end
  return moment, own
end

-- Whether as many wait already as can.
local function crowded(charges)
  for i = 1, #charges do
    local s = charges[i].s
    if s.d and s.n - (from(s, up + 1) - 1) >= MOST_WAITING then
      return true
    end
  end
  return false
end

local function write(charges, units, moment, own, tag)
  for i = 1, #charges do
    local c = charges[i]
    local s, l, permits = c.s, c.l, c.n * units
    if permits > 0 then
      local date, flags = date_of(s, l, permits, moment, moment - now == own[i], s.n + 1)
      if l.kind == BUCKET then
        s.debt = s.debt + permits * l.cost
      end
      if not s.d and flags == 0 and s.n < (l.kind == SLIDING and MOST_ENTRIES or MOST_OTHERS) and (s.n == 0 or date >= s.last or l.unit > 1) then
        append(s, l, date, permits, tag)
      else
        tabled(s)
        insert(s, l, date, permits, flags, tag)
        close(s, l)
      end
    end
  end
end

local function decide(charges, patience, least, units, peek, tag)
  for i = 1, #charges do
    local c = charges[i]
    if c.n > c.l.most then
      return say(2, i - 1, 0)
    end
  end
  for i = 1, #charges do
    charges[i].s = open(charges[i].l.at, charges[i].l)
  end
  if again(charges, tag) then
    return
  end
  local times = units > 0 and max(1, min(units, room(charges, units))) or 1
  local moment, own = settle(charges, times, patience > 0, least)
  local wait = moment - now
  if wait <= patience and (wait == 0 or units == 0 and not crowded(charges)) then
    if not peek then
      write(charges, times, moment, own, tag)
    end
    say(1, times, wait)
  else
    say(0, 0, wait)
  end
  say_parts(charges, own)
end

local i = next_arg
while ARGV[i] do
  local charges = {}
  local count = tonumber(ARGV[i])
  for k = 1, count do
    charges[k] = {l = limits[tonumber(ARGV[i + 2 * k - 1])], n = tonumber(ARGV[i + 2 * k])}
  end
  i = i + 2 * count + 1
  decide(charges, tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3] == '1', ARGV[i + 4])
  for k = 1, count do -- the next call begins with what is stored
    local at = charges[k].l.at
    if states[at] and ARGV[i + 3] ~= '1' then
      mend(states[at], charges[k].l)
    end
    if states[at] and not states[at].wrote then
      states[at] = nil
    end
  end
  i = i + 5
end
save()
return reply
