import { parseEntityTags } from '../http/conditional-request.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import { type QueryInput, type Query, Problem, type ValueSource } from '../ports/ports.ts';
import type { Fragment } from './fragment.ts';
import { rowAlias, requireTable } from './provided-columns.ts';

/**
 * The version of a row is the transaction that wrote it last (`xmin`): every update gives another one. As an entity tag it
 * stands in quotes. NULL for rows without one: those of foreign partitions, whose `xmin` is always 0.
 */
export const rowVersionSql: string = `case when ${rowAlias}.xmin::pg_catalog.text operator(pg_catalog.<>) '0' then ${inQuotes()} end`;

function inQuotes(): string {
  return `'"' operator(pg_catalog.||) ${rowAlias}.xmin::pg_catalog.text operator(pg_catalog.||) '"'`;
}

const owner: ValueSource = {
  name: 'If-Match',
  key: 'If-Match',
  type: { sql: 'pg_catalog.text[]', display: 'entity tags' },
};

/** What `If-Match` asks of the rows, and what happens when there is none such; nothing where the table has no versions. */
export interface IfMatchCondition extends Pick<Query, 'noRowProblem'> {
  readonly conditions: readonly Fragment[];
}

export function ifMatchCondition({ endpoint, request }: QueryInput): IfMatchCondition {
  const wanted = requireTable(endpoint).versioned ? request.header('if-match') : undefined;
  if (wanted === undefined) return { conditions: [] };
  const noRowProblem = new Problem('precondition-failed');
  if (wanted.trim() === '*') return { conditions: [], noRowProblem };
  const version: Fragment = {
    form: 'xmin',
    text: (next) => `${rowVersionSql} operator(pg_catalog.=) any (${next()}::pg_catalog.text[])`,
    values: [{ value: arrayLiteral(parseEntityTags(wanted)), owner }],
  };
  return { conditions: [version], noRowProblem };
}
