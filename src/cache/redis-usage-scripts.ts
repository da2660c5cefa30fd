/**
 * The usage book in Lua. KEYS of every script: results by time of their last request (milliseconds), their records, and of
 * those whose refresh has failed, until when they are held off and the number of failures.
 */
import { CLOCK, script } from '../redis/scripts';

/** Milliseconds after the last write until the book expires. */
const EXPIRY = 7 * 24 * 3600 * 1000;

const DROP = `
  local function drop(hash)
    redis.call('ZREM', KEYS[1], hash)
    redis.call('HDEL', KEYS[2], hash)
    redis.call('HDEL', KEYS[3], hash)
  end
`;

/** ARGV: number of results to remember, then a flat list of names and records. */
export const TOUCH = script(`
  ${CLOCK} ${DROP}
  for i = 2, #ARGV, 2 do
    redis.call('ZADD', KEYS[1], millis, ARGV[i])
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
  local excess = redis.call('ZCARD', KEYS[1]) - ARGV[1]
  if excess > 0 then
    for _, hash in ipairs(redis.call('ZRANGE', KEYS[1], 0, excess - 1)) do drop(hash) end
  end
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ${EXPIRY}) end
  return 1
`);

/** ARGV: milliseconds to look back, maximal number. Returns a flat list of record, milliseconds since the last request, and failures. */
export const IN_USE = script(`
  ${CLOCK}
  local most = tonumber(ARGV[2])
  -- Held-off results are skipped, so look at more.
  local limit = most + redis.call('HLEN', KEYS[3])
  local recent = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', millis - ARGV[1], 'WITHSCORES', 'LIMIT', 0, limit)
  local answer = {}
  for i = 1, #recent, 2 do
    if #answer >= most * 3 then break end
    local record = redis.call('HGET', KEYS[2], recent[i])
    local untilWhen, failures = string.match(redis.call('HGET', KEYS[3], recent[i]) or '', '^(%d+) (%d+)$')
    if record and (tonumber(untilWhen) or 0) <= millis then
      answer[#answer + 1] = record
      answer[#answer + 1] = math.max(0, millis - recent[i + 1])
      answer[#answer + 1] = tonumber(failures) or 0
    end
  end
  return answer
`);

/** ARGV: name, milliseconds to hold it off. */
export const FAILED = script(`
  ${CLOCK}
  if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
  local failures = tonumber(string.match(redis.call('HGET', KEYS[3], ARGV[1]) or '', ' (%d+)$')) or 0
  redis.call('HSET', KEYS[3], ARGV[1], string.format('%.0f %.0f', millis + ARGV[2], failures + 1))
  redis.call('PEXPIRE', KEYS[3], ${EXPIRY})
  return 1
`);

/** ARGV: name. Returns 1 while it is held off. */
export const HELD_OFF = script(`
  ${CLOCK}
  local untilWhen = tonumber(string.match(redis.call('HGET', KEYS[3], ARGV[1]) or '', '^%d+'))
  return untilWhen and untilWhen > millis and 1 or 0
`);

/** ARGV: name. */
export const SUCCEEDED = script(`
  return redis.call('HDEL', KEYS[3], ARGV[1])
`);

/** ARGV: name. */
export const FORGET = script(`
  ${DROP}
  drop(ARGV[1])
  return 1
`);
