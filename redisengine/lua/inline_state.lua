-- What is stored for one limit of one key: reading, bringing up to now, writing. Twin of internal/inline/state.go and bucket.go.
--
-- KEYS: the states.
-- ARGV: 1 now in microseconds, 0 for the server's clock; 2 how many limits, then for each its place in KEYS, kind (0 sliding window, 1 token
-- bucket, 2 fixed, 3 aligned window), rate, interval in ms, k of the unit of dates, and for a bucket its burst, cost, leak and tick.
--
-- A state that has no reservations stays as it was read (calm): raw from byte pos on, whose first entry is dated first. Everything else,
-- and what happens seldom, is done on lists (tabled): d dates, p permits, f flags, t tags, all with n entries.

local states = {} -- by place in KEYS: what is at hand
local limits = {} -- by place in the list
local next_arg = 3
for i = 1, tonumber(ARGV[2]) do
  local l = {
    at = tonumber(ARGV[next_arg]), kind = tonumber(ARGV[next_arg + 1]), rate = tonumber(ARGV[next_arg + 2]),
    interval = tonumber(ARGV[next_arg + 3]), shift = tonumber(ARGV[next_arg + 4]),
  }
  l.unit, l.life, l.most = 2 ^ l.shift, l.interval, l.rate
  next_arg = next_arg + 5
  if l.kind == BUCKET then
    l.most, l.cost, l.leak, l.tick = tonumber(ARGV[next_arg]), tonumber(ARGV[next_arg + 1]), tonumber(ARGV[next_arg + 2]), tonumber(ARGV[next_arg + 3])
    l.room = l.most * l.cost
    l.life = ceil_of(ceil_of(l.room / l.leak) * l.tick / 1000)
    next_arg = next_arg + 4
  end
  limits[i] = l
end

local function encode_entry(units, permits, flags, tag)
  if permits == 1 and flags == 0 then
    return varint(units * 2 + 1) .. tag
  end
  return varint(units * 2) .. varint(permits * 8 + flags) .. tag
end

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

-- By how many milliseconds the state's last moment lies ahead of now: the store's clock was set back.
local function ahead(s, l)
  local last = 0
  for i = s.n, 1, -1 do
    if not reserved(s.f[i]) then
      last = max(last, s.d[i])
      break
    end
    if l.kind ~= BUCKET then
      last = max(last, s.written)
    end
  end
  local by = last - up >= l.unit and last - up or 0
  if l.kind == BUCKET then
    by = max(by, ceil_of((s.mark - now) / 1000))
  end
  return by
end

local function clear(s)
  s.raw, s.pos, s.n, s.sum = '', 1, 0, 0
end

-- Reads the state at a place in KEYS and brings it to now.
local function open(at, l)
  local s = states[at]
  if not s then
    local raw = stored[at] or redis.pcall('GET', KEYS[at])
    if type(raw) ~= 'string' then
      raw = ''
    end
    stored[at] = raw
    s = {key = at, raw = raw, pos = 8, unit = 1, first = 0, debt = 0, mark = 0, cost = 0, written = 0, sum = 0, last = 0}
    states[at] = s
    local format, size = byte(raw, 1), #raw
    local counted, waits, bucket
    if format then
      local k = format % 32
      s.unit, counted, waits, bucket = 2 ^ k, floor(format / 32) % 2 == 1, floor(format / 64) % 2 == 1, format >= 128
      local need = 7 + (counted and 15 or 0) + (waits and 8 or 0) + (bucket and 21 or 0)
      if size < need or bucket ~= (l.kind == BUCKET) or k > 20 then
        format = nil
      end
    end
    if not format then
      clear(s)
    else
      local pos = 8
      s.first, s.last = unpack_of('<I6', raw, 2), 0
      if counted then
        local span
        s.sum, span, s.n, pos = unpack_of('<I7I6I2', raw, pos)
        s.last = s.first + span
      end
      s.waits = waits
      if waits then
        s.written, s.claimed, pos = unpack_of('<I6I2', raw, pos)
      end
      if bucket then
        s.debt, s.mark, s.cost, pos = unpack_of('<I7I7I7', raw, pos)
      end
      s.pos = pos
      if not counted and not waits then
        local n, total, date = 0, 0, s.first
        while pos <= size do
          local away, permits, flags, _, next_pos = entry_at(raw, pos, s.unit)
          if not away or next_pos > size + 1 or flags ~= 0 and flags ~= MERGED then
            tabled(s) -- drops it
            break
          end
          if n > 0 then
            date = date + away
          end
          n, total, pos = n + 1, total + permits, next_pos
        end
        if not s.d then
          s.n, s.sum, s.last = n, total, date
        end
      end
      if waits or s.unit ~= l.unit or s.last >= up + l.unit or s.mark > now then
        tabled(s)
      end
    end
  end
  if l.kind == BUCKET then
    if s.wrote then -- by a call before; what others have seen since leaves no trace
      s.debt, s.mark, s.cost = s.kept_debt, s.kept_mark, s.kept_cost
    end
  end
  if s.n == 0 then
    s.unit = l.unit
  elseif s.unit ~= l.unit then
    tabled(s)
  end
  if not s.d and s.n > 0 then
    local raw, over = s.raw, down - l.life
    while s.n > 0 and s.first <= over do
      local _, permits, _, _, next_pos = entry_at(raw, s.pos, s.unit)
      if not permits then
        s.n = 0
        break
      end
      s.n, s.sum, s.pos = s.n - 1, s.sum - permits, next_pos
      if s.n > 0 then
        s.first = s.first + (entry_at(raw, next_pos, s.unit) or 0)
      end
    end
    if s.n == 0 then
      clear(s)
    end
    if s.n > 0 and s.first > s.last then -- somebody has edited it
      tabled(s)
    end
  end
  if s.d then
    local shift = ahead(s, l)
    if shift > 0 then
      for i = 1, s.n do
        s.d[i] = s.d[i] - shift
      end
      s.mark, s.written, s.set_back = min(s.mark, now), min(s.written, up), true
    end
    if l.kind == BUCKET then
      leak(s, l)
    end
    local gone, over = 0, down - l.life
    while gone < s.n and s.d[gone + 1] <= over do
      gone = gone + 1
    end
    if gone > 0 then
      for i = 1, gone do
        s.sum = s.sum - s.p[i]
      end
      for i = 1, s.n do
        s.d[i], s.p[i], s.f[i], s.t[i] = s.d[i + gone], s.p[i + gone], s.f[i + gone], s.t[i + gone]
      end
      s.n, s.sums = s.n - gone, nil
    end
  end
  if not s.d and l.kind == BUCKET then
    leak(s, l)
  end
  return s
