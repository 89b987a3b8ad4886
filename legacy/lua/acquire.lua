-- Takes permits of the window, or begins one.
--
-- KEYS: store.lua. ARGV[1] how many permits.
-- Reply: {0, rate, interval, now in microseconds, 1 if granted, what is left, microseconds until the window has ended}, or as in store.lua.
--
-- Calls: HMGET, EXISTS, GET, TIME; PTTL if there is a window; and for a grant DECRBY, with SET before it if there is none.

local refusal = read_config() or read_value()
if refusal then
  return refusal
end
local n = tonumber(ARGV[1])
if n > rate then
  return {2, bounded(rate), interval}
end
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local granted = 1
if not value then
  redis.call('SET', KEYS[at], rate_text, 'PX', interval_text)
  value, life = redis.call('DECRBY', KEYS[at], ARGV[1]), interval
elseif value > rate then
  value = rate - n -- the rate was lowered: no more of it than the new one
  redis.call('SET', KEYS[at], string.format('%.0f', value), 'KEEPTTL')
elseif value >= n then
  value = redis.call('DECRBY', KEYS[at], ARGV[1])
else
  granted = 0
end
-- A key is there until the millisecond of its expiry is over.
local ends = (math.min(life, MAX_INTERVAL) + 1) * 1000 - now % 1000
return {0, bounded(rate), interval, now, granted, bounded(value), ends}
