-- Reads the configuration and, if asked to, the window. Writes nothing.
--
-- KEYS: store.lua. ARGV[1] 'config' or 'window'.
-- Reply: {0, rate, interval, type, what is left of the window; all of the rate if there is none}, or as in store.lua.

local refusal = read_config()
if not refusal and ARGV[1] == 'window' then
  refusal = read_value()
end
if refusal then
  return refusal
end
return {0, bounded(rate), interval, mode, bounded(math.min(value or rate, rate))}
