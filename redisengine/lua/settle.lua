-- Sets the line in order. Twin of internal/ledger/settle.go.

-- A window that slides along the ledger: begun with the entries of the ranks from begin up to but not including stop, whose dates are
-- read only when they are needed, and grown by what is put into it.
local function new_sweep(begin, stop)
  return {first = 1, held = held_by(begin, stop), dates = {}, counts = {}, read = begin, stop = stop, later_dates = {}, later_counts = {}}
end

local function put(sweep, date, n)
  sweep.later_dates[#sweep.later_dates + 1] = date
  sweep.later_counts[#sweep.later_counts + 1] = n
  sweep.held = sweep.held + n
end

-- The date and the permits of the oldest entry that is still held; nil when there is none.
local function oldest_of(sweep)
  if sweep.first > #sweep.dates and sweep.read < sweep.stop then
    local some = entries(sweep.read, math.min(sweep.read + 99, sweep.stop - 1))
    for i = 1, #some, 2 do
      sweep.dates[#sweep.dates + 1] = math.floor(tonumber(some[i + 1]))
      sweep.counts[#sweep.counts + 1] = permits(some[i])
    end
    sweep.read = sweep.read + #some / 2
  end
  if sweep.first <= #sweep.dates then
    return sweep.dates[sweep.first], sweep.counts[sweep.first]
  end
  local i = sweep.first - #sweep.dates
  return sweep.later_dates[i], sweep.later_counts[i]
end

-- The earliest moment from date on at which no more than keep permits are held.
local function room(sweep, date, keep)
  local d, n = oldest_of(sweep)
  while d and (sweep.held > keep or d <= date - interval) do
    if sweep.held > keep then
      date = math.max(date, d + interval)
    end
    sweep.held = sweep.held - n
    sweep.first = sweep.first + 1
    d, n = oldest_of(sweep)
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
  local window = entries(start, start + count - 1)
  local args, out, freed = {}, {}, 0
  local sweep = new_sweep(begin, start)
  local before = 0 -- the score of the entry before
  if start > begin then
    local _, score = entry_at(start - 1)
    before = score
  end
  for i = 1, #window, 2 do
    local m, score = window[i], tonumber(window[i + 1])
    local date, n, keep = math.floor(score), permits(m), true
    if date > ceil then
      local promised, looking = date <= ceil + LOOK_PERIOD, mine[m]
      if movable(m) and (looking or not promised) then
        local to = looking and ceil or ceil + LOOK_PERIOD
        if n > rate then
          keep = false
        else
          local place, held = sweep.first, sweep.held
          to = room(sweep, math.max(to, math.floor(before)), rate - n)
          if promised and to > date then
            to, sweep.first, sweep.held = date, place, held -- it stays, and so does all that is in the window at that moment
          end
          if to > floor + patience(m) then
            keep, sweep.first, sweep.held = false, place, held
          elseif to ~= date or score <= before then
            score = math.max(to, before + STEP)
            args[#args + 1] = score
            args[#args + 1] = m
          end
        end
      end
    end
    if keep then
      put(sweep, math.floor(score), n)
      before = math.max(before, score)
    else
      out[#out + 1] = m
      freed = freed + n
    end
  end
  local stop = start + #window / 2
  if stop == start + count then
    local _, behind = entry_at(stop)
    if behind and before >= behind then
      return start
    end
  end
  if #out + #args > 0 then
    remove_all(out)
    put_all(args)
    ends()
    credit(freed)
    queue()
  end
  return stop - #out
end
