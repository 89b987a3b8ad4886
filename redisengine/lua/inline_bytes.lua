-- What is stored for one limit of one key, as bytes; and the clock. Begins every script of inline limits.
--
-- The bytes: a format byte, the first entry's date (6), what the format adds, the entries, oldest first. All numbers are little-endian.
--   format: bits 0-4 the unit of dates, 2^k ms; bit 5 counted: permits (7), milliseconds from the first entry to the last (6),
--     entries (2); bit 6 some are reserved: when it was written (6), entries (2); bit 7 a bucket: debt (7), mark (7), cost (7).
--   entry: a varint of twice the units since the entry before, plus 1 for a plain grant of one permit. If not plain, a
--     varint of 8 times its permits plus its flags. Then, unless it is merged, its tag (5).
-- A key that holds anything else is begun anew.

local MOST_ENTRIES, FRESH, BUCKETS = 500, 100, 250
local MOST_OTHERS, FRESH_OTHERS = 32, 16
local MOST_MERGED = 2 ^ 40
local MOST_DEBT = 2 ^ 52
local FEW = 24 -- entries that are not counted in the header
local RESERVED, BOUND, MERGED = 1, 2, 4
local SLIDING, BUCKET, FIXED, ALIGNED = 0, 1, 2, 3

local call, floor, ceil_of, min, max = redis.call, math.floor, math.ceil, math.min, math.max
local byte, char, sub, find_text = string.byte, string.char, string.sub, string.find
local pack, unpack_of = struct.pack, struct.unpack

local now, down, up = tonumber(ARGV[1]), nil, nil
if now == 0 then
  local t = call('TIME')
  now = t[1] * 1000000 + t[2]
end
down, up = floor(now / 1000), ceil_of(now / 1000)

local stored = {} -- what was read, by place in KEYS

local function varint(v)
  local s = ''
  while v >= 128 do
    s = s .. char(v % 128 + 128)
    v = floor(v / 128)
  end
  return s .. char(v)
end

-- The entry at a byte: how far its date is from the one before, its permits, flags, tag, and where the next begins; nil when there are not enough bytes.
local function entry_at(raw, pos, unit)
  local v, b, scale = 0, byte(raw, pos), 1
  while b and b >= 128 do
    v, scale, pos = v + (b - 128) * scale, scale * 128, pos + 1
    b = byte(raw, pos)
  end
  if not b then
    return nil
  end
  v, pos = v + b * scale, pos + 1
  if v % 2 == 1 then
    return (v - 1) / 2 * unit, 1, 0, pos, pos + 5
  end
  local w, more = 0, byte(raw, pos)
  scale = 1
  while more and more >= 128 do
    w, scale, pos = w + (more - 128) * scale, scale * 128, pos + 1
    more = byte(raw, pos)
  end
  if not more then
    return nil
  end
  w, pos = w + more * scale, pos + 1
  local flags = w % 8
  return v / 2 * unit, (w - flags) / 8, flags, pos, flags >= MERGED and pos or pos + 5
end
