import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

const mebibyte = 1024 * 1024;
const size = 20 * mebibyte;
const readers = 40;
/** The maximum memory for all clients that do not read, and for the calls that still run. */
const most = 256 * mebibyte + 10 * size;

const gateway = useGateway(
  `
  create function large(_size int) returns text language sql stable as $$ select repeat('x', _size) $$;
  comment on function large is 'HTTP GET';
`,
  { slowClientTimeout: 600, poolSize: 3, acquireTimeout: 60 },
);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function held(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** Asks for a large value; reads the head of the answer and nothing more. */
function ask(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`GET /api/large?size=${size} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    socket.once('readable', () => resolve(socket));
    socket.once('close', () => reject(new Error('there was no answer')));
  });
}

test(`${readers} readers that take nothing of ${size / mebibyte} MiB each`, async () => {
  const before = held();
  const sockets: Socket[] = [];
  for (let reader = 0; reader < readers; reader++) {
    sockets.push(await ask());
    expect(held() - before).toBeLessThan(most);
  }
  // Those that took nothing for the longest time were cut off, the others were not.
  expect(held() - before).toBeGreaterThan(5 * size);
  expect((await gateway.send('GET /api/large?size=1')).body).toBe('x');
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => held() - before).toBeLessThan(2 * size);
});
