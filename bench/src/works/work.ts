import { randomUUID } from 'node:crypto';

import type { ContenderName } from '../contenders/contender.ts';

/** In the value of a header: a part that is different in every request. The load generators replace it; its form is that of autocannon. */
export const uniquePart = '[<id>]';

/** A request for an endpoint of the bench. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Path and query below the base path, which differs between servers. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface BenchResponse {
  readonly status: number;
  readonly body: Buffer;
}

/** A statement with the variables that pgbench binds as parameters. */
export interface PgbenchScript {
  readonly sql: string;
  /** The number of calls in one run of the script; 1 without it. */
  readonly calls?: number;
  readonly variables: Readonly<Record<string, number>>;
}

/** A call that several servers handle: the same SQL, arguments and result. */
export interface Work {
  readonly name: string;
  /** The number of different requests that the load generator sends in turn: request 0, 1, 2 … */
  readonly loadRequests: number;
  /** Returns a request. Number 0 is the typical one; different numbers have different arguments, as far as the endpoint has them. */
  request(number: number): BenchRequest;
  /** Throws unless the response belongs to this request and has the expected values. */
  verify(response: BenchResponse, number: number): void;
  /** The same call for pgbench. Null: pgbench does not run. */
  readonly pgbench: PgbenchScript | null;
  /** The number of calls in one request; 1 without it. Each of them counts as a request. */
  readonly calls?: number;
  /** The same calls in another form, for the contenders that have it. */
  readonly forms?: Readonly<Partial<Record<ContenderName, Work>>>;
  /** The target ratio of pgway's requests per second to those of the baseline; null without a target. */
  readonly goal: number | null;
}

export function getRequest(path: string, headers: Readonly<Record<string, string>> = {}): BenchRequest {
  return { method: 'GET', path, headers, body: null };
}

export function jsonRequest(method: 'POST' | 'PUT', path: string, body: object): BenchRequest {
  return { method, path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Whether a header has a part that is different in every request. */
export function hasUniquePart({ headers }: BenchRequest): boolean {
  return Object.values(headers).some((value) => value.includes(uniquePart));
}

/** Returns the headers with their unique parts filled. */
export function uniqueHeaders(request: BenchRequest): Readonly<Record<string, string>> {
  if (!hasUniquePart(request)) return request.headers;
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, value.replaceAll(uniquePart, () => randomUUID())]),
  );
}
