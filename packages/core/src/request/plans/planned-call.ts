import type { Database } from '../../postgres/port.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from '../execution.ts';
import type { NoticeListener } from '../notice-events.ts';
import { sendCall } from '../send-call.ts';
import { runTrial } from './plan-trial.ts';

/** Runs the call on a database of the gateway, with the plan that was chosen for its statement, or as a trial of one. */
export function runWithPlan(
  database: Database,
  context: ExecutionContext,
  input: ExecutionInput,
  notice: NoticeListener,
): Promise<CallResult> {
  const { call } = input;
  const choice = context.plans === null ? null : context.plans.find(database, call);
  const planned = choice === null ? null : choice.next();
  call.plan = planned === null ? null : planned.plan;
  if (planned === null || planned.trial === null) return sendCall(database, context, input, notice);
  return runTrial(planned.trial, call, (changes) => sendCall(database, context, { ...input, ...changes }, notice));
}
