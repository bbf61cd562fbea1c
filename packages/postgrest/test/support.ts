import type { GatewayOptions } from '@pgway/core';
import { postgrestSource, type PostgrestSourceOptions } from '@pgway/postgrest';
import type { TestGateway } from '@pgway/testing';

/** Publishes all tables in the dialect of PostgREST, and no routines. */
export function postgrest(options: PostgrestSourceOptions = {}): Partial<GatewayOptions> {
  return { routineSources: [postgrestSource(options)], commentsMode: 'parseAll' };
}

/** Headers of every response, or of its time; `proxy-status` has the code that the body of an error has. */
const generalHeaders = new Set([
  'connection',
  'keep-alive',
  'content-length',
  'x-content-type-options',
  'x-request-id',
  'date',
  'vary',
  'proxy-status',
  'content-location',
]);

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request, and returns the whole response as text: the status, the headers, and the body. */
export async function ask(
  gateway: Pick<TestGateway, 'send'>,
  line: string,
  { body, headers = {} }: Sent = {},
): Promise<string> {
  const response = await gateway.send(line, { headers, ...(body === undefined ? {} : { body }) });
  const listed = [...response.headers].filter(([name]) => !generalHeaders.has(name));
  const lines = [String(response.status), ...listed.map(([name, value]) => `${name}: ${value}`)];
  return [...lines, ...(response.body === '' ? [] : ['', response.body])].join('\n');
}
