import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import { Problem } from '../../ports/ports.ts';
import { maxConditions } from '../condition.ts';
import { listColumnParameters, columnReference, invalidParameter, type ColumnParameter } from '../provided-columns.ts';

/** A column by which rows are ordered. */
export interface OrderTerm {
  readonly column: ColumnParameter;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** A name, in quotes where it holds a comma or ends like a direction, and what may stand behind it. */
const term = /(?:"((?:[^"\\]|\\.)*)"|([^",]*?))(?:\.(asc|desc))?(?:\.nulls(first|last))?(,|$)/isy;

/**
 * `order=price.desc.nullslast,title`, then the columns of the key: two rows are never level, so that pages are stable.
 * @throws Problem for what is no column, or has no order
 */
export function parseOrder(
  endpoint: Endpoint,
  parameter: EndpointParameter,
  text: string | null,
): readonly OrderTerm[] {
  const columns = listColumnParameters(endpoint);
  const asked = text === null || text === '' ? [] : readTerms(text, columns, parameter);
  if (asked.length > maxConditions) {
    throw new Problem('too-many-conditions', {
      detail: `"${parameter.key}" names ${asked.length} columns; give at most ${maxConditions}.`,
    });
  }
  const seen = new Set<ColumnParameter>();
  for (const { column } of asked) {
    if (seen.has(column))
      throw invalidParameter(parameter, `"${parameter.key}" names "${column.parameter.key}" twice.`);
    seen.add(column);
  }
  const rest = columns.filter((column) => column.facts.key && !seen.has(column));
  return [...asked, ...rest.map((column) => ({ column, descending: false, nullsFirst: false }))];
}

function readTerms(
  text: string,
  columns: readonly ColumnParameter[],
  parameter: EndpointParameter,
): readonly OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (let at = 0; ;) {
    term.lastIndex = at;
    const match = term.exec(text);
    if (match === null) throw noColumn(text.slice(at), parameter);
    const [whole, quoted, bare, direction, place, comma] = match;
    const name = quoted?.replaceAll(/\\(.)/gs, '$1') ?? bare!.trim();
    const descending = direction?.toLowerCase() === 'desc';
    const nullsFirst = place === undefined ? descending : place.toLowerCase() === 'first';
    terms.push({ column: orderedColumn(name, columns, parameter), descending, nullsFirst });
    if (comma === '') return terms;
    at += whole.length;
  }
}

function orderedColumn(
  name: string,
  columns: readonly ColumnParameter[],
  parameter: EndpointParameter,
): ColumnParameter {
  const column = columns.find(({ parameter: { key, name: own } }) => key === name || own === name);
  if (column === undefined) throw noColumn(name, parameter);
  if (column.facts.comparison !== 'ordered') {
    throw invalidParameter(
      parameter,
      `"${parameter.key}" names "${column.parameter.key}", whose type ${column.parameter.type.display} has no order.`,
    );
  }
  return column;
}

function noColumn(name: string, parameter: EndpointParameter): Error {
  return invalidParameter(
    parameter,
    `"${parameter.key}" names ${JSON.stringify(name.slice(0, 80))}, which is no column; write column.asc or column.desc, and .nullsfirst or .nullslast behind it.`,
  );
}

export function orderTermForm({ column, descending, nullsFirst }: OrderTerm): string {
  return `${column.parameter.position}${descending ? 'd' : 'a'}${nullsFirst ? 'f' : 'l'}`;
}

/** What PostgreSQL does by itself is not said, so that an index serves it. */
export function orderTermSql({ column, descending, nullsFirst }: OrderTerm): string {
  const place = nullsFirst === descending ? '' : ` nulls ${nullsFirst ? 'first' : 'last'}`;
  return `${columnReference(column)}${descending ? ' desc' : ''}${place}`;
}
