/** The steps of a call: their order and their labels. */
import type { CallSetting } from '../auth/context.ts';
import { DatabaseError, type RowSink, type Step, type TransactionOptions } from '../postgres/port.ts';
import { earlierIndex, type EarlierLabel, earlierLabel } from '../ports/earlier-statements.ts';
import { readOnlyStep, setConfigStatement } from '../postgres/settings.ts';
import { responseSettingsStatement } from '../response/response-settings.ts';
import type { BoundStatement, ExecutableCall } from './build-query.ts';
import type { CallGuard } from './idempotency/compile-idempotency.ts';
import type { Measurement, Run } from './run.ts';
import { transactionSettings } from './trace-context.ts';

/**
 * The label of a step, which an error of the step has:
 * - `settings`: sets the settings of the transaction
 * - `read-only`: makes the transaction read-only, where it has no settings
 * - `claim`: claims an idempotency key
 * - `privileges`: checks the privileges of the statement, whose stored response is sent
 * - `headers`: the query of response headers
 * - `earlier <n>`: the n-th statement before the one of the call, from 0 on
 * - `clock`: reads the clock of the server, before and after a statement that is measured
 * - `statement`: the statement of the call
 * - `response-settings`: reads what the statement has set for the response
 * - `invalidation`: tells other instances which cached responses are obsolete
 * - `restore`: restores or empties the settings of a transaction that continues
 */
export type StepLabel =
  | 'settings'
  | 'read-only'
  | 'claim'
  | 'privileges'
  | 'headers'
  | EarlierLabel
  | 'clock'
  | 'statement'
  | 'response-settings'
  | 'invalidation'
  | 'restore';

type LabelledStep = Step & { readonly label: StepLabel };

export interface StepOptions {
  readonly rows: RowSink;
  readonly headerRow: RowSink | null;
  readonly settingsRow: RowSink | null;
  readonly isHostConnection: boolean;
  /** Null: the call makes no cached response obsolete, or no other instance has one. */
  readonly invalidation: Step | null;
}

/** Returns the steps of a call in their order. Most calls have only the statement. */
export function buildSteps(call: ExecutableCall, run: Run, options: StepOptions): readonly LabelledStep[] {
  const { rows, headerRow, settingsRow, isHostConnection, invalidation } = options;
  const { guard, trial } = run;
  const step: LabelledStep = { statement: call.statement, values: call.arguments, rows, label: 'statement' };
  const settings = transactionSettings(call, run.traceparent);
  if (trial !== null) return measuredSteps(step, call.isReadOnly ? [...settings, readOnlySetting] : settings, trial);
  const before = stepsBefore(call, guard, headerRow);
  const isPlain = settings.length === 0 && !call.isReadOnly;
  if (isPlain && before.length === 0 && invalidation === null) return [step];
  const steps = [
    ...before,
    step,
    ...(settingsRow === null ? [] : [responseSettingsStep(guard, settingsRow)]),
    ...(invalidation === null ? [] : [labelled(invalidation, 'invalidation')]),
    ...emptyingSteps(call, isHostConnection),
  ];
  if (isPlain) return steps;
  if (!isHostConnection) return [beginningStep(settings, call.isReadOnly), ...steps];
  // The transaction of the host continues: its settings are restored after the call, and it may write afterwards.
  if (settings.length === 0) return steps;
  const changes = restoringSettings(settings, 'call');
  return [changes.before, ...steps, changes.after];
}

/** Returns the steps at the beginning and before the commit of a transaction with several round trips, which runs a call. */
export function transactionSteps(
  call: ExecutableCall,
  traceparent: string | null,
  isHostConnection: boolean,
): Pick<TransactionOptions, 'settings' | 'restoreSettings'> {
  const settings = transactionSettings(call, traceparent);
  if (settings.length === 0) return { settings: null, restoreSettings: null };
  if (!isHostConnection) return { settings: settingsStep(settings), restoreSettings: null };
  const { before, after } = restoringSettings(settings, 'transaction');
  return { settings: before, restoreSettings: after };
}

/** Returns the statement of a call that a step runs or checks; null for other steps. */
export function statementOf(call: ExecutableCall, label: string | null): BoundStatement | null {
  const earlier = earlierIndex(label);
  if (earlier !== null) return call.earlier?.[earlier] ?? null;
  switch (label as StepLabel | null) {
    case 'headers':
      return call.headerQuery;
    case 'statement':
    case 'privileges':
      return call;
    default:
      return null;
  }
}

/** Whether the error is one of the step with the label. */
export function isErrorOf(label: StepLabel, error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.label === label;
}

/** Whether a call may run again after its connection was lost. */
export function mayRunTwice({ candidate }: ExecutableCall, { guard }: Run): boolean {
  return candidate.endpoint.volatility !== 'volatile' || guard?.isOfReplay === true;
}

export function labelled(step: Step, label: StepLabel): LabelledStep {
  return { ...step, label };
}

