import { type QueryBuilder, Problem } from '../ports/ports.ts';
import { checkConditionCount, equalityConditions, whereClause } from './condition.ts';
import { joinFragments, textFragment, toStatement } from './fragment.ts';
import { listProvidedColumns, aliasedTable, requireTable } from './provided-columns.ts';
import { planModeSettings } from './plan-mode.ts';
import { returningClause } from './returning.ts';
import { ifMatchCondition } from './row-version.ts';

/** Deletes what equals all given columns. Without any it would be everything, which only a table may allow. */
export const buildDelete: QueryBuilder = (parts) => {
  const { endpoint } = parts;
  const given = listProvidedColumns(parts);
  if (given.length === 0 && !requireTable(endpoint).allowUnfilteredDelete) {
    throw new Problem('unfiltered-delete', {
      detail:
        'Give at least one column in the query string. A comment on the table with the line "allow_unfiltered_delete" lets a delete without any delete every row.',
    });
  }
  const { conditions, noRowProblem } = ifMatchCondition(parts);
  const refusal = noRowProblem === undefined ? {} : { noRowProblem };
  const statement = joinFragments(
    [
      textFragment('', `delete from ${aliasedTable(endpoint)}`),
      whereClause([...checkConditionCount(equalityConditions(given)), ...conditions]),
      textFragment(noRowProblem === undefined ? '' : 'counted', returningClause(endpoint, refusal)),
    ],
    '',
  );
  return { ...toStatement('delete', statement), ...planModeSettings(endpoint, given, given.length), ...refusal };
};
