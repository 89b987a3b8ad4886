-- Stores what there is not yet of a configuration.
--
-- KEYS: store.lua. ARGV[1] rate, ARGV[2] interval in ms, ARGV[3] type.
-- Reply: {0, 1 if there was no type}, or as in store.lua.

local refusal = read_config(ARGV) or read_value()
if refusal then
  return refusal
end
redis.call('HSETNX', KEYS[1], 'rate', ARGV[1])
redis.call('HSETNX', KEYS[1], 'interval', ARGV[2])
return {0, redis.call('HSETNX', KEYS[1], 'type', ARGV[3])}
