import { deepStrictEqual, strictEqual } from 'node:assert/strict';

import type { Work } from './work.ts';

type Cell = string | number | boolean | null | object;
type Row = Readonly<Record<string, Cell>>;

const timeoutMs = 20_000;

/** Throws unless the response of the contender is complete and has the expected values. */
export async function checkResponse(origin: string, work: Work): Promise<void> {
  const response = await fetch(origin + work.path, { signal: AbortSignal.timeout(timeoutMs) });
  const body = await response.text();
  strictEqual(response.status, 200, `${work.path} returned ${response.status}: ${body.slice(0, 300)}`);
  const result: unknown = JSON.parse(body);
  if (work.rows === null) {
    strictEqual(Number(result), 3, work.path);
    return;
  }
  const rows = result as readonly Row[];
  strictEqual(rows.length, work.rows, `${work.path}: number of rows`);
  rows.forEach((row, index) =>
    deepStrictEqual(normalizeRow(row), expectedRow(index + 1), `${work.path}: row ${index + 1}`),
  );
}

/**
 * Converts the types that contenders return differently: `pg` returns bigint and numeric as strings, and a date as the timestamp of
 * its midnight. Timestamps differ in their format.
 */
function normalizeRow(row: Row): Row {
  return {
    ...row,
    reference: Number(row['reference']),
    price: Number(row['price']),
    created: typeof row['created'] === 'string' ? Date.parse(row['created']) : null,
    due: typeof row['due'] === 'string' ? row['due'].slice(0, 10) : null,
  };
}

/** Returns the row that `benchSchemaSql` inserts. */
function expectedRow(n: number): Row {
  const midnight = Date.UTC(2024, 0, 1);
  return {
    id: n,
    reference: 9_000_000_000 + n * 7919,
    name: `Item number ${n}`,
    note: n % 7 === 0 ? null : `She said "yes", Zoë\\Łukasz: 5 € for item ${n}\nand left`,
    price: ((n * 37) % 1_000_000) / 100,
    score: Math.sqrt(n),
    active: n % 3 === 0,
    created: midnight + n * 60_000 + (n % 1000),
    due: n % 11 === 0 ? null : new Date(midnight + (n % 3650) * 86_400_000).toISOString().slice(0, 10),
    attributes: { color: ['red', 'green', 'blue'][n % 3], size: n % 40, tags: ['a', n % 5] },
  };
}
