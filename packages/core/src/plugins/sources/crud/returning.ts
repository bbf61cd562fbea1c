import type { MadeCommand } from '../../../pipeline/ports.ts';
import { rowList } from '../../../plan/statement.ts';
import type { Endpoint } from '../../../plan/endpoint.ts';
import { row } from './given.ts';

/** The end of a statement that writes: the rows that the answer wants, or one mark a row where they are only counted. */
export function returning(endpoint: Endpoint, { noRow }: Pick<MadeCommand, 'noRow'>): string {
  if (endpoint.answer.kind === 'objects') return ` returning ${rowList(endpoint, row)}`;
  return noRow === undefined ? '' : ' returning 1';
}
