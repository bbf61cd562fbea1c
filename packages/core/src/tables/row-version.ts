import { parseEntityTags } from '../http/conditional-request.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import { Problem, type Query, type QueryInput, type ValueSource } from '../ports/ports.ts';
import type { Condition } from './parts/condition.ts';
import { requireTable, rowAlias } from './provided-columns.ts';

/**
 * The version of a row as an entity tag: `xmin`, the transaction that wrote the row, in quotes. NULL for rows of foreign partitions,
 * whose `xmin` is always 0.
 */
export const rowVersionSql: string = `case when ${rowAlias}.xmin::pg_catalog.text operator(pg_catalog.<>) '0' then ${quotedXmin()} end`;

function quotedXmin(): string {
  return `'"' operator(pg_catalog.||) ${rowAlias}.xmin::pg_catalog.text operator(pg_catalog.||) '"'`;
}

const source: ValueSource = {
  name: 'If-Match',
  key: 'If-Match',
  type: { sql: 'pg_catalog.text[]', display: 'entity tags' },
};

/** The conditions of `If-Match`, and the response if no row fulfils them. */
export interface IfMatchCondition extends Pick<Query, 'noRowProblem'> {
  readonly conditions: readonly Condition[];
}

/** The header is ignored for relations without row versions. */
export function ifMatchCondition({ endpoint, request }: QueryInput): IfMatchCondition {
  const header = requireTable(endpoint).versioned ? request.header('if-match') : undefined;
  if (header === undefined) return { conditions: [] };
  const noRowProblem = new Problem('precondition-failed');
  if (header.trim() === '*') return { conditions: [], noRowProblem };
  const tags = arrayLiteral(parseEntityTags(header));
  const condition: Condition = {
    kind: 'written',
    write: (sql) => {
      const { type } = source;
      sql.add(`${rowVersionSql} operator(pg_catalog.=) any (`, 'xmin(').bind(tags, type.sql, source, '$').add(')');
    },
  };
  return { conditions: [condition], noRowProblem };
}
