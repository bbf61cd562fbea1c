import type { ChangeIdentity } from '../ports/changes.ts';
import {
  type Call,
  type Database,
  DatabaseError,
  type RowSink,
  type Statement,
  type Step,
  type Value,
} from '../postgres/port.ts';
import { readOnlyStep, setConfigStatement } from '../postgres/settings.ts';
import type { Cut } from './cut.ts';

/** A statement that reads rows for one identity. */
export interface Lookup {
  readonly identity: ChangeIdentity;
  readonly statement: Statement;
  readonly values: readonly Value[];
  readonly rows: RowSink;
  readonly altersSession: boolean;
}

/** Lookups that were started together. */
export interface RunningLookups {
  /** Resolves when the snapshot is read, so that the cut may end, or the call has failed. */
  readonly imported: Promise<void>;
  /** Resolves to the milliseconds that PostgreSQL has taken. @throws as `Call.failed` */
  readonly done: Promise<number>;
  cancel(): void;
}

/** The steps before those of a call that read its snapshot: BEGIN and SET TRANSACTION SNAPSHOT. */
const importSteps = 2;

/**
 * Runs lookups in the snapshot of a cut: in one round trip and one transaction. Several of them have the same role. Their transaction is
 * read-only, and each of them ends with a rollback to its beginning: settings and tables that its functions make do not reach the next one.
 * @param timeout milliseconds
 */
export function runLookups(database: Database, cut: Cut, lookups: readonly Lookup[], timeout: number): RunningLookups {
  const [first] = lookups;
  let markImported: () => void = () => undefined;
  const imported = new Promise<void>((resolve) => (markImported = resolve));
  let ended = 0;
  let cancel = (): void => undefined;
  cut.use();
  const release = (): void => {
    markImported();
    cut.release();
  };
  let isReleased = false;
  const releaseOnce = (): void => {
    if (!isReleased) release();
    isReleased = true;
  };
  const done = new Promise<number>((resolve, reject) => {
    const isShared = lookups.length > 1;
    const call: Call = {
      steps: isShared ? sharedSteps(lookups) : lookupSteps(first!),
      isReadOnly: isShared,
      mayShare: false,
      atomic: true,
      isolation: 'repeatable read',
      snapshot: cut.snapshot,
      role: first!.identity.role,
      altersSession: lookups.some(({ altersSession }) => altersSession),
      timeout,
      stepEnded: () => {
        if (++ended >= importSteps) releaseOnce();
      },
      done: (elapsedMs) => {
        releaseOnce();
        resolve(elapsedMs);
      },
      failed: (error) => {
        releaseOnce();
        // A server without the snapshot is another one than that of the cut, unless the connection that held the snapshot was lost.
        if (error instanceof DatabaseError && error.step < 0) database.disconnect();
        reject(error);
      },
    };
    const handle = database.run(call);
    cancel = () => handle.cancel();
  });
  return { imported, done, cancel: () => cancel() };
}

const savepoint: Step = {
  statement: { name: 'pgway_lookup_savepoint', sql: 'savepoint pgway_lookup' },
  values: [],
};
/** The savepoint remains, for the next lookup. */
const rollbackToSavepoint: Step = {
  statement: { name: 'pgway_lookup_rollback', sql: 'rollback to savepoint pgway_lookup' },
  values: [],
};
const stepsBeforeShared: readonly Step[] = [readOnlyStep, savepoint];
/** Settings, statement and rollback. */
const stepsOfShared = 3;

function sharedSteps(lookups: readonly Lookup[]): readonly Step[] {
  const steps = lookups.flatMap((lookup) => [settingsStep(lookup), statementStep(lookup), rollbackToSavepoint]);
  return [...stepsBeforeShared, ...steps];
}

/** Returns the index of the lookup with the step that has failed; null: the error is not of one lookup. */
export function findFailed(error: unknown, { length }: readonly Lookup[]): number | null {
  if (!(error instanceof DatabaseError) || error.step < 0) return null;
  if (length === 1) return 0;
  const index = Math.floor((error.step - stepsBeforeShared.length) / stepsOfShared);
  return index < 0 ? null : index;
}

function lookupSteps(lookup: Lookup): readonly Step[] {
  const step = statementStep(lookup);
  return lookup.identity.settings.length === 0 ? [step] : [settingsStep(lookup), step];
}

/** All settings of the caller: its transaction may have those of another one. */
function settingsStep({ identity: { settings } }: Lookup): Step {
  return { statement: setConfigStatement(settings.length), values: settings.flat(), label: 'settings' };
}

function statementStep({ statement, values, rows }: Lookup): Step {
  return { statement, values, rows, label: 'statement' };
}
