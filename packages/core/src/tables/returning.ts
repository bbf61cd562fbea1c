import type { Query } from '../ports/ports.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { rowAlias } from './provided-columns.ts';

/** The end of a statement that writes: the rows that the answer wants, or one mark a row where they are only counted. */
export function returningClause(endpoint: Endpoint, { noRowProblem }: Pick<Query, 'noRowProblem'>): string {
  if (endpoint.result.kind === 'objects') return ` returning ${buildSelectList(endpoint, rowAlias)}`;
  return noRowProblem === undefined ? '' : ' returning 1';
}
