-- A state as lists of its entries. Twin of internal/inline/state.go.

-- Makes lists of what was read. What does not make sense is dropped whole.
local function tabled(s)
  if s.d then
    return
  end
  local d, p, f, t, n, sum = {}, {}, {}, {}, 0, 0
  local raw, pos, date, size = s.raw, s.pos, s.first, #s.raw
  while pos <= size do
    local away, permits, flags, tag, next_pos = entry_at(raw, pos, s.unit)
    if not away or next_pos > size + 1 or flags > MERGED or flags % 2 == 1 and not s.waits then
      d, p, f, t, n, sum = {}, {}, {}, {}, 0, 0
      s.debt, s.mark, s.cost = 0, 0, 0
      break
    end
    if n > 0 then
      date = date + away
    end
    n = n + 1
    d[n], p[n], f[n], t[n] = date, permits, flags, sub(raw, tag, next_pos - 1)
    sum, pos = sum + permits, next_pos
  end
  if s.claimed and s.claimed ~= min(n, 65535) then
    d, p, f, t, n, sum = {}, {}, {}, {}, 0, 0
    s.debt, s.mark, s.cost = 0, 0, 0
  end
  s.d, s.p, s.f, s.t, s.n, s.sum, s.sums = d, p, f, t, n, sum, nil
end

-- The place of the first entry dated so or later.
local function from(s, date)
  local d, low, high = s.d, 1, s.n + 1
  if high == 1 or d[high - 1] < date then
    return high
  end
  while low < high do
    local mid = floor((low + high) / 2)
    if d[mid] >= date then
      high = mid
    else
      low = mid + 1
    end
  end
  return low
end

-- The permits of the entries i to j, without j.
local function sum(s, i, j)
  local sums = s.sums
  if not sums then
    sums = {[0] = 0}
    for k = 1, s.n do
      sums[k] = sums[k - 1] + s.p[k]
    end
    s.sums = sums
  end
  return j > i and sums[j - 1] - sums[i - 1] or 0
end

local function reserved(flags)
  return flags % 2 == 1
end

-- The permits of the reservations i to j, without j.
local function owed(s, i, j)
  local n = 0
  for k = i, j - 1 do
    if reserved(s.f[k]) then
      n = n + s.p[k]
    end
  end
  return n
end

-- The unit of the dates. Among reservations all are exact, since their owners know them.
local function unit_of(s, l)
  return l.unit > 1 and owed(s, 1, s.n + 1) > 0 and 1 or l.unit
end

-- Puts an entry behind those of its date and earlier ones.
local function insert(s, l, date, permits, flags, tag)
  if s.n > 0 and not reserved(flags) and unit_of(s, l) > 1 then
    date = s.d[1] + ceil_of((date - s.d[1]) / l.unit) * l.unit
  end
  local i = from(s, date + 1)
  table.insert(s.d, i, date)
  table.insert(s.p, i, permits)
  table.insert(s.f, i, flags)
  table.insert(s.t, i, tag)
  s.n, s.sum, s.sums = s.n + 1, s.sum + permits, nil
end

local function remove(s, i)
  s.sum, s.n, s.sums = s.sum - s.p[i], s.n - 1, nil
  table.remove(s.d, i)
  table.remove(s.f, i)
  table.remove(s.t, i)
  return table.remove(s.p, i)
end

-- The place of the entry of a tag, or nil. It makes lists only if the bytes are there.
local function find(s, tag)
  if not s.d then
    if not find_text(s.raw, tag, s.pos, true) then
      return nil
    end
    tabled(s)
  end
  for i = s.n, 1, -1 do
    if s.t[i] == tag then
      return i
    end
  end
  return nil
end
