import { crudSource, type CrudOptions, type GatewayOptions } from '@pgway/core';
import type { Answer, TestGateway } from '@pgway/testing';

/** Publishes all tables and views, and no routines. */
export function tables(options: CrudOptions = {}): Partial<GatewayOptions> {
  return { routineSources: [crudSource(options)], commentsMode: 'parseAll' };
}

/** Status and parsed body; null for an empty one. */
export function seen({ status, body }: Answer): readonly [status: number, body: unknown] {
  return [status, body === '' ? null : JSON.parse(body)];
}

/** Sends a request and returns status and body. */
export async function ask(
  gateway: Pick<TestGateway, 'send'>,
  line: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly [status: number, body: unknown]> {
  return seen(await gateway.send(line, { headers, ...(body === undefined ? {} : { body }) }));
}

/** `METHOD /path` of every endpoint, in the order of publication. */
export function published({ gateway }: Pick<TestGateway, 'gateway'>): readonly string[] {
  return gateway.endpoints.map(({ method, path }) => `${method} ${path}`);
}

/** Matches a problem with this status and these members. */
export function refusal(status: number, members: Readonly<Record<string, unknown>> = {}): unknown {
  return [status, { asymmetricMatch: (body: unknown) => hasAll(body, members) }];
}

function hasAll(body: unknown, members: Readonly<Record<string, unknown>>): boolean {
  const problem = body as Readonly<Record<string, unknown>> | null;
  return Object.entries(members).every(([name, value]) => {
    const own = problem?.[name];
    return value instanceof RegExp ? value.test(String(own)) : JSON.stringify(own) === JSON.stringify(value);
  });
}
