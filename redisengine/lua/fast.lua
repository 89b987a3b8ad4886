-- The two cases that are nearly all: a single take that is granted at once, and one that is refused because of the oldest
-- grant, when the configuration is as the caller believes and nothing is odd about the keys. It is take.lua's answer, found without
-- the making of its functions, which takes Lua longer than the decision itself. Everything else falls through, with
-- nothing written.
--
-- KEYS and ARGV: store.lua and take.lua. The reply is one string of four doubles, little-endian, which is cheaper than a list:
-- now, status, wait, remaining. The reset is an interval after now, rounded up.
--
-- Calls of a grant: TIME, HMGET, GET, ZRANGE, ZCOUNT, ZADD, DECRBY; three more when grants have expired, one for a rate above 2,000.
-- Of a refusal: TIME, HMGET, GET, ZRANGE, ZRANK. A keep-alive adds three to a grant, PerClient two.
-- Numbers go into calls as text where they are at hand as text: Redis takes longer to print one than to read it.

local arg = ARGV
if not arg[9] then
  local call, pcall = redis.call, redis.pcall
  local c = pcall('HMGET', KEYS[1], 'rate', 'interval', 'type', 'keepAliveTime')
  if c[1] == arg[2] and c[2] == arg[4] and c[3] == arg[3] and (c[4] or '0') == arg[5] then
    local now, rate, interval = arg[1], arg[2] + 0, arg[4] + 0
    if now == '0' then
      local t = call('TIME')
      now = t[1] * 1000000 + t[2]
    else
      now = now + 0
    end
    local value, n = tonumber(pcall('GET', KEYS[2])), arg[7] + 0
    if value and value >= 0 and value <= rate and value % 1 == 0 and n <= rate then
      local head = pcall('ZRANGE', KEYS[3], '0', '0', 'WITHSCORES')
      local first, oldest = tonumber(head[2]), head[1]
      local ms = now / 1000
      local floor = ms - ms % 1
      local ceil = ms > floor and floor + 1 or floor
      if not first or first >= ceil + 1 then
        -- an empty ledger, or one that is all in the future
      elseif value < n then
        if first >= floor - interval + 1 and #oldest == 21 and struct.unpack('<I4', oldest, 18) >= n - value then
          local away = (first - first % 1 + interval) * 1000 - now
          if (arg[6] == '0' or away > arg[6] + 0) and arg[5] == '0' and not call('ZRANK', KEYS[3], arg[8]) then
            return struct.pack('<dddd', now, 0, away, value)
          end
        end
      else
        local dated = string.format('%.0f', ceil)
        local gone, ok = 0, call('ZCOUNT', KEYS[3], '(' .. dated, '+inf') == 0
        if ok and first < floor - interval + 1 then
          local some = call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. string.format('%.0f', floor - interval + 1), 'LIMIT', '0', '9')
          gone = #some
          for i = 1, gone do
            ok = ok and #some[i] == 21
            value = value + (ok and struct.unpack('<I4', some[i], 18) or 0)
          end
          ok = ok and gone < 9 and value <= rate
          local second = ok and tonumber(call('ZRANGE', KEYS[3], gone, gone, 'WITHSCORES')[2])
          ok = second and second - second % interval == first - first % interval
        end
        if ok and (rate <= 2000 or call('ZCARD', KEYS[3]) < 2000) and call('ZADD', KEYS[3], 'NX', dated, arg[8]) == 1 then
          value = value - n
          if gone > 0 then
            call('ZREMRANGEBYRANK', KEYS[3], 0, gone - 1)
            call('SET', KEYS[2], string.format('%.0f', value), 'KEEPTTL')
          elseif pcall('DECRBY', KEYS[2], arg[7]) ~= value then
            call('SET', KEYS[2], string.format('%.0f', value), 'KEEPTTL') -- it was a number, but not as DECRBY reads it
          end
          if arg[5] ~= '0' then
            local life = math.max(arg[5] + 0, ceil - floor + interval)
            call('PEXPIRE', KEYS[1], arg[5])
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
  end
end
