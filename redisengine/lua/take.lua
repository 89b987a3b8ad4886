-- Decides takes, in order. Twin of internal/ledger/take.go, walk.go and compact.go.
--
-- KEYS, ARGV 1 to 5: store.lua. Then for each take: how long it may wait in microseconds, its permits, its
-- member.
-- Reply: {0, now, rate, interval, healed}, then for each take: 0 refused, 1 granted or 2 more than the rate;
-- the wait, the remaining permits, and the time to the reset. Times are microseconds.
-- What it calls: as fast.lua, and what the walk and the settling of the line read.

-- The date of the entry whose return makes n permits free; nil when the ledger had to be put right. It reads members only, for
-- their scores cost as much again.
local function walk(n)
  local missing, keep = n - free(), rate - n
  local ahead = math.floor(last) > ceil and count_before(ceil + 1) or math.huge
  local function astray(m, rank)
    return rank >= ahead and patience(m) == 0 and healed < HEAL_BUDGET
  end
  local function found(rank)
    return date_of(entry_at(rank))
  end
  if missing <= keep then
    local rank, size = gone, 16
    if gone == 0 and head and ahead > 0 then -- the head is known
      missing, rank = missing - permits(head), 1
      if missing <= 0 then
        return date_of(head, first)
      end
    end
    repeat
      local some = members(rank, rank + size - 1)
      for i = 1, #some do
        if astray(some[i], rank) then
          pull_back(rank, rank + HEAL_SLICE - 1)
          queue()
          return nil
        end
        missing = missing - permits(some[i])
        if missing <= 0 then
          return found(rank)
        end
        rank = rank + 1
      end
      size = 256
    until #some == 0
  else
    local rank, size = card() - 1, 16
    while rank >= gone do
      local some = members(math.max(gone, rank - size + 1), rank)
      for i = #some, 1, -1 do
        if astray(some[i], rank) then
          pull_back(math.max(0, rank - HEAL_SLICE + 1), rank)
          queue()
          return nil
        end
        keep = keep - permits(some[i])
        if keep < 0 then
          return found(rank)
        end
        rank = rank - 1
      end
      size = 256
    end
  end
  recount()
  return nil
end

-- The score for n permits that are not to be had now, and how long that is away; nil when the ledger has to be asked anew.
local function place(n)
  if wait and not told then
    told = true
    local m, score = first_from(ceil + 1)
    if movable(m) and math.floor(score) > floor + math.max(interval, LOOK_PERIOD) then
      settle({}, count_before(ceil + 1), SETTLE_SLICE, WINDOW_SLICE)
      return nil
    end
  end
  local date = floor
  if free() < n then
    date = walk(n)
    if not date then
      return nil
    end
    date = date + interval
  end
  local score = math.max(date, ceil)
  if wait and score <= last then
    score = last + STEP
  elseif date <= floor then
    return score, 0
  end
  return score, math.floor(score) * 1000 - now
end

local reply = {0, now, 0, 0, 0}

local function answer(status, away)
  local n = #reply
  reply[n + 1], reply[n + 2] = status, away
  reply[n + 3] = wait and 0 or math.max(0, free())
  reply[n + 4] = math.max(0, (end_date() + interval) * 1000 - now)
end

local function again(score)
  answer(1, math.max(0, math.floor(score) * 1000 - now))
end

local wrote, decided = false, false

local function decide(patient, n, m)
  if n > rate then
    return answer(2, 0)
  end
  decided = true
  while true do
    local score, away = ceil, 0
    local ask = wait or free() < n
    if ask then
      local is = score_of(m)
      if is then
        return again(is)
      end
      score, away = place(n)
      if score and away > patient then
        return answer(0, away)
      end
    end
    if score and not purge() then
      wrote = true
      if not add(score, m) then
        return again(score_of(m))
      end
      if not head then
        head, first, newest, last = m, score, m, score
      elseif score <= first then
        ends() -- equal scores are in the order of their members
      elseif score >= last then
        newest, last = m, score
      end
      value = value - n
      queue()
      return answer(1, away)
    end
  end
end

-- The rank of the newest merged entry before this rank; 0 when there is none.
local function newest_merged(rank)
  while rank > 0 do
    local from = math.max(0, rank - 256)
    local some = members(from, rank - 1)
    for i = #some, 1, -1 do
      if merged(some[i]) then
        return from + i - 1
      end
    end
    rank = from
  end
  return 0
end

-- Merges the entries of these ranks, up to but not including to; gives how many fewer there are.
local function merge_run(from, to)
  local width, fewer, rank = math.ceil(interval / BUCKETS), 0, from
  while rank < to - 1 do
    local _, score = entry_at(rank)
    local after = math.max(rank + 1, math.min(to, count_before((math.floor(math.floor(score) / width) + 1) * width)))
    local some = members(rank, after - 1)
    local total, n = permits(some[1]), 1
    while n < #some and total + permits(some[n + 1]) <= MAX_PERMITS do
      n = n + 1
      total = total + permits(some[n])
    end
    if n > 1 then
      _, score = entry_at(rank + n - 1)
      remove_ranks(rank, rank + n - 1)
      local salt = 0
      while not add(score, merge(some[n], total, salt)) do
        salt = salt + 1
      end
      fewer, to = fewer + n - 1, to - n + 1
    end
    rank = rank + 1
  end
  return fewer
end

local function compact()
  local grants = card()
  if grants <= MAX_GRANTS then
    return
  end
  if wait then
    grants = count_before(ceil + 1)
    if grants <= MAX_GRANTS then
      return
    end
  end
  if grants > MERGE_SLICE + FRESH then -- a peer's, or those of a crowd that has waited
    merge_run(0, MERGE_SLICE)
    return
  end
  local start = newest_merged(grants - FRESH)
  local fewer = merge_run(start, grants - FRESH)
  if start > 0 and grants - fewer > MAX_GRANTS - FRESH / 2 then
    merge_run(0, grants - fewer - FRESH) -- a peer with a slow clock has written among what was merged
  end
end

local refusal = check_config()
if refusal then
  return refusal
end
open(tonumber(ARGV[2]))
for i = 6, #ARGV, 3 do
  decide(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), ARGV[i + 2])
end
if wrote and rate > MAX_GRANTS then
  compact()
end
close()
if decided then
  used(wrote)
end
reply[3], reply[4], reply[5] = rate, interval, healed
return reply
