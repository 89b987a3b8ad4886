-- The arithmetic of the ledger. Twin of internal/ledger, step by step, with the same names. It reaches the store only by the
-- functions of store.lua.

local STEP = 1 / 1024 -- scores are dates with ten binary places
local LOOK_PERIOD = 1000
local MAX_GRANTS, BUCKETS, FRESH, MAX_PERMITS = 2000, 1000, 512, 4294967295
local EXPIRY_SLICE, MERGE_SLICE, HEAL_SLICE, HEAL_BUDGET = 2048, 3000, 256, 1024
local SETTLE_SLICE, WINDOW_SLICE = 250, 2600

local stored, value         -- what is in KEYS[2]; the rate less all entries
local head, first           -- the oldest entry and its score; nil when there is none
local newest, last          -- the newest entry and its score; nil and 0 when there is none
local gone, back = 0, 0     -- how many of the oldest entries have expired; their permits
local all_gone = false      -- all have
local wait, told = false, false
local created = false       -- there was no value or no ledger
local audited = false       -- the value was counted anew because it was time for that

local function free()
  return value + back
end

-- How many permits the entries of these ranks hold, up to but not including to.
local function held_by(from, to)
  local total = 0
  while from < to do
    local some = members(from, math.min(from + 999, to - 1))
    if #some == 0 then
      break
    end
    for i = 1, #some do
      total = total + permits(some[i])
    end
    from = from + #some
  end
  return total
end

local function recount()
  value = rate - held_by(0, math.huge)
end

-- Credits the value with what has been taken out of the ledger. More than the rate shows that it was wrong.
local function credit(n)
  value = value + n
  if value > rate then
    recount()
  end
end

local function ends()
  head, first = entry_at(0)
  newest, last = nil, 0
  if head then
    newest, last = entry_at(-1)
  end
end

local function early(m, score)
  return math.floor(score) > ceil + patience(m)
end

-- From when on an entry counts: from now on, if it is dated where it cannot be and has not been pulled back yet.
local function date_of(m, score)
  return early(m, score) and ceil or math.floor(score)
end

-- The date of the newest entry, 0 if there is none.
local function end_date()
  return newest and date_of(newest, last) or 0
end

local function queue()
  wait = end_date() > ceil
end

local function pull_back(from, to)
  local some, args, out = entries(from, to), {}, {}
  for i = 1, #some, 2 do
    if early(some[i], tonumber(some[i + 1])) then
      healed = healed + 1
      if permits_of(some[i]) then
        args[#args + 1] = ceil
        args[#args + 1] = some[i]
      else
        out[#out + 1] = some[i]
      end
    end
  end
  put_all(args)
  remove_all(out)
  ends()
end

local function heal()
  while math.floor(last) > ceil and early(newest, last) and healed < HEAL_BUDGET do
    pull_back(-HEAL_SLICE, -1)
  end
  queue()
end

local function expire()
  gone, back, all_gone = 0, 0, false
  local edge = floor - interval
  if not head or math.floor(first) > edge then
    return
  end
  if math.floor(last) <= edge then
    gone, back, all_gone = 1, rate - value, true
    return
  end
  local some = members_before(edge + 1, EXPIRY_SLICE)
  for i = 1, #some do
    back = back + permits(some[i])
  end
  gone = #some
  if free() > rate then
    recount()
  end
end

local function open(believed)
  stored = read_value()
  ends()
  created = not stored or not head
  if not head then
    value = rate
  elseif not stored or believed ~= rate or stored > rate then
    recount()
  else
    value = stored
  end
  heal()
  expire()
end

-- Takes the expired entries out for good; true when that showed a drift of the value.
local function purge()
  if gone == 0 then
    return false
  end
  value = free()
  if all_gone then
    drop_ledger()
    head, newest, last, created = nil, nil, 0, true
    gone, back, all_gone = 0, 0, false
    return false
  end
  local old = math.floor(math.floor(first) / interval)
  remove_first(gone)
  gone, back = 0, 0
  head, first = entry_at(0)
  if not head then -- the others have been given back in this call
    newest, last, created = nil, 0, true
    return false
  end
  if math.floor(math.floor(first) / interval) == old or card() > EXPIRY_SLICE then
    return false
  end
  local counted = value
  recount()
  audited = true
  return value ~= counted
end

local function close()
  if (stored or head or value ~= rate) and value ~= stored then
    write_value(value)
  end
end

-- How long the ledger has to be kept when the configuration is kept for ms: until its last grant has left the window. Java's peers do not stand
-- that it outlives the configuration.
local function lifetime(ms)
  if JAVA_PEERS and mode == 0 then
    return ms
  end
  return math.max(ms, math.floor(last) - floor + interval)
end

-- Begins the keep-alive anew. wrote says that the ledger has changed.
local function used(wrote)
  if keep_alive > 0 then
    live_config(keep_alive)
    live(lifetime(keep_alive))
  elseif not wrote then
    return
  elseif mode == 1 then
    live(lifetime(2 * interval))
  elseif created or audited or wait then
    local ms = config_ttl()
    if ms > 0 then
      live(lifetime(ms))
    elseif created or audited then -- others leave keys that expire alone: Redisson up to 3.13.2, or a hand
      live_for_ever()
    end
  end
end
