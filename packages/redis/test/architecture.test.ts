import { resolve } from 'node:path';
import * as redis from '@pgway/redis';
import { filesInCycles, readSourceFiles } from '@pgway/testing';
import { expect, test } from 'vitest';

const source = readSourceFiles(resolve(import.meta.dirname, '../src'));

test('the names that a program can import', () => {
  expect(Object.keys(redis).toSorted()).toEqual(['redisBroadcast', 'redisCache', 'redisRateLimits']);
});

test('the client of Redis is imported by one file, and no other package of pgway than the core', () => {
  const others = source.outside.filter(({ target }) => target !== '@pgway/core' && target !== 'node');
  expect([...new Set(others.map(({ file, target }) => `${file} → ${target}`))]).toEqual(['connect.ts → @redis/client']);
});

test('no file imports itself through others, types included', () => {
  expect(filesInCycles(source)).toEqual([]);
});
