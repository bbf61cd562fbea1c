import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

import { checkAnswers, checkOnce } from '../src/check-answers.ts';
import { routineWorks } from '../src/works/routine-works.ts';

const scalar = routineWorks[0]!;

/** A server that sends a wrong sum, fails, or disconnects for some numbers. */
async function startServer(): Promise<string> {
  const server = createServer((request, response) => {
    const query = new URL(request.url!, 'http://x').searchParams;
    const [a, b] = [Number(query.get('a')), Number(query.get('b'))];
    if (a % 10 === 3) response.destroy();
    else if (a % 10 === 5) response.writeHead(500).end('no');
    else response.end(String(a % 10 === 4 ? a + b + 102 : a + b));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('responses of other requests, errors and lost connections are counted', async () => {
  const base = await startServer();
  await checkOnce(base, scalar);
  const { signal } = new AbortController();
  const { checked, wrong, failed, example } = await checkAnswers({
    base,
    work: scalar,
    connections: 5,
    seconds: 0.1,
    signal,
  });
  // The arguments of request n begin with a = n + 1.
  const count = (digit: number): number =>
    Array.from({ length: checked }, (_, index) => index + 2).filter((a) => a % 10 === digit).length;
  expect({ wrong, failed }).toEqual({ wrong: count(4), failed: count(3) + count(5) });
  expect(wrong).toBeGreaterThan(0);
  expect(example).toMatch(/^\/add\?a=[3]&b=/);
});

test.each(routineWorks.map((work) => [work.name, work] as const))(
  '%s refuses another result and an error',
  (_, work) => {
    expect(() => work.verify({ status: 200, body: Buffer.from('[]') }, 1)).toThrow(/number of rows|2 \+ 103/);
    expect(() => work.verify({ status: 500, body: Buffer.from('no') }, 0)).toThrow('status 500: no');
  },
);
