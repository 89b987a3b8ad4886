-- Sets the line in order from the earliest of the caller's reservations on, some way, and says where they are. Twin of
-- internal/ledger/look.go.
--
-- KEYS, ARGV 1 to 5: store.lua. Then the members.
-- Reply: {0, now, rate, interval, healed, up to how many of the members the line is in order}, then for each member the microseconds
-- until its date; false: it is not there.

local refusal = check_config()
if refusal then
  return refusal
end
local believed = tonumber(ARGV[2])
open(believed)
local asked = {unpack(ARGV, 6)}
local stop = 0
if wait then
  local mine = {}
  for i = 1, #asked do
    mine[asked[i]] = true
  end
  local start = count_before(ceil + 1)
  if believed > 0 and believed ~= rate then
    stop = settle(mine, start, card(), card())
  else
    local least = math.huge
    local scores = scores_of(asked)
    for i = 1, #asked do
      least = math.min(least, tonumber(scores[i] or nil) or math.huge)
    end
    if least < math.huge then
      start = math.max(start, count_below(least))
    end
    stop = settle(mine, start, SETTLE_SLICE, WINDOW_SLICE)
  end
end
close()
used(false)

local settled = wait and -1 or math.huge -- the score up to which the line is in order
if wait and stop > 0 then
  local _, score = entry_at(stop - 1)
  settled = score
end
local reply = {0, now, rate, interval, healed, 0}
local scores = scores_of(asked)
for i = 1, #asked do
  local score = tonumber(scores[i] or nil)
  reply[#reply + 1] = score and math.floor(score) * 1000 - now or false
  if reply[6] == i - 1 and (not score or score <= settled) then
    reply[6] = i
  end
end
return reply
