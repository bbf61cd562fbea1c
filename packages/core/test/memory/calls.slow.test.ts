import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { useGateway } from '@pgway/testing';
import type { GatewayRequest } from '../../src/http/request.ts';
import { expect, test } from 'vitest';

const gateway = useGateway(`
  create function add(a int, b int) returns int language sql immutable as 'select a + b';
  comment on function add(int, int) is 'HTTP';
`);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;

const request: GatewayRequest = {
  id: 'r1',
  method: 'GET',
  path: '/api/add',
  query: 'a=1&b=2',
  remoteAddress: '127.0.0.1',
  secure: false,
  header: () => undefined,
  headers: () => [],
  body: () => Promise.resolve(new Uint8Array(0)),
  async *chunks() {},
  onDisconnect: () => undefined,
};

/** Bytes of the heap after so many calls, ten at a time, with a collection of the young every two hundred. */
async function heapAfter(calls: number): Promise<number> {
  const { handle } = gateway.gateway;
  for (let made = 0; made < calls; made += 10) {
    await Promise.all(Array.from({ length: 10 }, () => handle(request)));
    if (made % 200 === 0) collect({ type: 'minor' });
  }
  collect({ type: 'minor' });
  return process.memoryUsage().heapUsed;
}

test('a call that is over leaves nothing among the old objects: those only a full collection would free', async () => {
  const before = await heapAfter(2_000);
  const after = await heapAfter(4_000);
  expect((after - before) / 4_000).toBeLessThan(500);
});
