import type { ChangeGapReason } from '../ports/changes.ts';
import { CallTimeout, type Database, DatabaseError, queryCanceled } from '../postgres/port.ts';
import type { StatementCache } from '../postgres/statement-cache.ts';
import type { ChangeGroup } from './change-group.ts';
import type { Cut } from './cut.ts';
import type { UnnumberedChange } from './differences.ts';
import { type Lookup, runLookups } from './lookup.ts';
import { RowCollector, RowsTooLarge } from './row-collector.ts';
import { KeyList, noRows, type SelectedKeys, type VisibleRows } from './selected-keys.ts';

/** The services and limits that lookups of all groups share. */
export interface LookupContext {
  readonly database: Database;
  readonly statements: StatementCache;
  /** Milliseconds. */
  readonly timeout: number;
  /** Bytes of the rows of a group in one cut. */
  readonly maxBytes: number;
}

/** The result of a group for one cut. */
export type LookupResult =
  | { readonly kind: 'changes'; readonly changes: readonly UnnumberedChange[] }
  | { readonly kind: 'gap'; readonly reason: ChangeGapReason }
  /** PostgreSQL refuses the caller, or the query does not fit the database. */
  | { readonly kind: 'end'; readonly reason: 'forbidden' | 'schema-changed' };

/**
 * With its usual costs, PostgreSQL reads a whole table for some hundred keys, and runs the policy for each row. The index of the key is
 * faster by far, and its pages are in memory: the rows have just been written.
 */
const planSettings = [
  ['random_page_cost', '0.1'],
  ['cpu_tuple_cost', '0.1'],
] as const;

/** The lookup of one group in one snapshot. */
export class GroupLookup {
  readonly group: ChangeGroup;
  readonly collector: RowCollector;
  readonly lookup: Lookup;
  readonly #keys: KeyList;

  /** @param keys absent: no keys, PostgreSQL decides only whether the caller may select */
  constructor(group: ChangeGroup, { statements, maxBytes }: LookupContext, keys: KeyList = new KeyList([])) {
    const { query, identity } = group.request;
    const { sql, altersSession, keyColumns, values } = query;
    this.group = group;
    this.#keys = keys;
    this.collector = new RowCollector(query, true, maxBytes);
    this.lookup = {
      identity: { ...identity, settings: [...identity.settings, ...planSettings] },
      statement: statements.getOrCreate(sql, () => ({ name: '', sql })),
      values: [...keys.literals(keyColumns.length), ...values],
      rows: this.collector,
      altersSession,
    };
  }

  /** @throws the error of a writer */
  rows(): VisibleRows {
    return this.#keys.rowsOf(this.group.request.query, this.collector);
  }
}

/** The lookups of a group in both snapshots. Null: no key has to be looked up there. */
export interface LookupPair {
  readonly group: ChangeGroup;
  readonly selected: SelectedKeys;
  readonly before: GroupLookup | null;
  readonly after: GroupLookup | null;
}

/** @param mustRead whether the later snapshot is read without keys, too: PostgreSQL decides whether the caller may select */
export function createLookupPair(
  group: ChangeGroup,
  selected: SelectedKeys,
  mustRead: boolean,
  context: LookupContext,
): LookupPair {
  const before = selected.before(group.request.operations.includes('delete'));
  const after = selected.after();
  return {
    group,
    selected,
    before: before.keys.length === 0 ? null : new GroupLookup(group, context, before),
    after: after.keys.length === 0 && !mustRead ? null : new GroupLookup(group, context, after),
  };
}

/** The lookups of a group that run. */
export interface RunningPair {
  /** Resolves when both snapshots are read, so that the cuts may end. */
  readonly imported: Promise<void>;
  readonly result: Promise<LookupResult>;
  /** Milliseconds that PostgreSQL has taken; null: the lookups have not succeeded. */
  readonly ms: () => number | null;
  cancel(): void;
}

export function runPair(pair: LookupPair, previous: Cut, cut: Cut, { database, timeout }: LookupContext): RunningPair {
  const { before, after } = pair;
  const running = [
    ...(before === null ? [] : [runLookups(database, previous, [before.lookup], timeout)]),
    ...(after === null ? [] : [runLookups(database, cut, [after.lookup], timeout)]),
  ];
  let ms: number | null = null;
  return {
    ms: () => ms,
    imported: Promise.all(running.map(({ imported }) => imported)).then(() => undefined),
    result: Promise.all(running.map(({ done }) => done)).then(
      (all) => {
        ms = Math.max(...all);
        return toResult(pair);
      },
      (error: unknown) => toFailure(error),
    ),
    cancel: () => {
      for (const lookups of running) lookups.cancel();
    },
  };
}

/** Compares the rows of both snapshots when they are read. */
export function toResult({ group, selected, before, after }: LookupPair): LookupResult {
  try {
    const [old, rows] = [before?.rows() ?? noRows, after?.rows() ?? noRows];
    return { kind: 'changes', changes: selected.differences(old, rows, group.request) };
  } catch (error) {
    return toFailure(error);
  }
}

/** Privileges (class 42501), and tables, columns or functions that do not exist any more. */
const ends: Readonly<Record<string, 'forbidden' | 'schema-changed'>> = {
  '42501': 'forbidden',
  '42P01': 'schema-changed',
  '42703': 'schema-changed',
  '42704': 'schema-changed',
  '42804': 'schema-changed',
  '42883': 'schema-changed',
  '3F000': 'schema-changed',
};

export function toFailure(error: unknown): LookupResult {
  if (error instanceof CallTimeout) return { kind: 'gap', reason: 'lookup-timeout' };
  if (error instanceof RowsTooLarge) return { kind: 'gap', reason: 'too-many-changes' };
  if (!(error instanceof DatabaseError)) return { kind: 'gap', reason: 'lookup-failed' };
  const { code } = error.diagnostics;
  // A snapshot that is gone has the code of an object that does not exist.
  const reason = error.step < 0 ? undefined : error.label === 'settings' ? 'forbidden' : ends[code];
  if (reason !== undefined) return { kind: 'end', reason };
  return { kind: 'gap', reason: code === queryCanceled ? 'lookup-timeout' : 'lookup-failed' };
}