/** Returns the step that sets the settings, before the statement in the same round trip and transaction. */
export function settingsStep(settings: readonly CallSetting[]): LabelledStep {
  // `flat` takes several times as long.
  const values: string[] = [];
  for (const [name, value] of settings) values.push(name, value);
  return { statement: setConfigStatement(settings.length), values, label: 'settings' };
}

const readOnlySetting: CallSetting = ['transaction_read_only', 'on'];

/** Whether the transaction of a call is read-only: by the gateway, or by a setting of a dialect. */
export function isReadOnlyCall({ isReadOnly, settings }: Pick<ExecutableCall, 'isReadOnly' | 'settings'>): boolean {
  return isReadOnly || settings.some(([name]) => name === readOnlySetting[0]);
}

/** @param settings with at least one, unless the call is read-only */
function beginningStep(settings: readonly CallSetting[], isReadOnly: boolean): LabelledStep {
  if (!isReadOnly) return settingsStep(settings);
  return settings.length === 0 ? readOnlyCallStep : settingsStep([...settings, readOnlySetting]);
}

const readOnlyCallStep = labelled(readOnlyStep, 'read-only');

const none: readonly LabelledStep[] = [];

function stepsBefore(
  { headerQuery, earlier }: ExecutableCall,
  guard: CallGuard | null,
  headerRow: RowSink | null,
): readonly LabelledStep[] {
  if (headerQuery === null && earlier === undefined) return guard === null ? none : guardSteps(guard);
  return [
    ...(guard === null ? none : guardSteps(guard)),
    ...(earlier ?? []).map(earlierStep),
    ...(headerQuery === null ? none : [headerStep(headerQuery, headerRow!)]),
  ];
}

function headerStep(
  { statement, arguments: values }: NonNullable<ExecutableCall['headerQuery']>,
  rows: RowSink,
): LabelledStep {
  return { statement, values, rows, label: 'headers' };
}

function earlierStep({ statement, arguments: values }: BoundStatement, index: number): LabelledStep {
  return { statement, values, label: earlierLabel(index) };
}

function guardSteps({ steps, isOfReplay }: CallGuard): readonly LabelledStep[] {
  return steps.map((step) => labelled(step, isOfReplay ? 'privileges' : 'claim'));
}

function responseSettingsStep(guard: CallGuard | null, rows: RowSink): LabelledStep {
  const { statement, values } = guard?.settings ?? { statement: responseSettingsStatement, values: [] };
  return { statement, values, rows, label: 'response-settings' };
}

/** The plan mode and the timeout of a trial are settings of its transaction. */
function measuredSteps(
  step: LabelledStep,
  settings: readonly CallSetting[],
  trial: Measurement,
): readonly LabelledStep[] {
  const clock = labelled(trial.clock, 'clock');
  return [settingsStep([...settings, ...trial.settings]), clock, step, clock];
}

/** Returns the step that empties the settings of earlier statements, which the next calls of the transaction must not read; none without any. */
function emptyingSteps({ earlier }: ExecutableCall, isHostConnection: boolean): readonly LabelledStep[] {
  if (!isHostConnection) return none;
  const names = (earlier ?? []).flatMap(({ setting }) => (setting === undefined ? [] : [setting]));
  if (names.length === 0) return none;
  const items = names.map((_, index) => `pg_catalog.set_config($${index + 1}::pg_catalog.text, '', true)`);
  return [{ statement: { name: '', sql: `select ${items.join(', ')}` }, values: names, label: 'restore' }];
}

/**
 * Returns the steps for a call in a transaction that continues after it: one before the call, which saves the old values and sets the
 * new ones, and one after it, which restores the old values.
 * @param scope a call within a transaction that has saved values does not replace these
 */
function restoringSettings(
  settings: readonly CallSetting[],
  scope: 'call' | 'transaction',
): { readonly before: LabelledStep; readonly after: LabelledStep } {
  const set = (name: string, value: string): string => `pg_catalog.set_config(${name}, ${value}, true)`;
  const saved = settings.map((_, index) => `'pgway.saved_${scope}_${index}'`);
  const name = (index: number): string => `$${index * 2 + 1}::pg_catalog.text`;
  const before = saved.flatMap((backup, index) => [
    set(backup, `coalesce(pg_catalog.current_setting(${name(index)}, true), '')`),
    set(name(index), `$${index * 2 + 2}::pg_catalog.text`),
  ]);
  // In reverse: a setting may occur twice.
  const after = saved
    .map((backup, index) => set(`$${index + 1}::pg_catalog.text`, `pg_catalog.current_setting(${backup})`))
    .toReversed();
  const unnamed = (items: readonly string[]): Step['statement'] => ({ name: '', sql: `select ${items.join(', ')}` });
  return {
    before: { statement: unnamed(before), values: settings.flat(), label: 'settings' },
    after: { statement: unnamed(after), values: settings.map(([key]) => key), label: 'restore' },
  };
}
