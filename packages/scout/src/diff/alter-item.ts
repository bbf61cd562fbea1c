/** The statements that change an object that is not a table, in place. */
import type { Item } from '../ddl/item.ts';
import { quoteLiteral } from '../ddl/sql-text.ts';
import type { Structure } from '../ddl/structure.ts';
import { changedBaseOptions } from './base-type-options.ts';
import { alterSequence } from './alter-sequence.ts';
import type { ItemPair } from './attributes.ts';
import { type Note, notedStatements, plainStatements, type Statement } from './change.ts';
import { isSameText } from './compare.ts';
import type { Schema } from './read-schema.ts';
import { foreignOptionClauses } from './storage-options.ts';

type StructureOf<Kind extends Structure['kind']> = Extract<Structure, { readonly kind: Kind }>;

/**
 * Returns no statements for equal items.
 * @param isUsed whether columns of remaining tables have the type
 */
export function alterItem({ before, after }: ItemPair, current: Schema, isUsed: boolean): readonly Statement[] {
  if (isSameText(before, after)) return [];
  const [old, wanted] = [before.structure, after.structure];
  switch (wanted?.kind) {
    case 'view':
      return plainStatements([wanted.view.replacement]);
    case 'routine':
      return plainStatements(after.statements(new Set()));
    case 'index':
      return alterIndex(structureOf(old, 'index'), wanted);
    case 'composite':
      return alterComposite({ item: after, isUsed }, structureOf(old, 'composite'), wanted);
    case 'base':
      return plainStatements(alterBase(after, structureOf(old, 'base'), wanted));
    case 'domain':
      return alterDomain(structureOf(old, 'domain'), wanted, isUsed);
    case 'sequence':
      return alterOwnSequence(structureOf(old, 'sequence'), wanted, current.lastValues.get(before.key));
    case 'options': {
      const clauses = foreignOptionClauses(structureOf(old, 'options').options.options, wanted.options.options);
      return plainStatements(clauses.map((clause) => `${wanted.options.alter} ${clause}`));
    }
    default:
      return [];
  }
}

/** The structures of a pair that is altered have the same kind. */
function structureOf<Kind extends Structure['kind']>(structure: Item['structure'], kind: Kind): StructureOf<Kind> {
  if (structure?.kind !== kind) throw new TypeError(`${kind} expected`);
  return structure as StructureOf<Kind>;
}

function alterOwnSequence(
  { sequence: before }: StructureOf<'sequence'>,
  { sequence: after }: StructureOf<'sequence'>,
  lastValue: bigint | undefined,
): readonly Statement[] {
  const { name, isUnlogged } = after;
  const isChanged = before.isUnlogged !== isUnlogged;
  return [
    ...alterSequence(name, before, after, lastValue),
    ...plainStatements(isChanged ? [`ALTER SEQUENCE ${name} SET ${isUnlogged ? 'UNLOGGED' : 'LOGGED'}`] : []),
  ];
}

function alterIndex(
  { index: before }: StructureOf<'index'>,
  { index: after }: StructureOf<'index'>,
): readonly Statement[] {
  const { name, statistics, tablespace } = after;
  const columns = new Set([...before.statistics, ...statistics].map(([column]) => column));
  const value = (list: typeof statistics, column: number): number =>
    list.find(([number]) => number === column)?.[1] ?? -1;
  return [
    ...(before.tablespace === tablespace
      ? []
      : notedStatements(
          [`ALTER INDEX ${name} SET TABLESPACE ${tablespace ?? 'pg_default'}`],
          after.isPartitioned ? [] : [{ effect: 'REWRITES', text: name }],
        )),
    ...plainStatements([
      ...[...columns]
        .filter((column) => value(before.statistics, column) !== value(statistics, column))
        .map((column) => `ALTER INDEX ${name} ALTER COLUMN ${column} SET STATISTICS ${value(statistics, column)}`),
      ...after.uses.filter((statement) => !before.uses.includes(statement)),
    ]),
  ];
}

function alterBase({ addresses }: Item, before: StructureOf<'base'>, after: StructureOf<'base'>): readonly string[] {
  const options = changedBaseOptions(before.options, after.options) ?? [];
  return options.length === 0 ? [] : [`ALTER ${addresses[0]!.target} SET (${options.join(', ')})`];
}

