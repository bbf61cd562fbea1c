import { deepStrictEqual, strictEqual } from 'node:assert/strict';

type Row = Readonly<Record<string, unknown>>;

/** Throws unless the rows have the expected values, in order. */
export function verifyRows(result: unknown, count: number, expectedRow: (number: number) => Row): void {
  const rows = result as readonly Row[];
  strictEqual(rows.length, count, 'number of rows');
  rows.forEach((row, index) => deepStrictEqual(normalizeRow(row), expectedRow(index + 1), `row ${index + 1}`));
}

const numbers = ['reference', 'price', 'big'];
const instants = ['created', 'local'];

/**
 * Converts the types that servers return differently: `pg` returns bigint and numeric as strings, and a date as the timestamp of its
 * midnight. Timestamps differ in their format; those without a time zone are UTC.
 */
function normalizeRow(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (numbers.includes(name)) return [name, Number(value)];
      if (instants.includes(name)) return [name, toInstant(String(value))];
      if (name === 'due') return [name, typeof value === 'string' ? value.slice(0, 10) : value];
      return [name, value];
    }),
  );
}

function toInstant(text: string): number {
  return Date.parse(/(Z|[+-]\d\d(:?\d\d)?)$/.test(text) ? text : `${text}Z`);
}

const midnight = Date.UTC(2024, 0, 1);

function created(n: number): number {
  return midnight + n * 60_000 + (n % 1000);
}

function due(n: number): string | null {
  return n % 11 === 0 ? null : new Date(midnight + (n % 3650) * 86_400_000).toISOString().slice(0, 10);
}

function color(n: number): string {
  return ['red', 'green', 'blue'][n % 3]!;
}

/** Returns the row of `bench.item` with this number. */
export function expectedItem(n: number): Row {
  return {
    id: n,
    reference: 9_000_000_000 + n * 7919,
    name: `Item number ${n}`,
    note: n % 7 === 0 ? null : `She said "yes", Zoë\\Łukasz: 5 € for item ${n}\nand left`,
    price: ((n * 37) % 1_000_000) / 100,
    score: Math.sqrt(n),
    active: n % 3 === 0,
    created: created(n),
    due: due(n),
    attributes: { color: color(n), size: n % 40, tags: ['a', n % 5] },
  };
}

/** Returns the row of `bench.typed_item` with this number. */
export function expectedTypedRow(n: number): Row {
  return {
    id: n,
    small: n % 1000,
    big: 9_000_000_000 + n * 7919,
    price: ((n * 37) % 1_000_000) / 100,
    ratio: (n % 64) / 8,
    score: Math.sqrt(n),
    name: `Item number ${n}`,
    note: n % 7 === 0 ? null : `She said "yes" for item ${n}\nand left`,
    active: n % 3 === 0,
    created: created(n),
    local: created(n),
    due: due(n),
    token: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    attributes: { color: color(n), size: n % 40 },
    tags: ['a', color(n), `tag ${n % 5}`],
  };
}
