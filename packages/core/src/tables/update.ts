import { quoteIdentifier } from '../catalog/quote.ts';
import type { QueryBuilder } from '../ports/ports.ts';
import { equalities, where } from './condition.ts';
import { type Fragment, join, plain, statementOf } from './fragment.ts';
import { allColumns, type GivenColumn, givenColumns, missingColumns, stored, tableName } from './provided-columns.ts';
import { planning } from './plan-mode.ts';
import { returning } from './returning.ts';
import { precondition } from './row-version.ts';

/** The key's columns say which rows, the others what becomes of them; columns that are not given keep their values. */
export const updateCommand: QueryBuilder = (parts) => {
  const { endpoint } = parts;
  const given = givenColumns(parts);
  const keys = given.filter(({ facts }) => facts.key);
  const others = given.filter(({ facts }) => !facts.key);
  const all = allColumns(endpoint);
  if (keys.length === 0)
    throw missingColumns(
      all.filter(({ facts }) => facts.key),
      'Give the key of what to update',
    );
  if (others.length === 0)
    throw missingColumns(
      all.filter(({ facts }) => !facts.key),
      'Give at least one column to set',
    );
  const { conditions, noRowProblem } = precondition(parts);
  const refusal = noRowProblem === undefined ? {} : { noRowProblem };
  const statement = join(
    [
      plain('', `update ${tableName(endpoint)} set `),
      join(others.map(assignment), ', '),
      where([...equalities(keys), ...conditions]),
      plain(noRowProblem === undefined ? '' : 'counted', returning(endpoint, refusal)),
    ],
    '',
  );
  return { ...statementOf('update', statement), ...planning(endpoint, keys, keys.length), ...refusal };
};

function assignment(column: GivenColumn): Fragment {
  const { facts, parameter } = column;
  return {
    form: `${parameter.position}`,
    text: (next) => `${quoteIdentifier(facts.name)} = ${next()}::${parameter.type.sql}`,
    values: [stored(column)],
  };
}
