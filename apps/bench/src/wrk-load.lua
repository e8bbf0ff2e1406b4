-- One request after the other, each with ids of its own. Arguments: path, token, order of the ids,
-- first id, and the body's pieces, between which the ids go.

function init(args)
  head = "POST " .. args[1] .. " HTTP/1.1\r\nHost: " .. wrk.host .. "\r\nAuthorization: Bearer " ..
    args[2] .. "\r\nContent-Type: application/json\r\nContent-Length: "
  strewn = args[3] == "strewn"
  next_id = tonumber(args[4])
  pieces = { unpack(args, 5) }
end

-- The same as `strewn` in ids.ts.
local function strew(n)
  return n % 10000000 * 7368787 % 10000000 * 10000 + 1 + math.floor(n / 10000000)
end

function request()
  local body = pieces[1]
  for piece = 2, #pieces do
    local id = strewn and strew(next_id) or next_id
    next_id = next_id + 1
    body = body .. string.format("%d", id) .. pieces[piece]
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
