-- Stores a configuration. Twin of internal/ledger/configure.go.
--
-- KEYS[1] to [3]: store.lua, with the value and the ledger of the new mode; KEYS[4] and [5] those of the other mode.
-- ARGV[1] now, ARGV[2] 'try', 'set' or 'update', then rate, interval, type and keepAliveTime.
-- Reply: {0, now, rate, interval, healed, done}, or a refusal as in store.lua.

local how, new_rate, new_interval, new_type, new_keep = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local refusal = read_config()
if refusal and refusal[1] == 3 then
  -- A field that is missing can be given by a try, one that is wrong only by a set; another type is not ours to overwrite.
  local partial = how == 'try' and string.find(refusal[3], 'missing')
  if refusal[3] == 'is not a hash' or how ~= 'set' and not partial then
    return refusal
  end
end
local exists = not refusal
if how == 'try' and exists or how == 'update' and not exists then
  return {0, now, rate or 0, interval or 0, healed, 0}
end
if exists and rate == tonumber(new_rate) and interval == tonumber(new_interval) and mode == tonumber(new_type) and keep_alive == tonumber(new_keep) then
  if keep_alive > 0 then
    ends()
    used(false)
  end
  return {0, now, rate, interval, healed, 1}
end
local changed = exists and mode ~= tonumber(new_type)
redis.call('HSET', KEYS[1], 'rate', new_rate, 'interval', new_interval, 'keepAliveTime', new_keep, 'type', new_type)
rate, interval, mode, keep_alive = tonumber(new_rate), tonumber(new_interval), tonumber(new_type), tonumber(new_keep)
if changed or not exists then
  redis.call('DEL', KEYS[4], KEYS[5])
end
if changed then
  redis.call('DEL', KEYS[2], KEYS[3])
else
  open(-1)
  if how == 'set' then
    local grants = count_before(ceil + 1)
    if grants > 0 then
      remove_first(grants)
    end
    ends()
  end
  if not head then
    redis.call('DEL', KEYS[2], KEYS[3])
  else
    recount()
    expire()
    if wait then
      settle({}, count_before(ceil + 1), card(), card())
    end
    close()
  end
end
ends()
if keep_alive > 0 then
  used(false)
else
  redis.call('PERSIST', KEYS[1])
  live_for_ever()
  if mode == 1 and head then
    used(true)
  end
end
return {0, now, rate, interval, healed, 1}
