-- Deletes a limiter, whatever its keys hold, but not half of a newer one.
--
-- KEYS: store.lua. Reply: {0, how many keys there were}, or as in store.lua.

for i = 4, 5 do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    return {4, i}
  end
end
return {0, redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])}
