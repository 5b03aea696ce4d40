local at = 0
function request()
  at = at + 1
  if at > #asked then at = 1 end
  return asked[at]
end
function done(summary, latency, requests)
  local e = summary.errors
  print(string.format("counted %d %d %d %d %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
