/** Tells a page whether its caller is signed in: scripts cannot read the cookie of a session. */
import { type Gateway, Problem } from '@pgway/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServedDocument } from './send-document.ts';

/** The document for anonymous callers, in whose place `replyCaller` sends that of the caller. */
export const callerDocument: ServedDocument = { type: 'application/json', content: '{"signedIn":false}' };

/** @throws Problem 503 when the sessions cannot be checked */
export async function replyCaller(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = await gateway.authenticate(request.raw).catch((error: unknown) => {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    return null;
  });
  // A renewed cookie.
  const headers = caller?.headers ?? [];
  for (let index = 0; index < headers.length; index += 2) reply.header(headers[index]!, headers[index + 1]!);
  const { type, content } = callerDocument;
  return reply
    .type(type)
    .header('cache-control', 'no-store')
    .send(Buffer.from(caller === null ? String(content) : '{"signedIn":true}'));
}
