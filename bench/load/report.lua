-- Run by wrk when the load has ended: one JSON line behind a sentinel, read by load/wrk.cpp.
-- The histogram is wrk's own, with the samples that its correction of coordinated omission
-- invented; the runner takes them out again. Lua's latency:percentile() cannot show it, so it is
-- reached through the FFI: wrk hands over a pointer to its struct.
-- What is sent comes by the environment, because `done` runs in a Lua state of its own.
local body = os.getenv("WAITBENCH_BODY")
if body and body ~= "" then
    wrk.method = "POST"
    wrk.body = body
    wrk.headers["Content-Type"] = "application/json"
end

local ffi = require("ffi")
ffi.cdef("typedef struct { uint64_t count, limit, min, max, data[]; } waitbench_histogram;")

function done(summary, latency, requests)
    local histogram = ffi.cast("waitbench_histogram**", latency)[0]
    local cells = {}
    if histogram.count > 0 then
        for microseconds = tonumber(histogram.min), tonumber(histogram.max) do
            local count = tonumber(histogram.data[microseconds])
            if count > 0 then
                cells[#cells + 1] = string.format("[%d,%d]", microseconds, count)
            end
        end
    end
    local errors = summary.errors
    io.write(string.format(
        '\nWAITBENCH {"duration_us":%d,"requests":%d,"bytes":%d,"connect_errors":%d,' ..
        '"read_errors":%d,"write_errors":%d,"timeouts":%d,"status_errors":%d,"histogram":[%s]}\n',
        summary.duration, summary.requests, summary.bytes, errors.connect,
        errors.read, errors.write, errors.timeout, errors.status, table.concat(cells, ",")))
end
