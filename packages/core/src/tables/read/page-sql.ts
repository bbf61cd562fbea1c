import type { ValueSource } from '../../ports/ports.ts';
import type { Page, RowCount } from '../parts/page.ts';
import { boundValue, type TextValue } from '../parts/request-value.ts';
import type { Level } from './query.ts';

const numberSource: ValueSource = { name: 'limit', key: 'limit', type: { sql: 'pg_catalog.int8', display: 'bigint' } };

/** @param index that of the number among the values of a request; absent: the statement is for one request */
export function rowCount(value: number, index?: number): RowCount {
  return { count: boundValue(String(value), index, toCount), source: numberSource };
}

function toCount(text: TextValue): string {
  return String(Number(text));
}

/** Returns the page of a level, which has no more than `maxRows`. */
export function pageOf({ limit, offset, limitIndex, offsetIndex }: Level, maxRows: number): Page {
  return {
    limit: limit === null || limit >= maxRows ? maxRows : rowCount(limit, limitIndex),
    offset: offset === 0 ? null : rowCount(offset, offsetIndex),
  };
}
