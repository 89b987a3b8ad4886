-- Whether a reply of redis.pcall says that the key is of another type. Any other error, such as that the user may not do this, says nothing of the key
-- and fails the call.
local function wrong_type(reply)
  if type(reply) ~= 'table' or not reply.err then
    return false
  end
  if not string.find(reply.err, 'WRONGTYPE', 1, true) then
    error(reply.err)
  end
  return true
end
