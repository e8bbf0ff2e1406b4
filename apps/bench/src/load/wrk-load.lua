-- Sends each id once. Arguments: path, access token, order of the ids, first id, and the parts of
-- the body between which the ids go.

function init(args)
  head = "POST " .. args[1] .. " HTTP/1.1\r\nHost: " .. wrk.host .. "\r\nAuthorization: Bearer " ..
    args[2] .. "\r\nContent-Type: application/json\r\nContent-Length: "
  scattered = args[3] == "scattered"
  next_id = tonumber(args[4])
  parts = { unpack(args, 5) }
end

-- The same formula as in scattered-id.ts.
local function scattered_id(n)
  return n % 10000000 * 7368787 % 10000000 * 10000 + 1 + math.floor(n / 10000000)
end

function request()
  local body = parts[1]
  for part = 2, #parts do
    local id = scattered and scattered_id(next_id) or next_id
    next_id = next_id + 1
    body = body .. string.format("%d", id) .. parts[part]
  end
  return head .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'result {"replies":%d,"errors":%d,"seconds":%f,"p50":%f,"p99":%f}\n',
    summary.requests - e.status, e.status + e.connect + e.read + e.write + e.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
