import type { TableColumn } from '../../catalog/table.ts';

/** LIKE is `~~`, ILIKE is `~~*`. */
export type ComparisonSymbol = '=' | '<' | '<=' | '>' | '>=' | '~~' | '~~*';

/** How values of a column are compared. */
export interface Operation {
  /** The SQL type that both operands are cast to; null: no cast. */
  readonly type: string | null;
  /** Schema-qualified, so that an operator in another schema of the `search_path` is never run. */
  readonly operator: string;
}

/** What decides how the values of a column are compared. */
export interface ComparedColumn {
  readonly facts: Pick<TableColumn, 'comparison' | 'operators'>;
  readonly type: Pick<TableColumn['type'], 'textual' | 'builtin'>;
}

/** Types without an equality operator are compared as text, json as jsonb. */
export function resolveOperation({ facts, type }: ComparedColumn, symbol: ComparisonSymbol): Operation {
  const ownOperator = facts.operators?.names[symbol];
  if (ownOperator !== undefined) return { type: facts.operators!.type, operator: ownOperator };
  return { type: operandType(facts.comparison, type, symbol), operator: standardOperator(symbol) };
}

/** Returns an operator of `pg_catalog`. */
export function standardOperator(symbol: string): string {
  return `operator(pg_catalog.${symbol})`;
}

function operandType(
  comparison: TableColumn['comparison'],
  type: ComparedColumn['type'],
  symbol: ComparisonSymbol,
): string | null {
  const isPattern = symbol === '~~' || symbol === '~~*';
  if (isPattern) return type.textual && type.builtin !== null ? null : 'pg_catalog.text';
  if (comparison !== 'none') return null;
  return type.builtin === 'json' ? 'pg_catalog.jsonb' : 'pg_catalog.text';
}

export function castIfNeeded(type: string | null, sql: string, suffix: '' | '[]' = ''): string {
  return type === null ? sql : `${sql}::${type}${suffix}`;
}
