/** Divides the changes into the steps of `--online`: transactions that are short, and statements that cannot be in one. */
import { type Change, joinChanges, type OnlineStep } from './change.ts';

export interface Step {
  /** For the name of a file, such as `build-index-film-title`. */
  readonly name: string;
  readonly isTransactional: boolean;
  readonly changes: readonly Change[];
}

type Part = OnlineStep['kind'];

/** A statement beside the transaction, with the change that it is of. */
interface PlacedStep {
  readonly change: Change;
  readonly step: OnlineStep;
}

export function onlineSteps(changes: readonly Change[]): readonly Step[] {
  // The other steps use the new names.
  const renames = changes.filter(({ action }) => action === 'rename');
  const [alone, together] = [false, true].map((isTransactional) =>
    changes.filter((change) => change.isTransactional === isTransactional && change.action !== 'rename'),
  ) as [Change[], Change[]];
  const within = joinChanges(together.map(withinTransaction));
  const [before, after] = (['before', 'after'] as const).map((place) => placedSteps(together, place)) as [
    PlacedStep[],
    PlacedStep[],
  ];
  return [
    ...(renames.length === 0 ? [] : [{ name: 'rename', isTransactional: true, changes: renames }]),
    ...(alone.length === 0 ? [] : [{ name: 'add-enum-values', isTransactional: false, changes: alone }]),
    ...transaction('add-checks', before),
    ...single('validate', before),
    ...single('build', before),
    ...(within.length === 0 ? [] : [{ name: 'change', isTransactional: true, changes: within }]),
    ...single('build', after),
    ...transaction('add-constraints', after),
    ...single('validate', after),
    ...single('remove', after),
  ];
}

function withinTransaction(change: Change): Change {
  const statements = change.statements.flatMap((statement) => statement.online?.within ?? [statement]);
  return { ...change, statements };
}

function placedSteps(changes: readonly Change[], place: 'before' | 'after'): readonly PlacedStep[] {
  return changes.flatMap((change) =>
    change.statements.flatMap(({ online }) => (online?.[place] ?? []).map((step) => ({ change, step }))),
  );
}

function changeOf({ change, step: { sql, notes } }: PlacedStep, isTransactional: boolean): Change {
  return { ...change, action: 'alter', statements: [{ sql, notes }], isTransactional };
}

function transaction(name: string, all: readonly PlacedStep[]): readonly Step[] {
  const changes = all.filter(({ step }) => step.kind === 'change').map((placed) => changeOf(placed, true));
  return changes.length === 0 ? [] : [{ name, isTransactional: true, changes: joinChanges(changes) }];
}

const verbs: Readonly<Record<Part, string>> = {
  build: 'build-index',
  change: 'change',
  validate: 'validate',
  remove: 'drop-index',
};

/** Each statement is alone: several in one file would be one transaction for most programs. */
function single(kind: Part, all: readonly PlacedStep[]): readonly Step[] {
  return all
    .filter(({ step }) => step.kind === kind)
    .map((placed) => ({
      name: `${verbs[kind]}-${plainWord(placed.change.object.name)}`,
      isTransactional: false,
      changes: [changeOf(placed, false)],
    }));
}

function plainWord(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
}

const strong = 'ACCESS EXCLUSIVE';
const weak = 'SHARE ROW EXCLUSIVE';

export interface TableLock {
  readonly table: string;
  readonly mode: typeof strong | typeof weak;
}

const name = String.raw`(?:"(?:[^"]|"")*"|[^".(\s]+)`;
const reference = new RegExp(String.raw`^ALTER TABLE .* FOREIGN KEY .* REFERENCES (${name}\.${name})`, 'su');
const unlocked =
  /^(?:COMMENT|GRANT|REVOKE|SELECT|REFRESH|ALTER DEFAULT PRIVILEGES|CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE))\b/;
const weakly =
  /^(?:CREATE (?:CONSTRAINT )?TRIGGER |ALTER TABLE .* ADD CONSTRAINT .* FOREIGN KEY |CREATE (?:UNIQUE )?INDEX )/s;

/** Returns the tables of the database that the statements of a transaction lock, in the order of their names. */
export function tableLocks(changes: readonly Change[], tables: ReadonlySet<string>): readonly TableLock[] {
  const modes = new Map<string, TableLock['mode']>();
  const add = (table: string, mode: TableLock['mode']): void => {
    if (tables.has(table) && modes.get(table) !== strong) modes.set(table, mode);
  };
  for (const { object, statements } of changes) {
    for (const { sql } of statements) {
      if (unlocked.test(sql)) continue;
      const table = lockedTable(object, sql);
      if (table !== null) add(table, weakly.test(sql) ? weak : strong);
      const referred = reference.exec(sql)?.[1];
      if (referred !== undefined) add(referred, weak);
    }
  }
  return [...modes].map(([table, mode]) => ({ table, mode })).toSorted((a, b) => (a.table < b.table ? -1 : 1));
}

/** Triggers, policies and rules name their table. */
function lockedTable(object: Change['object'], sql: string): string | null {
  if (object.kind === 'TABLE') return object.qualifiedName;
  if (object.table === null) return null;
  return new RegExp(String.raw` ON (${name}\.${name})`, 'su').exec(sql)?.[1] ?? null;
}
