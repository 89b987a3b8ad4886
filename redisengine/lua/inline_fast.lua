-- The cases that are nearly all: one call with one charge, without reservations in its state, that is granted at once or refused. It is the answer of
-- charge.lua, found without the making of its functions, which takes Lua longer than the decision itself. Everything else falls through,
-- with nothing written.
--
-- KEYS and ARGV: inline_limits.lua and charge.lua. What it calls: TIME, GET, and for a grant SET.

local kind = tonumber(ARGV[4])
local base = kind == BUCKET and 11 or 7
local at, bytes = 1, false -- the key, and what it holds
if ARGV[2] == '1' and ARGV[7] == '0' and ARGV[base + 1] == '1' and ARGV[base + 5] == '0' and ARGV[base + 6] == '0' and ARGV[base + 7] == '0' and not ARGV[base + 9] then
  bytes = redis.pcall('GET', KEYS[at])
  stored[at] = type(bytes) == 'string' and bytes or nil
  local rate, interval, n, patience, tag = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[base + 3]), tonumber(ARGV[base + 4]), ARGV[base + 8]
  local raw, life, most, cost, leak, tick, room = bytes or '', interval, rate, nil, nil, nil, nil
  if kind == BUCKET then
    most, cost, leak, tick = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
    room = most * cost
    life = ceil_of(ceil_of(room / leak) * tick / 1000)
  end
  local used, count, first, last, pos, debt, mark = 0, 0, 0, 0, 1, 0, 0
  local ok = type(raw) == 'string' and n > 0 and n <= most
  if ok and bytes then
    local format, size, over = byte(raw, 1), #raw, down - life
    local counted = format == 32 or format == 160
    ok = (format == 0 or format == 32 or format == 128 or format == 160) and size >= 7 + (counted and 15 or 0) + (format >= 128 and 21 or 0)
      and (format >= 128) == (kind == BUCKET)
    if ok then
      first, pos = unpack_of('<I6', raw, 2)
      if counted then
        local span
        used, span, count, pos = unpack_of('<I7I6I2', raw, pos)
        last = first + span
      end
      if kind == BUCKET then
        local was
        debt, mark, was, pos = unpack_of('<I7I7I7', raw, pos)
        ok = mark <= now and (was == cost or was == 0)
      end
    end
    if ok and counted then
      while count > 0 and first <= over do
        local _, permits, _, _, next_pos = entry_at(raw, pos, 1)
        if not permits then
          count = 0
          break
        end
        count, used, pos = count - 1, used - permits, next_pos
        if count > 0 then
          first = first + (entry_at(raw, next_pos, 1) or 0)
        end
      end
      ok = count > 0 and first <= last
    elseif ok then
      local from, date, began = pos, first, false
      while from <= size do
        local away, permits, flags, _, next_pos = entry_at(raw, from, 1)
        if not away or next_pos > size + 1 or flags ~= 0 and flags ~= MERGED or date <= over and count > 0 then
          ok = false
          break
        end
        date, began, from = began and date + away or date, true, next_pos
        if date <= over then
          pos = from
        else
          if count == 0 then
            first = date
          end
          count, used, last = count + 1, used + permits, date
        end
      end
    end
    ok = ok and last <= up and (count == 0 or not find_text(raw, tag, pos, true))
  end
  local granted, wait, date, free, reset = false, 0, up, 0, 0
  if not ok then
    -- there are reservations, or it is sent again, or something is odd
  elseif kind == BUCKET then
    debt = min(debt, room)
    local ticks = floor((now - mark) / tick)
    mark = mark + ticks * tick
    debt = ticks >= ceil_of(debt / leak) and 0 or debt - ticks * leak
    local lacks = debt + n * cost - room
    granted = lacks <= 0
    if granted then
      debt = debt + n * cost
    else
      wait = mark + ceil_of(lacks / leak) * tick - now
      ok = patience == 0
    end
    free = floor(max(0, room - debt) / cost)
    reset = debt == 0 and 0 or max(0, mark + ceil_of(debt / leak) * tick - now)
  else
    if kind == FIXED and count > 0 then
      date, ok = first, first == last
    elseif kind == ALIGNED then
      date = down - down % interval
      ok = count == 0 or first == date and last == date
    end
    free = rate - used
    granted = n <= free
    if granted then
      free, reset = free - n, (date + interval) * 1000 - now
    else
      if kind == SLIDING then
        local missing, from, when = n - free, pos, first
        for i = 1, count do
          local away, permits, _, _, next_pos = entry_at(raw, from, 1)
          if not away then
            ok = false
            break
          end
          if i > 1 then
            when = when + away
          end
          missing, from = missing - permits, next_pos
          if missing <= 0 then
            break
          end
        end
        ok = ok and missing <= 0
        wait = (when + interval) * 1000 - now
      else
        wait = (date + interval) * 1000 - now
      end
      ok = ok and wait > patience
      free, reset = max(0, free), max(0, (last + interval) * 1000 - now)
    end
  end
  if ok and not granted then
    return {now, 0, 0, wait, wait, free, reset}
  end
  if ok and count < (kind == SLIDING and MOST_ENTRIES or MOST_OTHERS) and (count == 0 or date >= last) then
    if count == 0 then
      first, last, raw, pos = date, date, '', 1
    end
    local counted = count + 1 > FEW
    local text = char((counted and 32 or 0) + (kind == BUCKET and 128 or 0)) .. pack('<I6', first)
    if counted then
      text = text .. pack('<I7I6I2', used + n, date - first, count + 1)
    end
    if kind == BUCKET then
      text = text .. pack('<I7I7I7', debt, mark, cost)
      life = ceil_of((mark + ceil_of(debt / leak) * tick - now) / 1000) + up - down + 1
    else
      life = max(1, date + interval - down)
    end
    text = text .. sub(raw, pos) .. (n == 1 and varint((date - last) * 2 + 1) or varint((date - last) * 2) .. varint(n * 8)) .. tag
    call('SET', KEYS[at], text, 'PX', string.format('%.0f', life))
    return {now, 1, 1, 0, 0, free, reset}
  end
end
