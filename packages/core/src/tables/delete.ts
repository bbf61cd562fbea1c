import { type QueryBuilder, Problem } from '../ports/ports.ts';
import { bounded, equalities, where } from './condition.ts';
import { join, plain, statementOf } from './fragment.ts';
import { givenColumns, tableName, tableOf } from './provided-columns.ts';
import { planning } from './plan-mode.ts';
import { returning } from './returning.ts';
import { precondition } from './row-version.ts';

/** Deletes what equals all given columns. Without any it would be everything, which only a table may allow. */
export const deleteCommand: QueryBuilder = (parts) => {
  const { endpoint } = parts;
  const given = givenColumns(parts);
  if (given.length === 0 && !tableOf(endpoint).allowUnfilteredDelete) {
    throw new Problem('unfiltered-delete', {
      detail:
        'Give at least one column in the query string. A comment on the table with the line "allow_unfiltered_delete" lets a delete without any delete every row.',
    });
  }
  const { conditions, noRowProblem } = precondition(parts);
  const refusal = noRowProblem === undefined ? {} : { noRowProblem };
  const statement = join(
    [
      plain('', `delete from ${tableName(endpoint)}`),
      where([...bounded(equalities(given)), ...conditions]),
      plain(noRowProblem === undefined ? '' : 'counted', returning(endpoint, refusal)),
    ],
    '',
  );
  return { ...statementOf('delete', statement), ...planning(endpoint, given, given.length), ...refusal };
};
