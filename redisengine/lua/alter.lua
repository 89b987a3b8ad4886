-- Changes how long a limiter lives, or its name.
--
-- KEYS[1] configuration, [2] and [3] value and ledger that all share, [4] and [5] those of the client; for 'rename' the same
-- five under the new name.
-- ARGV[1] now, ARGV[2] 'in' and ARGV[3] milliseconds, 'at' and the moment in ms, 'persist', 'delete' or 'rename'.
-- Reply: {0, 1 if there was a limiter}.

local how, ms = ARGV[2], tonumber(ARGV[3])

if how == 'delete' or how == 'at' and ms <= floor then
  return {0, math.min(1, redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]))}
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  return {0, 0}
end
if how == 'rename' then
  redis.call('DEL', KEYS[7], KEYS[8], KEYS[9], KEYS[10])
  redis.call('RENAME', KEYS[1], KEYS[6])
  for i = 2, 5 do
    if redis.call('EXISTS', KEYS[i]) == 1 then
      redis.call('RENAME', KEYS[i], KEYS[i + 5])
    end
  end
  return {0, 1}
end
if how == 'persist' then
  redis.call('PERSIST', KEYS[1])
  live_for_ever()
  return {0, 1}
end
local refusal = read_config()
if refusal then
  return refusal
end
-- The state outlives the configuration by an interval: until the end a grant can be made, which counts for so long. Java's peers do not stand that.
local function expire(i, longer)
  if how == 'in' then
    redis.call('PEXPIRE', KEYS[i], text_of(ms + longer))
  else
    redis.call('PEXPIREAT', KEYS[i], text_of(ms + longer))
  end
end
expire(1, 0)
local least = ms + interval - (how == 'at' and floor or 0)
for i = 2, 5 do
  if JAVA_PEERS then
    expire(i, 0)
  elseif redis.call('PTTL', KEYS[i]) < least then
    expire(i, interval)
  end
end
return {0, 1}
