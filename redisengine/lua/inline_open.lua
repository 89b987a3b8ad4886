-- Reads a state and brings it to now. Twin of State.open in internal/inline/state.go.

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
    if not raw or wrong_type(raw) then
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
