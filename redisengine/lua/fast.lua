-- The two cases that are nearly all: a single take that is granted at once, and one that is refused because of the oldest
-- grant, when the configuration is as the caller believes and nothing is odd about the keys. It is take.lua's answer, found without
-- the making of its functions, which takes Lua longer than the decision itself. Everything else falls through, with
-- nothing written.
--
-- In a storm of refusals only one in ten milliseconds looks at the configuration and makes sure that nobody waits and no entry is dated
-- ahead (status 3); the others rest on that (status 0).
--
-- JAVA_PEERS (script.go): value and ledger live exactly as long as the configuration. KEYS and ARGV: store.lua and take.lua. The reply is one string of four doubles, little-endian, which is cheaper than a list:
-- now, status, wait, remaining. The reset is an interval after now, rounded up.
--
-- Calls of a grant: TIME, GET, HMGET, ZCOUNT, ZCARD, ZADD, DECRBY; three more when grants have expired.
-- Of a refusal: TIME, GET, ZRANGE, ZRANK, and HMGET, ZCOUNT every 10 ms. A keep-alive adds three and four, PerClient two to a grant.
-- Numbers go into calls as text where they are at hand as text: Redis takes longer to print one than to read it.

local arg = ARGV
if not arg[9] and arg[2] ~= '-1' then
  local call, pcall = redis.call, redis.pcall
  local now, rate, interval, n = arg[1], arg[2] + 0, arg[4] + 0, arg[7] + 0
  if now == '0' then
    local t = call('TIME')
    now = t[1] * 1000000 + t[2]
  else
    now = now + 0
  end
  local ms = now / 1000
  local floor = ms - ms % 1
  local ceil = ms > floor and floor + 1 or floor
  local value, keep = tonumber(pcall('GET', KEYS[2])), nil
  local ok = value and value >= 0 and value <= rate and value % 1 == 0 and n <= rate
  local rest = false -- whether a refusal can rest on one just before
  if ok and value < n then
    rest = now - arg[5]
    rest = rest >= 0 and rest < 10000
  end
  if ok and not rest then
    local c = pcall('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
    keep = c[4] and c[4] ~= '0' and (tonumber(c[4]) or 0)
    ok = c[1] == arg[2] and c[2] == arg[4] and c[3] == arg[3] and (not keep or keep > 0 and keep % 1 == 0 and keep <= 3153600000000)
  end
  if not ok then
    -- there is no value, callers wait, or something is wrong or not as believed
  elseif value < n then
    local head = pcall('ZRANGE', KEYS[3], '0', '0', 'WITHSCORES')
    local first, oldest = tonumber(head[2]), head[1]
    if first and first < ceil + 1 and first >= floor - interval + 1 and #oldest == 21 and struct.unpack('<I4', oldest, 18) >= n - value then
      local away = (first - first % 1 + interval) * 1000 - now
      if (arg[6] == '0' or away > arg[6] + 0) and (rest or call('ZCOUNT', KEYS[3], string.format('%d', ceil + 1), '+inf') == 0)
        and not call('ZRANK', KEYS[3], arg[8]) then
        if keep then
          local last = call('ZRANGE', KEYS[3], '-1', '-1', 'WITHSCORES')[2]
          local life = JAVA_PEERS and keep or math.max(keep, last - last % 1 - floor + interval)
          call('PEXPIRE', KEYS[1], keep)
          call('PEXPIRE', KEYS[2], life)
          call('PEXPIRE', KEYS[3], life)
        end
        return struct.pack('<dddd', now, rest and 0 or 3, away, value)
      end
    end
  else
    -- Entries between from and to are in the window. If those are all, nothing has expired, and nobody waits.
    local from, to = string.format('%d', floor - interval + 1), string.format('%d', ceil)
    local held, card = pcall('ZCOUNT', KEYS[3], from, to), pcall('ZCARD', KEYS[3])
    local gone = 0
    ok = held == card
    if not ok and type(held) == 'number' then
      local some = call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. from, 'WITHSCORES', 'LIMIT', '0', '9')
      gone = #some / 2
      ok = gone < 9 and held + gone == card
      for i = 1, #some, 2 do
        ok = ok and #some[i] == 21
        value = value + (ok and struct.unpack('<I4', some[i], 18) or 0)
      end
      local second = ok and value <= rate and tonumber(call('ZRANGE', KEYS[3], gone, gone, 'WITHSCORES')[2])
      ok = second and second - second % interval == some[2] - some[2] % interval -- else it is time for an audit
    end
    if ok and held > 0 and (rate <= 2000 or card < 2000) and call('ZADD', KEYS[3], 'NX', to, arg[8]) == 1 then
      value = value - n
      if gone > 0 then
        call('ZREMRANGEBYRANK', KEYS[3], 0, gone - 1)
        call('SET', KEYS[2], string.format('%.0f', value), 'KEEPTTL')
      elseif pcall('DECRBY', KEYS[2], arg[7]) ~= value then
        call('SET', KEYS[2], string.format('%.0f', value), 'KEEPTTL') -- it was a number, but not as DECRBY reads it
      end
      if keep then
        local life = JAVA_PEERS and keep or math.max(keep, ceil - floor + interval)
        call('PEXPIRE', KEYS[1], keep)
        call('PEXPIRE', KEYS[2], life)
        call('PEXPIRE', KEYS[3], life)
      elseif arg[3] == '1' then
        call('PEXPIRE', KEYS[2], 2 * interval)
        call('PEXPIRE', KEYS[3], 2 * interval)
      end
      return struct.pack('<dddd', now, 1, 0, value)
    end
  end
end
