-- Bounds a state that was written to, and writes it. Twin of State.close in internal/inline/state.go.

local function encode_entry(units, permits, flags, tag)
  if permits == 1 and flags == 0 then
    return varint(units * 2 + 1) .. tag
  end
  return varint(units * 2) .. varint(permits * 8 + flags) .. tag
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
