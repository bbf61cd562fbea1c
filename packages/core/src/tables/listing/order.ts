import type { Endpoint, EndpointParameter } from '../../endpoints/endpoint.ts';
import { Problem } from '../../ports/ports.ts';
import { maxConditions, operandOf } from '../condition.ts';
import type { Order } from '../parts/order.ts';
import { type ColumnParameter, invalidParameter, listColumnParameters } from '../provided-columns.ts';

/** A column of the ORDER BY clause. */
export interface OrderTerm extends Order {
  readonly column: ColumnParameter;
}

/** `name.desc.nullslast`. A name with a comma, or one that ends like a direction, is in quotes. */
const termFormat = /(?:"((?:[^"\\]|\\.)*)"|([^",]*?))(?:\.(asc|desc))?(?:\.nulls(first|last))?(,|$)/isy;

/**
 * Parses `order=price.desc.nullslast,title`, and adds the columns of the key: a total order makes pages stable.
 * @throws Problem for an unknown column, or one whose type has no order
 */
export function parseOrder(
  endpoint: Endpoint,
  parameter: EndpointParameter,
  text: string | null,
): readonly OrderTerm[] {
  const columns = listColumnParameters(endpoint);
  const terms = text === null || text === '' ? [] : parseTerms(text, columns, parameter);
  if (terms.length > maxConditions) {
    throw new Problem('too-many-conditions', {
      detail: `"${parameter.key}" names ${terms.length} columns; give at most ${maxConditions}.`,
    });
  }
  const ordered = new Set<ColumnParameter>();
  for (const { column } of terms) {
    if (ordered.has(column))
      throw invalidParameter(parameter, `"${parameter.key}" names "${column.parameter.key}" twice.`);
    ordered.add(column);
  }
  const keys = columns.filter((column) => column.facts.key && !ordered.has(column));
  return [...terms, ...keys.map((column) => orderTerm(column, false, false))];
}

function orderTerm(column: ColumnParameter, descending: boolean, nullsFirst: boolean): OrderTerm {
  return { column, operand: operandOf(column), descending, nullsFirst };
}

function parseTerms(
  text: string,
  columns: readonly ColumnParameter[],
  parameter: EndpointParameter,
): readonly OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (let position = 0; ;) {
    termFormat.lastIndex = position;
    const match = termFormat.exec(text);
    if (match === null) throw unknownColumn(text.slice(position), parameter);
    const [whole, quoted, unquoted, direction, nulls, comma] = match;
    const name = quoted?.replaceAll(/\\(.)/gs, '$1') ?? unquoted!.trim();
    const descending = direction?.toLowerCase() === 'desc';
    const nullsFirst = nulls === undefined ? descending : nulls.toLowerCase() === 'first';
    terms.push(orderTerm(findColumn(name, columns, parameter), descending, nullsFirst));
    if (comma === '') return terms;
    position += whole.length;
  }
}

function findColumn(name: string, columns: readonly ColumnParameter[], parameter: EndpointParameter): ColumnParameter {
  const column = columns.find((candidate) => candidate.parameter.key === name || candidate.parameter.name === name);
  if (column === undefined) throw unknownColumn(name, parameter);
  const { key, type } = column.parameter;
  if (column.facts.comparison !== 'ordered') {
    throw invalidParameter(parameter, `"${parameter.key}" names "${key}", whose type ${type.display} has no order.`);
  }
  return column;
}

function unknownColumn(name: string, parameter: EndpointParameter): Problem {
  return invalidParameter(
    parameter,
    `"${parameter.key}" names ${JSON.stringify(name.slice(0, 80))}, which is not a column; write column.asc or column.desc, and .nullsfirst or .nullslast behind it.`,
  );
}
