/** Rules about the statements of endpoints. */
import { groupBy } from '@pgway/core/internal';
import type { Facts, Scan } from './facts.ts';
import { type Finding, relationObject, routineObject, type Rule } from './finding.ts';
import { createIndexStatement } from './index-rules.ts';
import { endpointText } from './served.ts';

/** Scans with the same proposal are one finding of the table. */
function findScans({ scans, relations, routines, served }: Facts): readonly Finding[] {
  const groups = groupBy(scans, ({ relation, columns, filter }) => `${relation} ${columns.join() || filter}`);
  return [...groups.values()].map((group) => {
    const [{ routine, relation: table, filter, columns }] = group as readonly [Scan, ...Scan[]];
    const relation = relations.get(table)!;
    const first = routines.find(({ oid }) => oid === routine)!;
    const endpoints = new Set(group.flatMap((scan) => served.routines.get(scan.routine)!));
    const reason = `all of about ${Math.round(relation.rows)} rows of ${relation.sqlName} are read for ${filter} by ${endpointText([...endpoints])}`;
    return columns.length === 0
      ? {
          object: routineObject(first),
          reason: `${reason}; no index of its columns is proposed for this condition`,
          statements: [],
        }
      : { object: relationObject(relation), reason, statements: [createIndexStatement(relation, columns)] };
  });
}

export const scanRules: readonly Rule[] = [
  {
    code: 'sequential-scan',
    summary: 'the generic plan of a served SQL function reads a large table for few rows',
    find: findScans,
  },
];
