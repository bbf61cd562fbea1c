import { quoteIdentifier } from '../catalog/quote.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import { equalityConditions, whereClause } from './condition.ts';
import { type Fragment, joinFragments, textFragment, toStatement } from './fragment.ts';
import {
  listColumnParameters,
  type ProvidedColumn,
  listProvidedColumns,
  missingColumn,
  toStoredValue,
  aliasedTable,
} from './provided-columns.ts';
import { planModeSettings } from './plan-mode.ts';
import { returningClause } from './returning.ts';
import { ifMatchCondition } from './row-version.ts';

/** The key's columns say which rows, the others what becomes of them; columns that are not given keep their values. */
export const buildUpdate: QueryBuilder = (parts) => {
  const { endpoint } = parts;
  const given = listProvidedColumns(parts);
  const keys = given.filter(({ facts }) => facts.key);
  const others = given.filter(({ facts }) => !facts.key);
  const all = listColumnParameters(endpoint);
  if (keys.length === 0)
    throw missingColumn(
      all.filter(({ facts }) => facts.key),
      'Give the key of what to update',
    );
  if (others.length === 0)
    throw missingColumn(
      all.filter(({ facts }) => !facts.key),
      'Give at least one column to set',
    );
  const { conditions, noRowProblem } = ifMatchCondition(parts);
  const refusal = noRowProblem === undefined ? {} : { noRowProblem };
  const statement = joinFragments(
    [
      textFragment('', `update ${aliasedTable(endpoint)} set `),
      joinFragments(others.map(assignment), ', '),
      whereClause([...equalityConditions(keys), ...conditions]),
      textFragment(noRowProblem === undefined ? '' : 'counted', returningClause(endpoint, refusal)),
    ],
    '',
  );
  return { ...toStatement('update', statement), ...planModeSettings(endpoint, keys, keys.length), ...refusal };
};

function assignment(column: ProvidedColumn): Fragment {
  const { facts, parameter } = column;
  return {
    form: `${parameter.position}`,
    text: (next) => `${quoteIdentifier(facts.name)} = ${next()}::${parameter.type.sql}`,
    values: [toStoredValue(column)],
  };
}
