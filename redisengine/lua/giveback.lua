-- Gives permits back, in order. Twin of internal/ledger/giveback.go.
--
-- KEYS, ARGV 1 to 5: store.lua. Then for each return: how many permits, and the member of the grant or '' for the oldest ones.
-- Reply: {0, now, rate, interval, healed}, then for each return how many it freed.

local RELEASE_SLICE = 2048

local function shrink(score, m, n)
  remove_all({m})
  local rest = permits(m) - n
  if rest > 0 and not add(score, with_permits(m, rest)) then -- a take was resent after a part of it had been given back
    n = permits(m)
  end
  credit(n)
end

local function refund(n, m)
  local score = score_of(m)
  if not score or merged(m) or math.floor(score) <= floor - interval then
    return 0
  end
  n = math.min(n, permits(m))
  shrink(score, m, n)
  return n
end

local function release(n)
  purge()
  local freed, out, part = 0, 0, nil
  local some = members_before(ceil + 1, math.min(n, RELEASE_SLICE))
  for i = 1, #some do
    if n - freed < permits(some[i]) then
      part = some[i]
      break
    end
    freed = freed + permits(some[i])
    out = out + 1
  end
  if out > 0 then
    remove_first(out)
  end
  credit(freed)
  if part and n > freed then
    shrink(score_of(part), part, n - freed)
    freed = n
  end
  return freed
end

local refusal = check_config()
if refusal then
  return refusal
end
open(tonumber(ARGV[2]))
local reply = {0, now, rate, interval, 0}
local freed = 0
for i = 6, #ARGV, 2 do
  local give = ARGV[i + 1] == '' and release or refund
  reply[#reply + 1] = give(tonumber(ARGV[i]), ARGV[i + 1])
  freed = freed + reply[#reply]
end
ends()
if not head then
  value = rate
end
close()
used(freed > 0)
reply[5] = healed
return reply
