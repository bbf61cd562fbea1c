import { strictEqual } from 'node:assert/strict';

import { expectedItem, verifyRows } from './bench-rows.ts';
import { itemsPath, parseBody } from './routine-works.ts';
import { type BenchRequest, getRequest, type Work } from './work.ts';

interface CacheWork extends Work {
  readonly allRequests: readonly BenchRequest[];
}

const maxRows = 20;
const typicalRows = 10;
/** The target share of the requests per second of a bare handler. */
const minShare = 0.8;

/** Responses of 1 to 20 rows from the cache, in full and as 304. */
export const cacheWorks: readonly CacheWork[] = [
  cacheWork('cached', {}, (response, rows) => verifyRows(parseBody(response), rows, expectedItem)),
  cacheWork('not-modified', { 'if-none-match': '*' }, ({ status, body }) => {
    strictEqual(status, 304);
    strictEqual(body.length, 0);
  }),
];

function cacheWork(
  name: string,
  headers: Readonly<Record<string, string>>,
  verify: (response: Parameters<Work['verify']>[0], rows: number) => void,
): CacheWork {
  const allRequests = Array.from({ length: maxRows }, (_, index) => getRequest(itemsPath(index + 1), headers));
  const index = (number: number): number => (typicalRows - 1 + number) % maxRows;
  return {
    name,
    loadRequests: 1,
    allRequests,
    request: (number) => allRequests[index(number)]!,
    verify: (response, number) => verify(response, index(number) + 1),
    pgbench: null,
    goal: minShare,
  };
}
