import type { Value } from '../../postgres/port.ts';
import type { QueryInput } from '../../ports/ports.ts';
import type { EndpointParameter, Listing } from '../../endpoints/endpoint.ts';
import { type Fragment, joinFragments, textFragment } from '../fragment.ts';
import { invalidParameter } from '../provided-columns.ts';
import { afterRow } from './keyset.ts';
import { parseTextArray } from './list.ts';
import { type OrderTerm, orderTermForm, orderTermSql, parseOrder } from './order.ts';

/** Which part of the rows, and in which order. */
export interface Page {
  readonly after: readonly Fragment[];
  readonly order: Fragment;
  readonly limit: Fragment;
}

/** A parameter of the listing, and its value when it was given. */
interface ListingParameter {
  readonly parameter: EndpointParameter;
  readonly value: string | null;
}

/** @throws Problem for what cannot be, which it names */
export function parsePage(parts: QueryInput, listing: Listing): Page {
  const choice = (position: number): ListingParameter => choiceAt(parts, position);
  const order = choice(listing.order);
  const terms = parseOrder(parts.endpoint, order.parameter, order.value);
  const limit = choice(listing.limit);
  refuseTooMany(limit, listing.maxLimit);
  return {
    after: afterOf(choice(listing.after), terms),
    order: orderOf(terms),
    limit: joinFragments([limitOf(limit, listing.defaultLimit), offsetOf(choice(listing.offset))], ''),
  };
}

function choiceAt({ endpoint, parameters, values }: QueryInput, position: number): ListingParameter {
  const parameter = endpoint.parameters.find((one) => one.position === position)!;
  const value: Value = values[parameters.indexOf(parameter)] ?? null;
  return { parameter, value: value === null || typeof value === 'string' ? value : Buffer.from(value).toString() };
}

function orderOf(terms: readonly OrderTerm[]): Fragment {
  if (terms.length === 0) return textFragment('', '');
  return {
    form: `order ${terms.map(orderTermForm).join(' ')}`,
    text: () => ` order by ${terms.map(orderTermSql).join(', ')}`,
    values: [],
  };
}

/** One `after` for each column of the order, its key included: the values of the last row of the page before. */
function afterOf({ parameter, value }: ListingParameter, terms: readonly OrderTerm[]): readonly Fragment[] {
  if (value === null) return [];
  const texts = parseTextArray(value);
  const names = terms.map(({ column }) => column.parameter.key);
  if (texts.length !== terms.length || terms.length === 0) {
    const wanted = names.length === 0 ? 'an order, since there is no key' : `one value each of ${names.join(', ')}`;
    throw invalidParameter(
      parameter,
      `"${parameter.key}" takes ${wanted}, as many times as that: the values of the last row that you have, in this order.`,
    );
  }
  const marks = terms.map((term, index) => ({ ...term, value: markOf(texts[index]!, term) }));
  return [afterRow(marks)];
}

/**
 * A value of the last row as it stands there. NULL is `is.null`, since an empty value may be an empty text; a text that reads like
 * this, with any number of `eq.` before it, has one `eq.` more.
 */
function markOf(text: string | null, { column }: OrderTerm): string | null {
  if (text === null || text === 'is.null' || (text === '' && !column.parameter.type.textual)) return null;
  return /^(?:eq\.)+is\.null$/.test(text) ? text.slice('eq.'.length) : text;
}

const digits = /^\d{1,15}$/;

function refuseTooMany({ parameter, value }: ListingParameter, most: number): void {
  if (value === null) return;
  if (!digits.test(value)) throw invalidParameter(parameter, `"${parameter.key}" takes a number of rows.`);
  if (Number(value) > most) throw invalidParameter(parameter, `"${parameter.key}" may be at most ${most}.`);
}

function limitOf({ parameter, value }: ListingParameter, byDefault: number): Fragment {
  if (value === null) return textFragment('', ` limit ${byDefault}`);
  return counted('limit', parameter, value);
}

function offsetOf({ parameter, value }: ListingParameter): Fragment {
  if (value === null) return textFragment('', '');
  if (!digits.test(value)) throw invalidParameter(parameter, `"${parameter.key}" takes a number of rows.`);
  return counted('offset', parameter, value);
}

function counted(word: string, parameter: EndpointParameter, value: string): Fragment {
  return { form: word, text: (next) => ` ${word} ${next()}::pg_catalog.int8`, values: [{ value, owner: parameter }] };
}
