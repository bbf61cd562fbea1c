import type { TableColumn, TypeOperators } from '../../catalog/table.ts';

/** LIKE is `~~`, ILIKE is `~~*`. */
type PatternSymbol = '~~' | '~~*' | '~' | '~*';
type OrderSymbol = '<' | '<=' | '>' | '>=';
export type ComparisonSymbol = '=' | OrderSymbol | PatternSymbol;
/** Operators of arrays, ranges and JSON. */
export type ContainmentSymbol = '@>' | '<@' | '&&' | '<<' | '>>' | '&<' | '&>' | '-|-';

/** How values of a column are compared. */
export interface Operation {
  /** The SQL type that both operands are cast to; null: no cast. */
  readonly type: string | null;
  /** The SQL type of the second operand where it is another one; it is not cast then. */
  readonly valueType?: string;
  /** Schema-qualified, so that an operator in another schema of the `search_path` is never run. */
  readonly operator: string;
}

/** What decides how the values of a column are compared. */
export interface ComparedColumn {
  readonly facts: Pick<TableColumn, 'comparison' | 'operators'>;
  readonly type: Pick<TableColumn['type'], 'textual' | 'builtin' | 'kind' | 'element'>;
}

const patterns: ReadonlySet<string> = new Set<PatternSymbol>(['~~', '~~*', '~', '~*']);
const orders: ReadonlySet<string> = new Set<OrderSymbol>(['<', '<=', '>', '>=']);
const ofRanges: ReadonlySet<string> = new Set<ContainmentSymbol>(['<<', '>>', '&<', '&>', '-|-']);

/**
 * Returns how a column is compared; null if its type has no such operator. Operators are those of the type's default operator class or owner, or
 * of `pg_catalog`. Types without an equality operator are compared as text, json as jsonb.
 */
export function resolveOperation(
  { facts, type }: ComparedColumn,
  symbol: ComparisonSymbol | ContainmentSymbol,
): Operation | null {
  const own = facts.operators?.names[symbol];
  if (own !== undefined) return ownOperation(facts.operators!, own, symbol);
  const operator = standardOperator(symbol);
  if (patterns.has(symbol)) return { type: isText(type) ? null : text, operator };
  const isOrder = orders.has(symbol);
  if (isOrder && facts.comparison !== 'ordered') return null;
  const isJson = type.builtin === 'json';
  if (isOrder || symbol === '=') return { type: facts.comparison === 'none' ? commonType(isJson) : null, operator };
  return canContain(type, symbol) ? { type: isJson ? jsonb : null, operator } : null;
}

function ownOperation({ type, values }: TypeOperators, operator: string, symbol: string): Operation {
  const valueType = values[symbol];
  return valueType === undefined ? { type, operator } : { type, operator, valueType };
}

const text = 'pg_catalog.text';
const jsonb = 'pg_catalog.jsonb';
const isText = ({ textual, builtin }: ComparedColumn['type']): boolean => textual && builtin !== null;
const commonType = (isJson: boolean): string => (isJson ? jsonb : text);

/** Containment and range operators exist in `pg_catalog` for arrays, ranges and JSON. */
function canContain({ builtin, kind, element }: ComparedColumn['type'], symbol: string): boolean {
  if (kind === 'range') return true;
  if (ofRanges.has(symbol)) return false;
  return element !== undefined || ((builtin === 'json' || builtin === 'jsonb') && symbol !== '&&');
}

/** Returns an operator of `pg_catalog`. */
export function standardOperator(symbol: string): string {
  return `operator(pg_catalog.${symbol})`;
}
