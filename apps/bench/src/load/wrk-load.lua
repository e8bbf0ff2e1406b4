-- Sends each request with the next id. Arguments: method, path, access token, order of the ids, number of
-- the first id, and the parts of the body between which the ids go. An id replaces {id} in the path.

function init(args)
  method, path = args[1], args[2]
  head = " HTTP/1.1\r\nHost: " .. wrk.host .. "\r\nAuthorization: Bearer " .. args[3] .. "\r\n"
  order = args[4]
  next_number = tonumber(args[5])
  parts = { unpack(args, 6) }
end

-- Computes the same ids as ids.ts: an integer with the suffix LL also overflows at 64 bits.
local function next_id()
  local n = next_number
  next_number = n + 1
  if order == "small" then return string.format("%d", n) end
  local row = order == "stored" and n % 1000000 or n + 1000000
  return tostring(row * 0x9e3779b97f4a7c15LL):sub(1, -3)
end

function request()
  if method == "GET" then return "GET " .. path:gsub("{id}", next_id()) .. head .. "\r\n" end
  local body = parts[1]
  for part = 2, #parts do body = body .. next_id() .. parts[part] end
  return method .. " " .. path .. head .. "Content-Type: application/json\r\nContent-Length: " ..
    #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'result {"responses":%d,"errors":%d,"seconds":%f,"p50":%f,"p99":%f}\n',
    summary.requests - e.status, e.status + e.connect + e.read + e.write + e.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
