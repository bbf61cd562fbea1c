import type { ValueSource } from '../../ports/ports.ts';
import type { Page, RowCount } from '../parts/page.ts';
import type { Level } from './query.ts';

const numberSource: ValueSource = { name: 'limit', key: 'limit', type: { sql: 'pg_catalog.int8', display: 'bigint' } };

export function rowCount(value: number): RowCount {
  return { count: String(value), source: numberSource };
}

/** Returns the page of a level, which has no more than `maxRows`. */
export function pageOf({ limit, offset }: Level, maxRows: number): Page {
  return {
    limit: limit === null || limit >= maxRows ? maxRows : rowCount(limit),
    offset: offset === 0 ? null : rowCount(offset),
  };
}
