import type { Value } from '../../postgres/port.ts';
import type { QueryInput } from '../../ports/ports.ts';
import type { EndpointParameter, Listing } from '../../endpoints/endpoint.ts';
import type { Condition } from '../parts/condition.ts';
import { writeOrder } from '../parts/order.ts';
import { type Page, type RowCount, writePage } from '../parts/page.ts';
import type { SqlText } from '../parts/sql-text.ts';
import { invalidParameter } from '../provided-columns.ts';
import { afterRow } from './keyset.ts';
import { type OrderTerm, parseOrder } from './order.ts';

/** The order and the page of a listing. */
export interface ListingPage extends Page {
  readonly after: readonly Condition[];
  readonly order: readonly OrderTerm[];
}

/** Writes ORDER BY, LIMIT and OFFSET. */
export function writeListingPage(sql: SqlText, page: ListingPage): void {
  writeOrder(sql, page.order);
  writePage(sql, page);
}

/** A parameter of the listing, and its value in the request. */
export interface ListingParameter {
  readonly parameter: EndpointParameter;
  readonly value: string | null;
}

/** @throws Problem `invalid-parameter` */
export function parsePage(input: QueryInput, listing: Listing): ListingPage {
  const read = (position: number): ListingParameter => readListingParameter(input, position);
  const order = read(listing.order);
  const terms = parseOrder(input.endpoint, order.parameter, order.value);
  const limit = read(listing.limit);
  checkLimit(limit, listing.maxLimit);
  return {
    after: afterConditions(read(listing.after), terms),
    order: terms,
    limit: limit.value === null ? listing.defaultLimit : rowCount(limit.parameter, limit.value),
    offset: readOffset(read(listing.offset)),
  };
}

export function readListingParameter({ endpoint, parameters, values }: QueryInput, position: number): ListingParameter {
  // Mostly at its own position: a request looks up all of them.
  const atPosition = endpoint.parameters[position - 1];
  const parameter =
    atPosition?.position === position
      ? atPosition
      : endpoint.parameters.find((candidate) => candidate.position === position)!;
  const value: Value = values[parameters.indexOf(parameter)] ?? null;
  return { parameter, value: value === null || typeof value === 'string' ? value : Buffer.from(value).toString() };
}

/** Requires one `after` per order term, the key included: the values of the last row of the previous page. */
function afterConditions({ parameter, value }: ListingParameter, terms: readonly OrderTerm[]): readonly Condition[] {
  if (value === null) return [];
  const texts = parseTextArray(value);
  const names = terms.map(({ column }) => column.parameter.key);
  if (terms.length === 0) {
    throw invalidParameter(
      parameter,
      `"${parameter.key}" needs an order, since there is no key; give one in the query string.`,
    );
  }
  if (texts.length !== terms.length) {
    throw invalidParameter(
      parameter,
      `"${parameter.key}" takes one value each of ${names.join(', ')}: give it ${terms.length} times, with the values of the last row of the previous page, in this order.`,
    );
  }
  return afterRow(terms.map((term, index) => ({ ...term, value: parseKeysetValue(texts[index]!, term) })));
}

/** Parses a PostgreSQL text array as `arrayLiteral` writes it: each item in quotes, or NULL. */
function parseTextArray(literal: string): readonly (string | null)[] {
  return Array.from(literal.matchAll(/"((?:[^"\\]|\\.)*)"|NULL/gs), ([, quoted]) =>
    quoted === undefined ? null : quoted.replaceAll(/\\(.)/gs, '$1'),
  );
}

/** NULL is written `is.null`, since an empty value may be an empty text. `eq.` escapes a text that reads like this. */
function parseKeysetValue(text: string | null, { column }: OrderTerm): string | null {
  if (text === null || text === 'is.null' || (text === '' && !column.parameter.type.textual)) return null;
  return /^(?:eq\.)+is\.null$/.test(text) ? text.slice('eq.'.length) : text;
}

const digits = /^\d{1,15}$/;

function checkLimit({ parameter, value }: ListingParameter, maxLimit: number): void {
  if (value === null) return;
  checkRowCount(parameter, value);
  if (Number(value) > maxLimit) throw invalidParameter(parameter, `"${parameter.key}" may be at most ${maxLimit}.`);
}

function checkRowCount(parameter: EndpointParameter, value: string): void {
  if (!digits.test(value)) throw invalidParameter(parameter, `"${parameter.key}" takes a number of rows.`);
}

function readOffset({ parameter, value }: ListingParameter): RowCount | null {
  if (value === null) return null;
  checkRowCount(parameter, value);
  return rowCount(parameter, value);
}

const rowCount = (source: EndpointParameter, count: string): RowCount => ({ count, source });
