import { parseRedisUrl } from '../../src/redis/address';
import { ConfigError } from '../../src/config';

const plain = { tls: false, credentials: null };

describe('REDIS_URL', () => {
  it.each([
    ['redis://localhost', { kind: 'single', ...plain, host: { host: 'localhost', port: 6379 }, db: 0 }],
    ['redis://localhost/', { kind: 'single', ...plain, host: { host: 'localhost', port: 6379 }, db: 0 }],
    ['redis://10.0.0.1:7000/3', { kind: 'single', ...plain, host: { host: '10.0.0.1', port: 7000 }, db: 3 }],
    ['redis://[::1]:7000', { kind: 'single', ...plain, host: { host: '::1', port: 7000 }, db: 0 }],
    [
      'rediss://:p%40s%2Fs:w%3Ard@cache.example.com:6380/0',
      {
        kind: 'single',
        tls: true,
        credentials: { username: null, password: 'p@s/s:w:rd' },
        host: { host: 'cache.example.com', port: 6380 },
        db: 0,
      },
    ],
    [
      'redis://us%20er:pass@h',
      {
        kind: 'single',
        tls: false,
        credentials: { username: 'us er', password: 'pass' },
        host: { host: 'h', port: 6379 },
        db: 0,
      },
    ],
    [
      'redis+sentinel://a,b:1,[fe80::1]:2/main',
      {
        kind: 'sentinel',
        ...plain,
        hosts: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 1 },
          { host: 'fe80::1', port: 2 },
        ],
        master: 'main',
        db: 0,
        sentinelCredentials: null,
      },
    ],
    [
      'rediss+sentinel://u:p@a:1/my%20main/12?sentinel_user=su&sentinel_password=s%26p',
      {
        kind: 'sentinel',
        tls: true,
        credentials: { username: 'u', password: 'p' },
        hosts: [{ host: 'a', port: 1 }],
        master: 'my main',
        db: 12,
        sentinelCredentials: { username: 'su', password: 's&p' },
      },
    ],
    [
      'redis+cluster://:p@a:1,b',
      {
        kind: 'cluster',
        tls: false,
        credentials: { username: null, password: 'p' },
        hosts: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
        ],
      },
    ],
    ['rediss+cluster://a', { kind: 'cluster', tls: true, credentials: null, hosts: [{ host: 'a', port: 6379 }] }],
  ])('reads %s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual(address);
  });

  it.each([
    ['redis://', /host:port/],
    ['redis://:hidden@', /host:port/],
    ['redis://:hidden@a b', /host:port/],
    ['redis://:hid/den@host', /does not read as a URL|database|host:port/],
    ['redis://:hid?den@host', /options/],
    ['redis://:hid#den@host', /does not read as a URL/],
    ['redis://:hid%zzden@host', /% that no two/],
    ['redis://hidden@host', /user without a password/],
    ['redis://hidden:@host', /user without a password/],
    ['redis://:hidden@host:0', /port/],
    ['redis://:hidden@host:65536', /port/],
    ['redis://:hidden@host:port', /host:port/],
    ['redis://:hidden@[host]', /host:port/],
    ['redis://:hidden@[1:2:3]', /IPv6/],
    ['redis://:hidden@a,b', /several hosts/],
    ['redis://:hidden@a/one', /database/],
    ['redis://:hidden@a/1/2', /database/],
    ['redis://:hidden@a?db=1', /options/],
    ['redis+sentinel://:hidden@a:1', /needs the master/],
    ['redis+sentinel://:hidden@a:1/main/x', /database/],
    ['redis+sentinel://:hidden@a:1/main/1/2', /too much/],
    ['redis+sentinel://:hidden@a:1/main?password=hidden', /sentinel_password/],
    ['redis+sentinel://a:1/main?sentinel_password=hidden&sentinel_password=hidden', /each once/],
    ['redis+sentinel://a:1/main?sentinel_user=hidden', /user without a password/],
    ['redis+sentinel://:hidden@a:1,,b/main', /host:port/],
    ['redis+cluster://:hidden@a/1', /one database/],
    ['redis+cluster://:hidden@a?x=1', /options/],
    ['redis+other://:hidden@a', /does not read as a URL/],
    ['http://:hidden@a', /does not read as a URL/],
  ])('refuses %s without repeating it', (url, words) => {
    const refused = (): unknown => parseRedisUrl(url);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(/^REDIS_URL: .*\.$/);
    expect(refused).toThrow(words);
    expect(refused).not.toThrow(/hid|den@/);
  });
});
