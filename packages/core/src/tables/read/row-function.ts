/** Functions of a row: columns and relationships that a relation has in addition to its own. */
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { Routine } from '../../catalog/routine.ts';
import { quoteIdentifier } from '../../catalog/quote.ts';
import type { RelationColumn } from './representations.ts';
import { toTableColumn } from './result-column.ts';

/** A function whose only argument is a row. */
export interface RowFunction {
  readonly schema: string;
  readonly name: string;
  /** The quoted and qualified row type of its argument. */
  readonly rowType: string;
  /** The value; null for a function that returns rows. */
  readonly column: RelationColumn | null;
  /** The quoted and qualified type of its rows; null for a value. */
  readonly target: string | null;
  /** Whether it returns at most one row. */
  readonly isOne: boolean;
}

/** Returns the quoted and qualified name of a relation, which is also that of its row type. */
export function qualifiedName({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** Returns the function of a row that an endpoint calls; null for another function. */
export function toRowFunction(
  { schema, name, parameters }: Pick<Endpoint, 'schema' | 'name' | 'parameters'>,
  { result, returnsOneRow = false }: Routine,
): RowFunction | null {
  const [parameter, ...others] = parameters;
  if (parameter?.type.kind !== 'composite' || parameter.variadic || others.length > 0) return null;
  const own = { schema, name, rowType: parameter.type.sql };
  if (result.kind === 'scalar' && !result.set) {
    return { ...own, column: toTableColumn({ name, type: result.columns[0]!.type }), target: null, isOne: true };
  }
  if (result.kind !== 'composite' || result.type === undefined) return null;
  return { ...own, column: null, target: result.type.rowType ?? result.type.sql, isOne: !result.set || returnsOneRow };
}

interface OuterRow {
  readonly relation: { readonly schema: string; readonly name: string; readonly columns: ReadonlyMap<string, unknown> };
  readonly alias: string;
  readonly isDerived?: boolean;
}

/** Returns the call of a function with the row of an alias. */
export function callOfRow({ relation, alias, isDerived = false }: OuterRow, called: RowFunction): string {
  const columns = [...relation.columns.keys()].map((column) => `${alias}.${quoteIdentifier(column)}`);
  // The rows of a CTE have no type of their own.
  const row = isDerived ? `row(${columns.join(', ')})::${qualifiedName(relation)}` : alias;
  return `${qualifiedName(called)}(${row})`;
}
