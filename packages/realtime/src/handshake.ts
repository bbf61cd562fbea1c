import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem } from '@pgway/core';
import { parseQueryString } from '@pgway/core/internal';
import { type Version, versions } from './message.ts';

export interface Handshake {
  readonly version: Version;
  /** Null: the client has given none. */
  readonly apiKey: string | null;
}

/**
 * Reads the parameters of a handshake.
 * @throws Problem 400 for an unknown version of the protocol, 403 for a page of another site
 */
export function readHandshake(request: IncomingMessage, allowedOrigins: readonly string[]): Handshake {
  checkOrigin({ origin: firstHeader(request, 'origin'), host: firstHeader(request, 'host') }, allowedOrigins);
  const query = parseQueryString(request.url!.split('?', 2)[1] ?? '');
  const given = query.get('vsn')?.at(-1) ?? versions[0];
  const version = versions.find((each) => each === given);
  if (version === undefined)
    throw new Problem('invalid-parameter', {
      detail: `vsn must be ${versions.join(' or ')}.`,
      members: { parameters: ['vsn'] },
    });
  const apiKey = query.get('apikey')?.at(-1) ?? firstHeader(request, 'apikey') ?? '';
  if (!/^[\x21-\x7e]*$/.test(apiKey))
    throw new Problem('invalid-parameter', { detail: 'apikey must be a token.', members: { parameters: ['apikey'] } });
  return { version, apiKey: apiKey === '' ? null : apiKey };
}

/**
 * Browsers send the origin of the page; other clients send none.
 * @param host of the request
 * @throws Problem 403 for a page of another site
 */
export function checkOrigin(
  { origin, host }: { readonly origin: string | null; readonly host: string | null },
  allowedOrigins: readonly string[],
): void {
  if (origin === null || allowedOrigins.includes('*') || allowedOrigins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) return;
  throw new Problem('cross-site-request', {
    detail: 'The connection comes from a page of another site. Add its origin to allowedOrigins.',
  });
}

function firstHeader({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Answers a handshake that is refused, and closes its connection. */
export function refuseHandshake(socket: Duplex, problem: Problem): void {
  const { status, title, detail, type } = problem;
  const body = JSON.stringify({ type, title, status, ...(detail === undefined ? {} : { detail }) });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
