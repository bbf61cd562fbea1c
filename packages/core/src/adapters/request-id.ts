import { randomBytes } from 'node:crypto';

/** Tells the ids of this process from those of others; within it, a counter is cheaper than further random bytes. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

/** Visible ASCII only, and not too much of it: an id goes into headers and log lines. */
const isSafe = /^[\x21-\x7e]{1,128}$/;

/** The id that came with a request as `X-Request-Id`, where it is a safe one, or a new id. */
export function requestId(sent: string | undefined): string {
  if (sent !== undefined && isSafe.test(sent)) return sent;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
