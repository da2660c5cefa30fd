/** Leases and entries: what has to happen in Redis in one step, in Lua. */
import { CLOCK, script } from '../redis/scripts';

/** Microseconds by which a fence may be ahead of Redis's clock, as after a fail-over to another clock; any further, it does not count. */
const MOST_AHEAD = 86_400_000_000;

/** The fence of the entry in KEYS[at]; 0: no entry. After CLOCK. */
const THERE = (at: number): string => `
  local there = 0
  if redis.call('TYPE', KEYS[${at}]).ok == 'hash' then
    there = tonumber(redis.call('HGET', KEYS[${at}], 'fence') or '0') or 0
    if not (there >= 0 and there < micros + ${MOST_AHEAD}) then there = 0 end
  end
`;

/** Milliseconds beyond which no lease is given: what has longer, or no end at all, is of somebody else's making. */
const LONGEST_LEASE = 60_000;

/** Gives the lease in KEYS[1] an end if it has none, so that it is gone within one lease time (milliseconds). */
const BOUNDED = (leaseTime: string): string => `
  local left = redis.call('PTTL', KEYS[1])
  if left == -1 or left > ${LONGEST_LEASE} then redis.call('PEXPIRE', KEYS[1], ${leaseTime}) end
`;

/**
 * KEYS: lease, last fence, entry. ARGV: owner, milliseconds of the lease, milliseconds for which the last fence is
 * remembered. Returns the fence and that of the current entry (0: no entry); nil: the lease is held.
 */
export const ACQUIRE = script(`
  if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    ${BOUNDED('ARGV[2]')}
    return nil
  end
  ${CLOCK} ${THERE(3)}
  local last = redis.call('TYPE', KEYS[2]).ok == 'string' and tonumber(redis.call('GET', KEYS[2])) or 0
  if not (last >= 0 and last < micros + ${MOST_AHEAD}) then last = 0 end
  local fence = math.max(micros, last + 1, there + 1)
  redis.call('SET', KEYS[2], string.format('%.0f', fence), 'PX', ARGV[3])
  return { fence, there }
`);

/** KEYS: lease. ARGV: owner, milliseconds of the lease. Returns 1; 0: it is not the owner's any more. */
export const RENEW = script(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** KEYS: lease. ARGV: owner. Returns 1; 0: it was not the owner's any more. */
export const RELEASE = script(`
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])
`);

/**
 * KEYS: lease, waiters. ARGV: id of the waiter, milliseconds for which it is registered. Returns 1: the lease is held;
 * 0: it is not.
 */
export const AWAIT = script(`
  if redis.call('EXISTS', KEYS[1]) == 0 then
    redis.call('ZREM', KEYS[2], ARGV[1])
    return 0
  end
  ${BOUNDED('ARGV[2]')} ${CLOCK}
  redis.call('ZADD', KEYS[2], millis + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[2] * 2)
  return 1
`);

/** KEYS: waiters. ARGV: id of the caller. Returns how many others wait. */
export const AWAITED = script(`
  ${CLOCK}
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', millis)
  local all = redis.call('ZCARD', KEYS[1])
  return redis.call('ZSCORE', KEYS[1], ARGV[1]) and all - 1 or all
`);

/**
 * KEYS: entry. ARGV: fence, milliseconds to store it, then its other fields as a flat list of names and values, always the same
 * names. Returns 1; 0: the current entry has a higher fence.
 */
export const WRITE = script(`
  ${CLOCK} ${THERE(1)}
  if there > tonumber(ARGV[1]) then return 0 end
  local fields = { 'fence', ARGV[1] }
  for i = 3, #ARGV do fields[#fields + 1] = ARGV[i] end
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 1
`);
