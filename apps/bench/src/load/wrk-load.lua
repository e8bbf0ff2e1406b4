-- Sends each request with the next id. Arguments: method, path, access token, order of the ids, first
-- id, and the parts of the body between which the ids go. An id replaces {id} in the path.

function init(args)
  method, path = args[1], args[2]
  head = " HTTP/1.1\r\nHost: " .. wrk.host .. "\r\nAuthorization: Bearer " .. args[3] .. "\r\n"
  order = args[4]
  next_number = tonumber(args[5])
  parts = { unpack(args, 6) }
end

-- The same formulas as in ids.ts.
local id_of = {
  int64 = function(n)
    local low, high = n % 1000000, math.floor(n / 1000000) % 1000000
    local start = 1000000 + (low * 5368787 + high * 3141593) % 8223371
    local middle = (high * 271829 + low * 618033) % 1000000
    return string.format("%s%d%06d%06d", n % 2 == 0 and "" or "-", start, middle, low * 736787 % 1000000)
  end,
  sequential = function(n) return string.format("%d", n) end,
  scattered = function(n)
    return string.format("%d", n % 10000000 * 7368787 % 10000000 * 10000 + 1 + math.floor(n / 10000000))
  end,
  stored = function(n)
    local row = n % 1000000 * 7368787 % 1000000
    return (row % 2 == 0 and "" or "-") .. string.format("%d", 1000000 + 8 * row) .. "345678901234"
  end,
}

local function next_id()
  next_number = next_number + 1
  return id_of[order](next_number - 1)
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
    'result {"replies":%d,"errors":%d,"seconds":%f,"p50":%f,"p99":%f}\n',
    summary.requests - e.status, e.status + e.connect + e.read + e.write + e.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
