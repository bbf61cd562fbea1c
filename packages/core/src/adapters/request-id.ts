import { randomBytes } from 'node:crypto';

/** Distinguishes processes. Within one, a counter is cheaper than more random bytes. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

/** Visible ASCII, at most 128 characters: the id goes into headers and log lines. */
const isSafe = /^[\x21-\x7e]{1,128}$/;

/** Returns a safe `X-Request-Id` as it is, else a new id. */
export function requestId(sent: string | undefined): string {
  if (sent !== undefined && isSafe.test(sent)) return sent;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
