import type { ChangeIdentity } from '../ports/changes.ts';
import { type Call, type Runner, type RowSink, type Statement, type Step, type Value } from '../postgres/port.ts';
import { setConfigStatement } from '../postgres/settings.ts';
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
  /** @throws as `Call.failed` */
  readonly done: Promise<void>;
  cancel(): void;
}

/** The steps before those of a call that read its snapshot: BEGIN and SET TRANSACTION SNAPSHOT. */
const importSteps = 2;

/**
 * Runs lookups in the snapshot of a cut: in one round trip and one transaction. Several of them have the same role, settings with the same
 * names, and no function that alters its transaction.
 * @param timeout milliseconds
 */
export function runLookups(runner: Runner, cut: Cut, lookups: readonly Lookup[], timeout: number): RunningLookups {
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
  const done = new Promise<void>((resolve, reject) => {
    const call: Call = {
      steps: lookups.flatMap((lookup, index) => lookupSteps(lookup, index === 0 ? null : lookups[index - 1]!)),
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
      done: () => {
        releaseOnce();
        resolve();
      },
      failed: (error) => {
        releaseOnce();
        reject(error);
      },
    };
    const handle = runner.run(call);
    cancel = () => handle.cancel();
  });
  return { imported, done, cancel: () => cancel() };
}

/** @param previous the lookup before it, whose settings the transaction has; null: it has none */
function lookupSteps({ identity, statement, values, rows }: Lookup, previous: Lookup | null): readonly Step[] {
  const known = lastValues(previous?.identity.settings ?? []);
  const settings = [...lastValues(identity.settings)].filter(([name, value]) => known.get(name) !== value);
  const step: Step = { statement, values, rows, label: 'statement' };
  if (settings.length === 0) return [step];
  return [{ statement: setConfigStatement(settings.length), values: settings.flat(), label: 'settings' }, step];
}

/** A setting may be made twice, and PostgreSQL ignores the case of its name. */
function lastValues(settings: ChangeIdentity['settings']): ReadonlyMap<string, string> {
  return new Map(settings.map(([name, value]) => [name.toLowerCase(), value]));
}
