-- Sets the line in order. Twin of internal/ledger/settle.go.

-- The earliest moment from date on at which no more than keep permits are held. sweep is {first, held, dates, counts}.
local function room(sweep, date, keep)
  while sweep.first <= #sweep.dates do
    local d = sweep.dates[sweep.first]
    if sweep.held <= keep and d > date - interval then
      break
    end
    if sweep.held > keep then
      date = math.max(date, d + interval)
    end
    sweep.held = sweep.held - sweep.counts[sweep.first]
    sweep.first = sweep.first + 1
  end
  return date
end

-- Sets count entries from the rank start on in order; mine is the set of members that are looking. Gives the rank up to which the
-- line is in order then.
local function settle(mine, start, count, context)
  local from = ceil
  if start > 0 then
    from = math.max(from, date_of(entry_at(start - 1)))
  end
  local begin = count_before(from - interval + 1)
  if start - begin > context then
    return start
  end
  local window = entries(begin, start + count - 1)
  local args, out, freed = {}, {}, 0
  local sweep = {first = 1, held = 0, dates = {}, counts = {}}
  local before = 0 -- the score of the entry before
  for i = 1, #window, 2 do
    local m, score = window[i], tonumber(window[i + 1])
    local date, n, keep = math.floor(score), permits(m), true
    if date > ceil and i > 2 * (start - begin) then
      local promised, looking = date <= ceil + LOOK_PERIOD, mine[m]
      if movable(m) and (looking or not promised) then
        local to = looking and ceil or ceil + LOOK_PERIOD
        if n > rate then
          keep = false
        else
          to = room(sweep, math.max(to, math.floor(before)), rate - n)
          if promised then
            to = math.min(to, date)
          end
          if to > floor + patience(m) then
            keep = false
          elseif to ~= date or score <= before then
            score = math.max(to, before + STEP)
            args[#args + 1] = score
            args[#args + 1] = m
          end
        end
      end
    end
    if keep then
      sweep.dates[#sweep.dates + 1] = math.floor(score)
      sweep.counts[#sweep.counts + 1] = n
      sweep.held = sweep.held + n
      before = math.max(before, score)
    else
      out[#out + 1] = m
      freed = freed + n
    end
  end
  local stop = begin + #window / 2
  if stop == start + count then
    local _, behind = entry_at(stop)
    if behind and before >= behind then
      return start
    end
  end
  remove_all(out)
  put_all(args)
  ends()
  credit(freed)
  queue()
  return stop - #out
end
