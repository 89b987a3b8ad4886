-- What flows back into a bucket. Twin of internal/inline/bucket.go.

-- How many ticks it takes for units to flow back.
local function ticks_of(l, units)
  return ceil_of(units / l.leak)
end

-- Lets the debt flow back until a moment. What is less than a tick is kept for the next time.
local function flow(s, l, till)
  local ticks = floor(max(0, till - s.mark) / l.tick)
  s.mark = s.mark + ticks * l.tick
  s.debt = ticks >= ticks_of(l, s.debt) and 0 or s.debt - ticks * l.leak
end

-- Lets flow back what does until now, but never below what pending reservations have taken.
local function leak(s, l)
  if s.cost ~= l.cost and s.cost ~= 0 then
    s.debt = ceil_of(s.debt / s.cost * l.cost)
  end
  s.cost = l.cost
  if not s.d then
    s.debt = min(s.debt, l.room)
    return flow(s, l, now)
  end
  local first = from(s, floor(s.mark / 1000) + 1)
  local owes, most = owed(s, first, s.n + 1), l.room
  if owes > 0 then
    local away = floor(max(0, s.d[s.n] * 1000 - s.mark) / l.tick) + 1
    most = most + min(away, floor(MOST_DEBT / l.leak)) * l.leak
  end
  s.debt = min(s.debt, most)
  for i = first, s.n do
    if s.d[i] * 1000 > now then
      break
    end
    if reserved(s.f[i]) then
      flow(s, l, s.d[i] * 1000)
      s.debt = max(s.debt, owes * l.cost)
      owes = owes - s.p[i]
    end
  end
  flow(s, l, now)
  s.debt = max(s.debt, owes * l.cost)
end
