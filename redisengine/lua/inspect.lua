-- Reads a limiter and a page of its ledger. Writes nothing.
--
-- KEYS, ARGV 1 to 5: store.lua. ARGV[6] and [7] the page's cursor: a score in 1/1024 ms, and how many entries of that score to
-- skip; ARGV[8] how many entries.
-- Reply: {0, now, rate, interval, 0, type, keepAliveTime, PTTL, available}, then for each entry its score in 1/1024 ms and member.

local refusal = check_config()
if refusal then
  return refusal
end
local reply = {0, now, rate, interval, 0, mode, keep_alive, redis.call('PTTL', KEYS[1]), rate}
if redis.call('TYPE', KEYS[3]).ok ~= 'zset' then
  return reply
end
local oldest = floor - interval + 1
local gone_by = count_before(oldest)
local raw = redis.pcall('GET', KEYS[2])
value = not wrong_type(raw) and integer(raw or nil) or nil
if not value or card() - gone_by <= 10000 then
  recount()
end
value = value + held_by(0, gone_by)
reply[9] = math.max(0, math.min(rate, value))
local m, score = entry_at(-1)
if m and math.floor(score) > ceil and not early(m, score) then
  reply[9] = 0
end
local limit, cursor, skip = tonumber(ARGV[8]), tonumber(ARGV[6]) * STEP, tonumber(ARGV[7])
if limit > 0 then
  if cursor < oldest then
    cursor, skip = oldest, 0
  end
  local page = redis.call('ZRANGEBYSCORE', KEYS[3], cursor, '+inf', 'WITHSCORES', 'LIMIT', skip, limit)
  for i = 1, #page, 2 do
    reply[#reply + 1] = math.floor(tonumber(page[i + 1]) * 1024)
    reply[#reply + 1] = page[i]
  end
end
return reply
