-- When permits can be had. Twin of internal/inline/place.go. Moments are microseconds, dates and windows milliseconds.

local NEVER = (down + 200 * 365 * 24 * 3600 * 1000) * 1000 -- later than anybody waits
local MOST_ROUNDS = 1000 -- in which charges look for a moment that suits all

-- The date of the last of the entries before a place who waits for this limit; 0 if nobody does.
local function barrier(s, upto)
  if s.d then
    for i = upto - 1, 1, -1 do
      if s.d[i] <= up then
        break
      end
      if floor(s.f[i] / BOUND) % 2 == 1 then
        return s.d[i]
      end
    end
  end
  return 0
end

-- When the current window begins. Without grants that of the first call is not older than now.
local function window(s, l)
  if l.kind == ALIGNED then
    return down - down % l.interval
  end
  if s.n == 0 then
    return up
  end
  local first = s.d and s.d[1] or s.first
  if first > up then
    first = first - ceil_of((first - up) / l.interval) * l.interval
  end
  return first
end

-- How many permits before a place count in a window.
local function within(s, l, w, upto)
  if not s.d then
    if s.n > 0 and s.first >= w and s.last < w + l.interval then
      return s.sum
    elseif s.n == 0 or s.last < w then
      return 0
    end
    tabled(s)
  end
  return sum(s, min(upto, from(s, w)), min(upto, from(s, w + l.interval)))
end

local function place_sliding(s, l, n, after, upto)
  local used = s.sum
  if upto <= s.n then
    used = sum(s, 1, upto)
  end
  local missing = n - (l.rate - used)
  if missing <= 0 then
    return after
  end
  if s.d then
    for i = 1, upto - 1 do
      missing = missing - s.p[i]
      if missing <= 0 then
        return max(after, (s.d[i] + l.interval) * 1000)
      end
    end
    return after
  end
  local pos, date = s.pos, s.first
  for i = 1, s.n do
    local away, permits, _, _, next_pos = entry_at(s.raw, pos, s.unit)
    if not away then
      break
    end
    if i > 1 then
      date = date + away
    end
    missing, pos = missing - permits, next_pos
    if missing <= 0 then
      return max(after, (date + l.interval) * 1000)
    end
  end
  return after
end

local function place_bucket(s, l, n, after, upto, waits)
  local debt = s.debt
  if upto <= s.n then
    debt = debt - owed(s, upto, s.n + 1) * l.cost
  end
  if debt + n * l.cost > MOST_DEBT then
    return max(after, NEVER)
  end
  local mark, target = s.mark, l.room - n * l.cost
  if s.d then -- at the date of each pending reservation the debt is at least what those from there on have taken, as in leak
    local first = min(from(s, floor(mark / 1000) + 1), upto)
    local owes = owed(s, first, upto)
    for i = first, upto - 1 do
      if reserved(s.f[i]) then
        local date = s.d[i] * 1000
        if target >= owes * l.cost and mark + ticks_of(l, max(0, debt - target)) * l.tick <= date and after <= date then
          break
        end
        local t = floor(max(0, date - mark) / l.tick)
        mark = mark + t * l.tick
        debt = max(debt - t * l.leak, owes * l.cost)
        owes = owes - s.p[i]
      end
    end
  end
  if debt > target then
    after = max(after, mark + ticks_of(l, debt - target) * l.tick)
  end
  if waits and after > now then
    after = ceil_of(after / 1000) * 1000
  end
  return after
end

local function place_fixed(s, l, n, after, upto)
  local current, d = window(s, l), floor(after / 1000)
  local w = current
  if d >= w + l.interval then
    w = w + floor((d - w) / l.interval) * l.interval
  end
  while within(s, l, w, upto) + n > l.rate do
    w = w + l.interval
  end
  if w > current then
    after = max(after, w * 1000)
  end
  return after, w
end

-- The earliest moment, not before after, at which n permits can be had if only the entries before a place are reckoned with; and the window,
-- for the fixed kinds. For a caller who waits it is a whole millisecond.
local function place(s, l, n, after, upto, waits)
  if n > l.most then -- a reservation that was made under a higher limit
    return max(after, NEVER)
  end
  local b = barrier(s, upto)
  if b ~= 0 then
    after = max(after, b * 1000)
  end
  if l.kind == SLIDING then
    return place_sliding(s, l, n, after, upto)
  elseif l.kind == BUCKET then
    return place_bucket(s, l, n, after, upto, waits)
  end
  return place_fixed(s, l, n, after, upto)
end

-- How many permits can be had now.
local function free(s, l)
  if barrier(s, s.n + 1) ~= 0 then
    return 0
  elseif l.kind == SLIDING then
    return max(0, l.rate - s.sum)
  elseif l.kind == BUCKET then
    return floor(max(0, l.room - s.debt) / l.cost)
  end
  return max(0, l.rate - within(s, l, window(s, l), s.n + 1))
end

-- In how many microseconds all permits are free if nobody takes any.
local function reset(s, l)
  if l.kind == BUCKET then
    return s.debt == 0 and 0 or max(0, s.mark + ticks_of(l, s.debt) * l.tick - now)
  elseif s.n == 0 then
    return 0
  end
  return max(0, ((s.d and s.d[s.n] or s.last) + l.interval) * 1000 - now)
end

-- The date and flags of an entry for a moment at which it is to be had.
local function date_of(s, l, permits, moment, bound, upto)
  local date, flags = up, 0
  if moment > now then
    date, flags = ceil_of(moment / 1000), RESERVED + (bound and BOUND or 0)
  end
  if l.kind >= FIXED then
    local _, w = place_fixed(s, l, permits, moment, upto)
    date = w
  end
  return date, flags
end
