import type { Database } from '../../postgres/port.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from '../execution.ts';
import { type Run, withPlan } from '../run.ts';
import { sendCall } from '../send-call.ts';
import { runTrial } from './plan-trial.ts';

/** Runs the call on a database of the gateway, with the plan that was chosen for its statement, or as a trial of one. */
export function runWithPlan(
  database: Database,
  context: ExecutionContext,
  input: ExecutionInput,
  run: Run,
): Promise<CallResult> {
  const { call } = input;
  const choice = context.plans === null ? null : context.plans.find(database, call);
  if (choice === null) return sendCall(database, context, input, run);
  const planned = choice.next();
  if (planned.trial === null) return sendCall(database, context, input, withPlan(run, planned.plan));
  return runTrial(planned.trial, call, ({ trial = null, ...changes }) =>
    sendCall(database, context, { ...input, ...changes }, { ...run, trial }),
  );
}
