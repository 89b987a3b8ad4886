-- What the scripts read and write. All redis.calls on the ledger are here; the arithmetic is in ledger.lua.
--
-- KEYS[1] configuration (hash): rate, interval in ms, type 0 or 1, keepAliveTime in ms
-- KEYS[2] value (string): free permits, a cache of the ledger
-- KEYS[3] ledger (sorted set): score = date in ms, member = length byte, ID, permits (32 bits, little-endian)
-- ARGV[1] now in microseconds; 0: by TIME
-- ARGV[2] to [4] rate, mode and interval as the caller saw them last; a rate of -1: never. KEYS name the value and
--   the ledger of that mode. ARGV[5] when a refusal to the caller last looked at the whole state, in microseconds; 0: never.
--
-- Replies begin with a code: 0 done, 1 no configuration, 2 another mode {2, mode}, 3 corrupt {3, index in KEYS, text}.

local MAX_NUMBER, MAX_INTERVAL = 9007199254740991, 3153600000000

local now = tonumber(ARGV[1])
if now == 0 then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local floor, ceil = math.floor(now / 1000), math.ceil(now / 1000)
local rate, interval, mode, keep_alive
local healed = 0

local function integer(text)
  local n = tonumber(text)
  if n and n % 1 == 0 then
    return n
  end
end

local function text_of(n)
  return string.format('%.0f', n)
end

-- Reads the configuration into rate, interval, mode and keep_alive; gives the reply if there is none.
local function read_config()
  local c = redis.pcall('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  if wrong_type(c) then
    return {3, 1, 'is not a hash'}
  end
  if not (c[1] or c[2] or c[3]) then
    return {1}
  end
  rate, interval = tonumber(c[1] or ''), integer(c[2])
  if not (rate and rate >= 1 and rate < 9.3e18) then
    return {3, 1, 'has a field rate that is ' .. (c[1] or 'missing') .. ', not a number of permits of at least 1'}
  end
  if not (interval and interval >= 1 and interval <= MAX_INTERVAL) then
    return {3, 1, 'has a field interval that is ' .. (c[2] or 'missing') .. ', not a number of milliseconds from 1 to 100 years'}
  end
  rate = math.min(math.floor(rate), MAX_NUMBER) -- Java's Long.MAX_VALUE means no limit, and so does this
  if not c[3] then
    return {3, 1, 'has a field type that is missing'}
  end
  mode = c[3] == '1' and 1 or 0
  keep_alive = math.max(0, math.min(integer(c[4] or '0') or 0, MAX_INTERVAL)) -- what makes no sense is none
end

-- read_config, and the reply also when the caller's mode is not the stored one.
local function check_config()
  local refusal = read_config()
  if not refusal and mode ~= tonumber(ARGV[3]) then
    return {2, mode}
  end
  return refusal
end

-- The stored value; nil when there is none or when it is not a whole number. A key of another type is dropped: it is a cache.
local function read_value()
  local raw = redis.pcall('GET', KEYS[2])
  if wrong_type(raw) then
    redis.call('DEL', KEYS[2])
    healed = healed + 1
    return nil
  end
  return raw and integer(raw)
end

local function write_value(n)
  redis.call('SET', KEYS[2], text_of(n), 'KEEPTTL')
end

-- The entry at a rank, as member and score. A ledger of another type is dropped: nothing can be read from it.
local function entry_at(rank)
  local e = redis.pcall('ZRANGE', KEYS[3], rank, rank, 'WITHSCORES')
  if wrong_type(e) then
    redis.call('DEL', KEYS[3])
    healed = healed + 1
    return nil, nil
  end
  return e[1], tonumber(e[2])
end

-- Members by rank.
local function members(from, to)
  return redis.call('ZRANGE', KEYS[3], from, to)
end

-- Entries by rank as {member, score, member, score, …}.
local function entries(from, to)
  return redis.call('ZRANGE', KEYS[3], from, to, 'WITHSCORES')
end

-- The first entry with at least this score.
local function first_from(score)
  local e = redis.call('ZRANGEBYSCORE', KEYS[3], text_of(score), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return e[1], tonumber(e[2])
end

-- Members with a score below this one, oldest first.
local function members_before(score, limit)
  return redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. text_of(score), 'LIMIT', 0, limit)
end

-- How many entries have a lower score, whole milliseconds or not.
local function count_below(score)
  return redis.call('ZCOUNT', KEYS[3], '-inf', string.format('(%.17g', score))
end

local function count_before(score)
  return redis.call('ZCOUNT', KEYS[3], '-inf', '(' .. text_of(score))
end

local function card()
  return redis.call('ZCARD', KEYS[3])
end

local function score_of(member)
  return tonumber(redis.call('ZSCORE', KEYS[3], member) or nil)
end

-- The scores of some members, as texts; false where there is none.
local function scores_of(some)
  return redis.call('ZMSCORE', KEYS[3], unpack(some))
end

-- Adds an entry; false when it is there already.
local function add(score, member)
  return redis.call('ZADD', KEYS[3], 'NX', score, member) == 1
end

local function remove_ranks(from, to)
  redis.call('ZREMRANGEBYRANK', KEYS[3], from, to)
end

local function remove_first(n)
  remove_ranks(0, n - 1)
end

-- The two in bulk: args is {member, …}, or {score, member, …}. Lua unpacks up to 8,000 at once.
local function remove_all(args)
  for i = 1, #args, 4000 do
    redis.call('ZREM', KEYS[3], unpack(args, i, math.min(i + 3999, #args)))
  end
end

local function put_all(args)
  for i = 1, #args, 4000 do
    redis.call('ZADD', KEYS[3], unpack(args, i, math.min(i + 3999, #args)))
  end
end

local function drop_ledger()
  redis.call('DEL', KEYS[3])
end

-- How long the configuration lives, in milliseconds; negative: for ever, or there is none.
local function config_ttl()
  return redis.call('PTTL', KEYS[1])
end

local function live_config(ms)
  redis.call('PEXPIRE', KEYS[1], text_of(ms))
end

-- Gives value and ledger the same time to live, in milliseconds.
local function live(ms)
  ms = text_of(ms)
  redis.call('PEXPIRE', KEYS[2], ms)
  redis.call('PEXPIRE', KEYS[3], ms)
end

-- Lets neither of the two expire.
local function live_for_ever()
  redis.call('PERSIST', KEYS[2])
  redis.call('PERSIST', KEYS[3])
end
