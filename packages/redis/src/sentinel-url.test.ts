import { describe, expect, test } from 'vitest';
import { parseSentinelUrl } from './sentinel-url.ts';

describe('URLs of Redis Sentinel', () => {
  test('the shortest form', () => {
    expect(parseSentinelUrl('redis-sentinel://cache.internal/main')).toEqual({
      sentinels: [{ host: 'cache.internal', port: 26_379 }],
      name: 'main',
      tls: false,
      server: {},
      sentinel: {},
    });
  });

  test('all parts, with reserved characters', () => {
    const url =
      'rediss-sentinel://me:p@s/s%2F:w@[::1]:1,b,10.0.0.3:3/my%20name/2?sentinelUser=watch&sentinelPassword=a%26+b';
    expect(parseSentinelUrl(url)).toEqual({
      sentinels: [
        { host: '::1', port: 1 },
        { host: 'b', port: 26_379 },
        { host: '10.0.0.3', port: 3 },
      ],
      name: 'my name',
      tls: true,
      server: { username: 'me', password: 'p@s/s/:w', database: 2 },
      sentinel: { username: 'watch', password: 'a&+b' },
    });
  });

  test('other schemes are not URLs of Sentinel', () => {
    expect([parseSentinelUrl('redis://a:1/0'), parseSentinelUrl('rediss://a'), parseSentinelUrl('')]).toEqual([
      null,
      null,
      null,
    ]);
  });

  const form = 'write it as redis-sentinel://user:password@host:26379,host:26379/name';
  test.each([
    ['redis-sentinel://:secret@a:1', `the URL of Redis Sentinel is invalid; ${form}`],
    ['redis-sentinel://a:1/', `the URL of Redis Sentinel is invalid; ${form}`],
    ['redis-sentinel://a:1/main/x', `the URL of Redis Sentinel is invalid; ${form}`],
    ['redis-sentinel:a', `the URL of Redis Sentinel is invalid; ${form}`],
    ['redis-sentinel://a:1,/main', `the URL of Redis Sentinel has an invalid host or port; ${form}`],
    ['redis-sentinel://a:123456/main', `the URL of Redis Sentinel has an invalid host or port; ${form}`],
    [
      'redis-sentinel://:s%zz@a/main',
      'the URL of Redis Sentinel has a "%" without two hexadecimal digits; write "%" as %25',
    ],
    [
      'redis-sentinel://a/main?db=1',
      'the URL of Redis Sentinel has the unknown parameter "db"; sentinelUser and sentinelPassword are possible',
    ],
  ])('%s', (url, message) => {
    expect(() => parseSentinelUrl(url)).toThrow(new TypeError(message));
  });
});
