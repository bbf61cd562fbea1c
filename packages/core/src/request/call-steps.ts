import type { RowSink, Step } from '../postgres/port.ts';
import { responseSettingsStatement } from '../response/response-settings.ts';
import type { ExecutableCall } from './build-query.ts';
import { restoringSettings, settingsStep } from './call-settings.ts';
import type { TrialCall } from './plans/plan-trial.ts';
import { transactionSettings } from './trace-context.ts';

export interface StepOptions {
  readonly rows: RowSink;
  readonly headerRow: RowSink | null;
  readonly settingsRow: RowSink | null;
  readonly isHostConnection: boolean;
  readonly lastStep: Step | null;
  /** Measures the call. */
  readonly trial?: TrialCall | null;
}

/**
 * Returns settings, guard, header query, statement, the query of response settings and last step, in this order. Most
 * calls have only the statement.
 */
export function buildSteps(
  call: ExecutableCall,
  { rows, headerRow, settingsRow, isHostConnection, lastStep, trial = null }: StepOptions,
): readonly Step[] {
  if (trial !== null) return trial.steps(call, rows);
  const step: Step = { statement: call.statement, values: call.arguments, rows };
  const before = stepsBefore(call, headerRow);
  const settings = transactionSettings(call);
  if (settings.length === 0 && before.length === 0 && lastStep === null) return [step];
  const steps = [
    ...before,
    step,
    ...(settingsRow === null ? [] : [responseSettingsStep(call.guard, settingsRow)]),
    ...(lastStep === null ? [] : [lastStep]),
  ];
  if (settings.length === 0) return steps;
  if (!isHostConnection) return [settingsStep(settings), ...steps];
  // The transaction of the host continues: its settings are restored after the call.
  const changes = restoringSettings(settings);
  return [changes.before, ...steps, changes.after];
}

/** Whether a call may run again after its connection was lost. */
export function mayRunTwice({ candidate, guard }: ExecutableCall): boolean {
  return candidate.endpoint.volatility !== 'volatile' || guard?.isOfReplay === true;
}

const none: readonly Step[] = [];

function stepsBefore({ headerQuery, guard }: ExecutableCall, headerRow: RowSink | null): readonly Step[] {
  if (headerQuery === null) return guard === null ? none : [guard.step];
  const header = { statement: headerQuery.statement, values: headerQuery.arguments, rows: headerRow! };
  return guard === null ? [header] : [guard.step, header];
}

function responseSettingsStep(guard: ExecutableCall['guard'], rows: RowSink): Step {
  return { ...(guard?.settings ?? { statement: responseSettingsStatement, values: [] }), rows };
}
