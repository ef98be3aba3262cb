-- What wrk sends for `Benchmarks server`:
--
--     wrk -s requests.lua http://127.0.0.1:5984 -- DATABASE get|find|put|bulk DOCUMENTS
--
-- DOCUMENTS is how many documents the database has, for get. put and bulk add documents, whose ids are new in each run
-- only if the database is.

local json = {["Content-Type"] = "application/json"}
local requests = {}
local threads = 0
local added = 0

function requests.get()
  return wrk.format("GET", string.format("/%s/doc-%06d", database, math.random(documents)))
end

-- A hundredth of the documents has the age.
function requests.find()
  local body = string.format('{"selector":{"age":%d},"limit":25}', math.random(0, 99))
  return wrk.format("POST", "/" .. database .. "/_find", json, body)
end

-- As long as the documents that are there.
local function document()
  added = added + 1
  local id = string.format("new-%d-%08d", number, added)
  return id, string.format(
    '{"_id":"%s","name":"Chaikea","age":%d,"docNumber":%d,"pet":{"species":"cat","name":"Zo"},' ..
    '"tags":["tag-ba","tag-ku","tag-dro"],"score":%d.5675,"created":"2017-03-09T12:00:59Z",' ..
    '"comment":"some words that say nothing at all of the pet, but make it as long as the others are"}',
    id, added % 100, added, added % 1000)
end

function requests.put()
  local id, text = document()
  return wrk.format("PUT", "/" .. database .. "/" .. id, json, text)
end

function requests.bulk()
  local texts = {}
  for position = 1, 1000 do _, texts[position] = document() end
  return wrk.format("POST", "/" .. database .. "/_bulk_docs", json, '{"docs":[' .. table.concat(texts, ",") .. "]}")
end

-- Each thread has a state of its own, with its number.
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(arguments)
  database, documents = arguments[1], tonumber(arguments[3])
  math.randomseed(number)
  request = requests[arguments[2]]
end

-- The last line of the output, for `Benchmarks server`. wrk measures in microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"nanoseconds":%d,"failures":%d,"p50":%d,"p99":%d,"greatest":%d}\n',
    summary.requests, summary.duration * 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50) * 1000, latency:percentile(99) * 1000, latency.max * 1000))
end
