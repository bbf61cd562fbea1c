import type { RateLimitPolicy } from '@pgway/core';
import { segmentsPerWindow } from '@pgway/core/internal';
import { hash } from 'node:crypto';
import type { RedisScript } from './connection.ts';

/**
 * The algorithms of the memory store as Lua scripts, each with one key. `ARGV[1]` is the time in milliseconds, empty for the clock of the
 * server. A reply has three integers: 1 for an allowed request, the remaining requests, the milliseconds until there are more.
 */
function script(body: string): RedisScript {
  const text = `${clock}\n${body}`;
  return { text, sha1: hash('sha1', text) };
}

const clock = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(number) return string.format('%.0f', number) end
-- Keys expire by the time of the script, which differs from the clock of the server in tests.
local function save(value, expires)
  redis.call('SET', KEYS[1], value)
  redis.call('PEXPIREAT', KEYS[1], whole(expires))
end
`;

/** `ARGV`: time, limit, window. The value: start and requests. */
const fixedWindow = script(`
local limit, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local start, requests = now, 0
local s, r = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
if s and now < tonumber(s) + window then start, requests = math.min(tonumber(s), now), tonumber(r) end
local allowed = requests < limit
if allowed then requests = requests + 1 end
save(whole(start) .. ' ' .. whole(requests), start + window)
return { allowed and 1 or 0, limit - requests, start + window - now }
`);

/** `ARGV`: time, limit, window. The value: the start of the newest segment, then end and requests of each. */
const slidingWindow = script(`
local limit, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local numbers = {}
for number in string.gmatch(redis.call('GET', KEYS[1]) or '', '%d+') do numbers[#numbers + 1] = tonumber(number) end
local newest, ends, counts, requests, isAhead = numbers[1] or now, {}, {}, 0, false
for index = 2, #numbers - 1, 2 do
  if numbers[index] > now - window then
    ends[#ends + 1], counts[#counts + 1] = math.min(numbers[index], now), numbers[index + 1]
    requests, isAhead = requests + numbers[index + 1], isAhead or numbers[index] > now
  end
end
local allowed = requests < limit
if allowed then
  newest = math.min(newest, now)
  if #ends > 0 and now - newest < window / ${segmentsPerWindow} then
    ends[#ends], counts[#counts] = now, counts[#counts] + 1
  else
    newest, ends[#ends + 1], counts[#counts + 1] = now, now, 1
  end
  requests = requests + 1
end
if allowed or isAhead then
  local texts = { whole(newest) }
  for index = 1, #ends do texts[index + 1] = whole(ends[index]) .. ' ' .. whole(counts[index]) end
  save(table.concat(texts, ' '), now + window)
end
return { allowed and 1 or 0, limit - requests, ends[1] + window - now }
`);

/** `ARGV`: time, limit, window. The value: level and time. */
const tokenBucket = script(`
local limit, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local capacity = limit * window
local level, updated = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
level, updated = tonumber(level) or capacity, tonumber(updated) or now
level = math.min(capacity, level + math.max(0, now - updated) * limit)
local allowed = level >= window
if allowed then level = level - window end
local full = math.ceil((capacity - level) / limit)
save(whole(level) .. ' ' .. whole(now), now + full)
return { allowed and 1 or 0, math.floor(level / window), math.ceil((window - level % window) / limit) }
`);

/** `ARGV`: time, limit, milliseconds of a lease, permit. The value: the permits by the end of their leases. */
const concurrency = script(`
local limit, lease = tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
local running = redis.call('ZCARD', KEYS[1])
if running >= limit then return { 0, 0, 0 } end
redis.call('ZADD', KEYS[1], whole(now + lease), ARGV[4])
redis.call('PEXPIREAT', KEYS[1], whole(now + lease))
return { 1, limit - running - 1, 0 }
`);

/** `ARGV`: time, milliseconds of a lease, permits. Adds permits that the server has lost. */
export const renewLeases: RedisScript = script(`
local lease = tonumber(ARGV[2])
for index = 3, #ARGV do redis.call('ZADD', KEYS[1], whole(now + lease), ARGV[index]) end
redis.call('PEXPIREAT', KEYS[1], whole(now + lease))
return #ARGV - 2
`);

export const redisScripts: Readonly<Record<RateLimitPolicy['type'], RedisScript>> = {
  'fixed-window': fixedWindow,
  'sliding-window': slidingWindow,
  'token-bucket': tokenBucket,
  concurrency,
};
