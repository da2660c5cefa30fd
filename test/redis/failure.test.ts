import { TimeoutError } from '../../packages/duckdb-engine/src/concurrency/deadline';
import { kindOf, reasonOf } from '../../src/redis/failure';

/** As ioredis gives what a server has answered. */
function reply(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError', command: { name: 'auth', args: ['hidden'] } });
}

describe('what a failure says of Redis', () => {
  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'refused', 'answered OOM'],
    // As Redis 7 and Redis 6 report a command of a script.
    [
      "OOM command not allowed when used memory > 'maxmemory'. script: 87a0, on @user_script:1.",
      'refused',
      'answered OOM',
    ],
    [
      'ERR Error running script (call to f_87a0): @user_script:1: @user_script: 1: -OOM command not allowed',
      'refused',
      'answered OOM',
    ],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'refused', 'answered WRONGTYPE'],
    ['MISCONF Redis is configured to save RDB snapshots', 'refused', 'answered MISCONF'],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'refused', 'answered NOPERM'],
    ["ERR unknown command 'AUTH', with args beginning with: 'hidden'", 'refused', 'answered ERR'],
    ['hidden', 'refused', 'answered ERR'],
    ["READONLY You can't write against a read only replica.", 'elsewhere', 'answered READONLY'],
    [
      "ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You can't write",
      'elsewhere',
      'answered READONLY',
    ],
    ['LOADING Redis is loading the dataset in memory', 'broken', 'answered LOADING'],
    ['MASTERDOWN Link with MASTER is down', 'broken', 'answered MASTERDOWN'],
    ['CLUSTERDOWN The cluster is down', 'broken', 'answered CLUSTERDOWN'],
    ['NOAUTH Authentication required.', 'broken', 'answered NOAUTH'],
    ['WRONGPASS invalid username-password pair', 'broken', 'answered WRONGPASS'],
    ['BUSY Redis is busy running a script.', 'broken', 'answered BUSY'],
  ])('reads the reply %s', (message, kind, reason) => {
    expect(kindOf(reply(message))).toBe(kind);
    expect(reasonOf(reply(message))).toBe(reason);
  });

  it('tells errors of the connection by their kind, never by their words', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED hidden:1'), { code: 'ECONNREFUSED' });
    expect([kindOf(refused), reasonOf(refused)]).toEqual(['broken', 'ECONNREFUSED']);
    expect([kindOf(new Error('hidden')), reasonOf(new Error('hidden'))]).toEqual(['broken', 'Error']);
    expect([kindOf('hidden'), reasonOf('hidden')]).toEqual(['broken', 'unknown']);
    expect([kindOf(new TimeoutError()), reasonOf(new TimeoutError())]).toEqual(['late', 'no answer in time']);
  });
});
