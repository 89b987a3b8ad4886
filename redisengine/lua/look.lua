-- Sets the line in order and says where the reservations of the caller are. Twin of internal/ledger/look.go.
--
-- KEYS, ARGV 1 to 5: store.lua. Then the members.
-- Reply: {0, now, rate, interval, healed}, then for each member the microseconds until its date; false: it is not there.

local refusal = check_config()
if refusal then
  return refusal
end
local believed = tonumber(ARGV[2])
open(believed)
local asked = {unpack(ARGV, 6)}
if wait then
  local mine = {}
  for i = 1, #asked do
    mine[asked[i]] = true
  end
  local reach = SETTLE_SLICE
  if believed >= 0 and believed ~= rate then
    reach = card()
  end
  settle(mine, reach)
end
close()
used(false)
local reply = {0, now, rate, interval, healed}
local scores = redis.call('ZMSCORE', KEYS[3], unpack(asked))
for i = 1, #asked do
  local score = tonumber(scores[i] or nil)
  reply[#reply + 1] = score and math.floor(score) * 1000 - now or false
end
return reply
