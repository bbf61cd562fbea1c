import { strictEqual } from 'node:assert/strict';

import { expectedItem, expectedTypedRow, verifyRows } from './bench-rows.ts';
import type { BenchResponse, Work } from './work.ts';
import { getRequest } from './work.ts';

/** Calls of functions that return a number or rows. */
export const routineWorks: readonly Work[] = [
  sum({ name: 'scalar', routine: 'add', goal: 3 }),
  sum({ name: 'volatile', routine: 'plus', goal: null }),
  items(1, 5.5),
  items(10, 4.8),
  items(100, 4.2),
  items(500, 4.7),
  typed(10),
  typed(100),
];

export function itemsPath(count: number): string {
  return `/items?lim=${count}`;
}

export function parseBody({ status, body }: BenchResponse): unknown {
  const text = body.toString();
  strictEqual(status, 200, `status ${status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}

interface SumOptions {
  readonly name: string;
  readonly routine: string;
  readonly goal: number | null;
}

/** A function of two numbers. The sums of different requests differ. */
function sum({ name, routine, goal }: SumOptions): Work {
  const summands = (number: number): { a: number; b: number } => ({ a: 1 + number, b: 2 + number * 101 });
  return {
    name,
    loadRequests: 1,
    request(number) {
      const { a, b } = summands(number);
      return getRequest(`/${routine}?a=${a}&b=${b}`);
    },
    verify(response, number) {
      const { a, b } = summands(number);
      strictEqual(Number(parseBody(response)), a + b, `${a} + ${b}`);
    },
    pgbench: { sql: `select bench.${routine}(:a, :b);`, variables: { a: 1, b: 2 } },
    goal,
  };
}

function items(count: number, goal: number): Work {
  return rows({ name: `rows-${count}`, routine: 'items', count, expectedRow: expectedItem, goal });
}

function typed(count: number): Work {
  return rows({ name: `typed-${count}`, routine: 'typed', count, expectedRow: expectedTypedRow, goal: null });
}

interface RowsOptions {
  readonly name: string;
  readonly routine: string;
  readonly count: number;
  readonly expectedRow: (number: number) => Readonly<Record<string, unknown>>;
  readonly goal: number | null;
}

/** Requests differ in the number of rows, which is `count` on average and at least 1 to 20. */
function rows({ name, routine, count, expectedRow, goal }: RowsOptions): Work {
  const limit = (number: number): number => (number === 0 ? count : 1 + ((number * 7919) % Math.max(20, 2 * count)));
  return {
    name,
    loadRequests: 1,
    request: (number) => getRequest(`/${routine}?lim=${limit(number)}`),
    verify: (response, number) => verifyRows(parseBody(response), limit(number), expectedRow),
    pgbench: { sql: `select * from bench.${routine}(:lim);`, variables: { lim: count } },
    goal,
  };
}
