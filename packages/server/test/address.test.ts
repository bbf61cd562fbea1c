import { expect, test } from 'vitest';
import { isLoopbackHost } from '../src/address.ts';

test('loopback hosts', () => {
  const loopback = ['localhost', 'a.localhost', '127.0.0.1', '127.8.8.8', '::1', '[::1]', '::ffff:127.0.0.1'];
  const others = ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.example.org'];

  expect(loopback.filter((host) => !isLoopbackHost(host))).toEqual([]);
  expect(others.filter(isLoopbackHost)).toEqual([]);
});