function alterComposite(
  { item: { addresses }, isUsed }: { readonly item: Item; readonly isUsed: boolean },
  { attributes: before }: StructureOf<'composite'>,
  { attributes: after }: StructureOf<'composite'>,
): readonly Statement[] {
  const alter = `ALTER ${addresses[0]!.target}`;
  const names = (list: typeof after): ReadonlySet<string> => new Set(list.map(({ name }) => name));
  const [old, wanted] = [names(before), names(after)];
  return [
    ...before
      .filter(({ name }) => !wanted.has(name))
      .map(({ name }) => ({
        sql: `${alter} DROP ATTRIBUTE ${name} CASCADE`,
        notes: isUsed
          ? [{ effect: 'LOSES' as const, text: `the values of the attribute ${name} in columns of this type` }]
          : [],
      })),
    ...plainStatements(
      after
        .filter(({ name }) => !old.has(name))
        .map(({ name, type, collation }) => {
          const collate = collation === null ? '' : ` COLLATE ${collation}`;
          return `${alter} ADD ATTRIBUTE ${name} ${type}${collate} CASCADE`;
        }),
    ),
  ];
}

function alterDomain(
  before: StructureOf<'domain'>,
  after: StructureOf<'domain'>,
  isUsed: boolean,
): readonly Statement[] {
  const { name, defaultText, isNotNull } = after.domain;
  const alter = `ALTER DOMAIN ${name}`;
  const checks = ({ constraints }: StructureOf<'domain'>): ReadonlyMap<string, string> =>
    new Map(
      constraints
        .filter((check) => !check.isNotNull && check.isValidated)
        .map((check) => [check.name, check.definition]),
    );
  const [old, wanted] = [checks(before), checks(after)];
  const notes: readonly Note[] = isUsed
    ? [
        { effect: 'FAILS IF', text: `a value of ${name} violates the constraint` },
        { effect: 'LOCKS', text: `the tables with columns of ${name} against writes while all rows are checked` },
      ]
    : [];
  const plain = plainStatements([
    ...[...old]
      .filter(([check, text]) => wanted.get(check) !== text)
      .map(([check]) => `${alter} DROP CONSTRAINT ${check}`),
    ...(before.domain.defaultText === defaultText
      ? []
      : [`${alter} ${defaultText === null ? 'DROP DEFAULT' : `SET DEFAULT ${defaultText}`}`]),
    ...(before.domain.isNotNull && !isNotNull ? [`${alter} DROP NOT NULL`] : []),
  ]);
  const checked = [
    ...(isNotNull && !before.domain.isNotNull ? [`${alter} SET NOT NULL`] : []),
    ...[...wanted]
      .filter(([check, text]) => old.get(check) !== text)
      .map(([check, text]) => `${alter} ADD CONSTRAINT ${check} ${text}`),
  ];
  return [...plain, ...checked.map((sql) => ({ sql, notes })), ...plainStatements(notNullName(before, after, alter))];
}

/** Since PostgreSQL 17, the constraint has a name. */
function notNullName(before: StructureOf<'domain'>, after: StructureOf<'domain'>, alter: string): readonly string[] {
  const nameOf = ({ constraints }: StructureOf<'domain'>): string | undefined =>
    constraints.find(({ isNotNull }) => isNotNull)?.name;
  const [old, wanted] = [nameOf(before), nameOf(after)];
  if (wanted === undefined || old === undefined || old === wanted) return [];
  return [`${alter} RENAME CONSTRAINT ${old} TO ${wanted}`];
}

/** Returns the statements that add values; each comes after its predecessor. */
export function addedLabels({ before, after }: ItemPair): readonly string[] {
  const [old, wanted] = [before.structure, after.structure];
  if (old?.kind !== 'enum' || wanted?.kind !== 'enum') return [];
  const alter = `ALTER ${after.addresses[0]!.target} ADD VALUE`;
  return wanted.labels.flatMap((label, index) => {
    if (old.labels.includes(label)) return [];
    const [first] = old.labels;
    const previous = wanted.labels[index - 1];
    if (previous !== undefined) return [`${alter} ${quoteLiteral(label)} AFTER ${quoteLiteral(previous)}`];
    return [`${alter} ${quoteLiteral(label)}${first === undefined ? '' : ` BEFORE ${quoteLiteral(first)}`}`];
  });
}
