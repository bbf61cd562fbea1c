import { expect, test } from 'vitest';
import { requestOf } from '../../test/auth/request.ts';
import { clientOriginResolver } from './client-origin.ts';

/** The connection that a request of this peer has, whose own one is `connection`. */
function resolve(remoteAddress: string | undefined, connection: object | undefined): object | undefined {
  const request = { ...requestOf({ headers: { 'x-forwarded-for': '192.0.2.1' } }), remoteAddress, connection };
  return clientOriginResolver(['10.0.0.0/8'])(request).connection;
}

test('the connection of a trusted proxy carries requests of many clients: it is omitted', () => {
  expect(resolve('10.0.0.1', {})).toBeUndefined();
  expect(resolve('::ffff:10.0.0.1', {})).toBeUndefined();
});

test('the connection of a peer without an address may be that of a proxy: it is omitted', () => {
  expect(resolve(undefined, {})).toBeUndefined();
});

test('the connection of another peer is that of the client', () => {
  const connection = {};
  expect(resolve('192.0.2.7', connection)).toBe(connection);
  expect(resolve('192.0.2.7', undefined)).toBeUndefined();
});
