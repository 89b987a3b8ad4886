-- The member of an entry. Twin of internal/ledger/member.go; no redis.call.

local UNBOUNDED, MAX_DATE = 16777215, 8796093022207

-- How many permits a member holds; nil when no limiter wrote it. All of Redisson's formats end with the count; they differ in
-- what comes before: a length byte and so many random bytes, or sizes 8 and 20 of old versions.
local function permits_of(m)
  local n = #m
  if n > 4 and (string.byte(m, 1) + 5 == n or n == 20 or n == 8) then
    return struct.unpack('<I4', m, n - 3)
  end
end

-- permits_of, 0 for what no limiter wrote: it holds nothing, and goes when its score has left the window.
local function permits(m)
  return permits_of(m) or 0
end

local function own(m)
  return #m == 21 and string.sub(m, 1, 3) == '\16SL' and string.byte(m, 4) <= 2
end

local function firm(m)
  return string.byte(m, 4) == 1
end

local function merged(m)
  return own(m) and string.byte(m, 4) == 2
end

-- How far ahead of now, in milliseconds, the entry can be dated by right.
local function patience(m)
  if not own(m) then
    return 0
  end
  local a, b, c = string.byte(m, 5, 7)
  local seconds = a + b * 256 + c * 65536
  return seconds == UNBOUNDED and MAX_DATE or seconds * 1000
end

local function movable(m)
  return own(m) and not firm(m) and patience(m) > 0
end

local function with_permits(m, n)
  return string.sub(m, 1, -5) .. struct.pack('<I4', n)
end

-- The member of an entry that stands for a run of grants of which m is the newest. What is random in m makes it
-- different from others, and where m has too little of that, the salt.
local function merge(m, n, salt)
  local tail = string.sub(m, math.max(1, #m - 13), -5)
  return '\16SL\2' .. struct.pack('<I3', salt) .. tail .. string.rep('\0', 10 - #tail) .. struct.pack('<I4', n)
end