end

-- Makes one entry of all in the same part of the given width, among the oldest.
local function merge(s, oldest, width)
  local d, p, f, t, n, i = {}, {}, {}, {}, 0, 1
  while i <= s.n do
    local permits, j = s.p[i], i + 1
    if i <= oldest then
      local part = floor(s.d[i] / width)
      while j <= oldest and floor(s.d[j] / width) == part and permits + s.p[j] <= MOST_MERGED do
        permits, j = permits + s.p[j], j + 1
      end
    end
    n = n + 1
    d[n], p[n], f[n], t[n] = s.d[j - 1], permits, s.f[i], s.t[i]
    if j > i + 1 then
      f[n], t[n] = MERGED, ''
    end
    i = j
  end
  s.d, s.p, s.f, s.t, s.n, s.sums = d, p, f, t, n, nil
end

-- Bounds a state of lists after a write.
local function close(s, l)
  s.wrote, s.limit, s.written = true, l, up
  s.kept_debt, s.kept_mark, s.kept_cost = s.debt, s.mark, s.cost
  if s.n > 0 and unit_of(s, l) > 1 then
    local first = s.d[1]
    for i = 2, s.n do
      s.d[i] = first + ceil_of((s.d[i] - first) / l.unit) * l.unit
    end
  end
  local over = from(s, up + 1) - 1
  if l.kind == SLIDING then
    if s.n > MOST_ENTRIES then
      merge(s, min(over, s.n - FRESH), ceil_of(l.interval / BUCKETS))
    end
  elseif over > MOST_OTHERS then
    if l.kind == BUCKET then
      for _ = 1, over - FRESH_OTHERS do
        remove(s, 1)
      end
    else
      merge(s, over - FRESH_OTHERS, 1)
    end
  end
end

-- Has a state stored that a clock which was set back had made wrong, or else it would be set back again and again.
local function mend(s, l)
  if s.set_back and not s.wrote then
    close(s, l)
  end
end

-- Puts a grant that may be used now at the end of a state that is as it was read.
local function append(s, l, date, permits, tag)
  if s.n == 0 then
    s.first, s.last = date, date
  else
    date = s.first + ceil_of((date - s.first) / l.unit) * l.unit
  end
  s.raw = s.raw .. encode_entry((date - s.last) / l.unit, permits, 0, tag)
  s.n, s.sum, s.last, s.wrote, s.limit = s.n + 1, s.sum + permits, date, true, l
  s.kept_debt, s.kept_mark, s.kept_cost = s.debt, s.mark, s.cost
end

-- What stands before the entries.
local function header(s, first, waits, n)
  local counted = n > FEW
  local bucket = s.limit.kind == BUCKET
  local h = char((waits and 0 or s.limit.shift) + (counted and 32 or 0) + (waits and 64 or 0) + (bucket and 128 or 0)) .. pack('<I6', first)
  if counted then
    h = h .. pack('<I7I6I2', s.sum, s.last - first, min(n, 65535))
  end
  if waits then
    h = h .. pack('<I6I2', s.written, min(n, 65535))
  end
  if bucket then
    h = h .. pack('<I7I7I7', s.debt, s.mark, s.cost)
  end
  return h
end

-- Writes what has changed.
local function save()
  for at, s in pairs(states) do
    if s.wrote then
      local l, text = s.limit, nil
      if s.n == 0 and s.debt == 0 then
        call('DEL', KEYS[at])
      else
        if s.d then
          local parts, before = {}, s.d[1]
          local waits = owed(s, 1, s.n + 1) > 0
          local unit = waits and 1 or l.unit
          for i = 1, s.n do
            parts[i] = encode_entry((s.d[i] - before) / unit, s.p[i], s.f[i], s.t[i])
            before = s.d[i]
          end
          s.last = before or 0
          text = header(s, s.d[1] or 0, waits, s.n) .. table.concat(parts)
        else
          -- the distance of the first entry from the one that went before it does not matter
          text = header(s, s.first, false, s.n) .. sub(s.raw, s.pos)
        end
        local life
        if l.kind == BUCKET then
          life = ceil_of((s.mark + ticks_of(l, s.debt) * l.tick - now) / 1000) + max(0, s.last - down) + 1
        else
          life = max(1, s.last + l.interval - down)
        end
        call('SET', KEYS[at], text, 'PX', string.format('%.0f', life))
      end
    end
  end
end
