/** Rules about indexes. */
import { groupBy } from '@pgway/core/internal';
import type { Facts, ForeignKey, Index, Relation } from './facts.ts';
import { constraintObject, type Finding, indexObject, type Rule } from './finding.ts';

/** Days after which an index without scans counts as unused. */
export const statisticsAge = 7;

/** An index on a partitioned table cannot be created or dropped with CONCURRENTLY. */
function concurrently({ relationKind }: Relation): string {
  return relationKind === 'p' ? '' : ' CONCURRENTLY';
}

/** @param columns as in SQL */
export function createIndexStatement(table: Relation, columns: readonly string[]): string {
  return `CREATE INDEX${concurrently(table)} ON ${table.sqlName} (${columns.join(', ')})`;
}

/** Whether the first keys of the index are those of the foreign key, in any order. */
function covers({ isValid, isPartial, keys }: Index, foreignKey: ForeignKey): boolean {
  const first = keys.slice(0, foreignKey.keys.length);
  return isValid && !isPartial && foreignKey.keys.every((key) => first.includes(key));
}

function coveringIndexes({ indexes }: Facts, foreignKey: ForeignKey): readonly Index[] {
  return indexes.filter((index) => index.table === foreignKey.table && covers(index, foreignKey));
}

function findForeignKeys(facts: Facts): readonly Finding[] {
  const indexes = groupBy(facts.indexes, ({ table }) => table);
  const found = facts.foreignKeys.filter(
    (foreignKey) => !(indexes.get(foreignKey.table) ?? []).some((index) => covers(index, foreignKey)),
  );
  return found.map((foreignKey) => {
    const table = facts.relations.get(foreignKey.table)!;
    const columns = foreignKey.keys.map((key) => table.columns.find(({ number }) => number === key)!.sqlName);
    return {
      object: constraintObject(foreignKey, table),
      reason: `no index begins with ${columns.join(', ')}: each delete in ${foreignKey.target}, and a join with it, reads the whole table`,
      statements: [createIndexStatement(table, columns)],
    };
  });
}

/** A primary key, and an index that a constraint, a foreign key or the replica identity needs are kept rather than another, and a unique one. */
function importance({ constraint, isPrimary, isReferenced, isReplicaIdentity, isUnique }: Index): number {
  return (
    (isPrimary ? 8 : 0) +
    (isReferenced || isReplicaIdentity ? 4 : 0) +
    (constraint === null ? 0 : 2) +
    (isUnique ? 1 : 0)
  );
}

function findDuplicates(facts: Facts): readonly Finding[] {
  const own = facts.indexes.filter(({ isValid, isPartition }) => isValid && !isPartition);
  const groups = groupBy(own, ({ table, definition }) => `${table} ${definition}`);
  return [...groups.values()].flatMap((group) => {
    const [kept, ...others] = group.toSorted((left, right) => importance(right) - importance(left));
    return others
      .filter(({ isPrimary, isReferenced, isReplicaIdentity }) => !isPrimary && !isReferenced && !isReplicaIdentity)
      .map((index) => {
        const table = facts.relations.get(index.table)!;
        return {
          object: indexObject(index, table),
          reason: `${kept!.sqlName} has the same columns and condition: each write maintains both`,
          statements: [dropIndex(index, table)],
        };
      });
  });
}

export function dropIndex(index: Index, table: Relation): string {
  if (index.constraint !== null) return `ALTER TABLE ${table.sqlName} DROP CONSTRAINT ${index.constraint}`;
  return `DROP INDEX${concurrently(table)} ${index.sqlName}`;
}

/** Indexes of constraints, of the replica identity, and the only ones of a foreign key are used without scans. */
function findUnused(facts: Facts): readonly Finding[] {
  const { statisticsDays } = facts.server;
  if (statisticsDays === null || statisticsDays < statisticsAge) return [];
  const needed = new Set(
    facts.foreignKeys.flatMap((key) => {
      const [only, ...others] = coveringIndexes(facts, key);
      return only === undefined || others.length > 0 ? [] : [only];
    }),
  );
  const unused = facts.indexes.filter(
    (index) =>
      index.scans === 0 &&
      index.bytes > 0 &&
      index.isValid &&
      !index.isUnique &&
      !index.isPartition &&
      !index.isReplicaIdentity &&
      index.constraint === null &&
      !needed.has(index),
  );
  return unused.map((index) => {
    const table = facts.relations.get(index.table)!;
    return {
      object: indexObject(index, table),
      reason: `no scan of this server has used the index for ${Math.floor(statisticsDays)} days: each write maintains ${Math.ceil(index.bytes / 1024)} KiB. Look at the replicas first`,
      statements: [dropIndex(index, table)],
    };
  });
}

function findInvalid(facts: Facts): readonly Finding[] {
  const invalid = facts.indexes.filter(({ isValid, isPartition, table }) => {
    return !isValid && !isPartition && facts.relations.get(table)!.relationKind !== 'p';
  });
  return invalid.map((index) => {
    const table = facts.relations.get(index.table)!;
    return {
      object: indexObject(index, table),
      reason:
        'the index is invalid, as after an interrupted CREATE INDEX CONCURRENTLY: writes maintain it, and no query uses it',
      statements: [`REINDEX INDEX CONCURRENTLY ${index.sqlName}`],
    };
  });
}

export const indexRules: readonly Rule[] = [
  { code: 'foreign-key-without-index', summary: 'no index covers a foreign key', find: findForeignKeys },
  { code: 'duplicate-index', summary: 'two indexes are the same', find: findDuplicates },
  {
    code: 'unused-index',
    summary: `no query has used an index, by statistics of at least ${statisticsAge} days`,
    find: findUnused,
  },
  { code: 'invalid-index', summary: 'an index is invalid', find: findInvalid },
];
