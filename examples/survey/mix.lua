-- The mix of the survey for wrk: of a hundred requests 70 read a visitor, 25 count a close, 5 create a visitor.
-- Visitors 0 to VISITORS-1 are there already; a visitor's id is its number times an odd constant, modulo 2^62.

local ffi = require("ffi")

local visitors = tonumber(os.getenv("VISITORS") or "6000000")
-- New ones begin where no earlier run has been.
local next_new = visitors + (os.time() % 1000000) * 1000000

local function id(number)
  local text = tostring((ffi.cast("uint64_t", number) * 2654435761ULL + 88172645463325252ULL) % 4611686018427387904ULL)
  return text:sub(1, -4) -- without "ULL"
end

function init()
  math.randomseed(2012)
end

function request()
  local dice = math.random(100)
  if dice <= 5 then
    next_new = next_new + 1
    return wrk.format("POST", "/records/visitors", { ["Content-Type"] = "application/json" },
      '{"id":"' .. id(next_new) .. '","site":"load.example"}')
  end
  local path = "/records/visitors/" .. id(math.random(0, visitors - 1))
  if dice <= 30 then
    return wrk.format("PATCH", path, { ["Content-Type"] = "application/json" }, '{"closes":1}')
  end
  return wrk.format("GET", path)
end


function done(summary, latency)
  io.write(string.format("%.0f requests/s, p50 %.2f ms, p99 %.2f ms, %d errors\n",
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
