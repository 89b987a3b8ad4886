-- What the scripts read of a fixed window as Redisson 3.7.1 to 3.13.2 keeps it. Nothing here writes.
--
-- KEYS[1] configuration (hash): rate, interval in ms, type 0 or 1
-- KEYS[2] value (string that lives as long as the window): what is left of the rate in it; KEYS[3] the same for this client alone
-- KEYS[4] and [5] the ledgers that newer limiters have beside those two; here there is none
--
-- Replies begin with a code: 0 done, 1 no configuration, 2 more than the rate {2, rate, interval}, 3 corrupt {3, index in KEYS, text},
-- 4 there is a ledger {4, index}, 5 the value has no end {5, index}.

local MAX_NUMBER, MAX_INTERVAL = 9007199254740991, 3153600000000

local rate, rate_text, interval, interval_text, mode
local at, value, life -- the index of the value that counts in this mode; what it is, and for how many ms; nil if there is no window

-- Whether Redis reads the text as a 64-bit integer. DECRBY and PX take no other, so a Java client would fail on it.
local function is_long(text)
  local digits = string.match(text, '^%-?([1-9]%d*)$')
  return text == '0' or digits and (#digits < 19 or #digits == 19 and digits <= '9223372036854775807')
end

-- As much of a text as an error needs.
local function shown(text)
  return text and string.sub(text, 1, 40) or 'missing'
end

-- The reply for a call that failed: that the key is of another type, or the error itself.
local function failure(reply, index, problem)
  return string.find(reply.err, '^WRONGTYPE') and {3, index, problem} or reply
end

local function bounded(n)
  return math.max(0, math.min(n, MAX_NUMBER))
end

-- Reads the configuration into rate, interval and mode; gives the reply if there is none. What it lacks is taken from given, if that is there.
local function read_config(given)
  local c = redis.pcall('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  if c.err then
    return failure(c, 1, 'is not a hash')
  end
  if given then
    c[1], c[2], c[3] = c[1] or given[1], c[2] or given[2], c[3] or given[3]
  elseif not (c[1] or c[2] or c[3]) then
    return {1}
  end
  rate_text, interval_text = c[1], c[2]
  rate, interval = tonumber(rate_text or ''), tonumber(interval_text or '')
  if not (rate and rate >= 1 and is_long(rate_text)) then
    return {3, 1, 'has a field rate that is ' .. shown(rate_text) .. ', not a whole number of permits of at least 1'}
  end
  if not (interval and interval >= 1 and interval <= MAX_INTERVAL and is_long(interval_text)) then
    return {3, 1, 'has a field interval that is ' .. shown(interval_text) .. ', not a whole number of milliseconds from 1 to 100 years'}
  end
  if not c[3] then
    return {3, 1, 'has a field type that is missing'}
  end
  if c[4] and c[4] ~= '0' then
    return {3, 1, 'has a field keepAliveTime that is ' .. shown(c[4]) .. ': a newer limiter was configured here, whose keep-alive none of Redisson up to 3.13.2 heeds'}
  end
  mode = c[3] == '1' and 1 or 0
end

-- Reads the window of the mode into at, value and life; gives the reply if what is there is not one.
local function read_value()
  at = 2 + mode
  if redis.call('EXISTS', KEYS[at + 2]) == 1 then
    return {4, at + 2}
  end
  local text = redis.pcall('GET', KEYS[at])
  if not text then
    return nil
  end
  if type(text) == 'table' then
    return failure(text, at, 'is not a string')
  end
  life = redis.call('PTTL', KEYS[at])
  if life < 0 then
    return {5, at}
  end
  if not is_long(text) then
    return {3, at, 'is "' .. shown(text) .. '", not a whole number of permits'}
  end
  value = tonumber(text)
end
