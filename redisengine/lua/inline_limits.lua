-- The limits that a call brings, and the states at hand. Twin of internal/inline/limit.go.
--
-- KEYS: the states.
-- ARGV: 1 now in microseconds, 0 for the server's clock; 2 how many limits, then for each its place in KEYS, kind (0 sliding window, 1 token
-- bucket, 2 fixed, 3 aligned window), rate, interval in ms, k of the unit of dates, and for a bucket its burst, cost, leak and tick.
--
-- A state that has no reservations stays as it was read (calm): raw from byte pos on, whose first entry is dated first. Everything else,
-- and what happens seldom, is done on lists (tabled): d dates, p permits, f flags, t tags, all with n entries.

local states = {} -- by place in KEYS: what is at hand
local limits = {} -- by place in the list
local next_arg = 3
for i = 1, tonumber(ARGV[2]) do
  local l = {
    at = tonumber(ARGV[next_arg]), kind = tonumber(ARGV[next_arg + 1]), rate = tonumber(ARGV[next_arg + 2]),
    interval = tonumber(ARGV[next_arg + 3]), shift = tonumber(ARGV[next_arg + 4]),
  }
  l.unit, l.life, l.most = 2 ^ l.shift, l.interval, l.rate
  next_arg = next_arg + 5
  if l.kind == BUCKET then
    l.most, l.cost, l.leak, l.tick = tonumber(ARGV[next_arg]), tonumber(ARGV[next_arg + 1]), tonumber(ARGV[next_arg + 2]), tonumber(ARGV[next_arg + 3])
    l.room = l.most * l.cost
    l.life = ceil_of(ceil_of(l.room / l.leak) * l.tick / 1000)
    next_arg = next_arg + 4
  end
  limits[i] = l
end
