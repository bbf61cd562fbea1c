import type { CallPlan, RowSink, Step } from '../postgres/port.ts';
import type { CallSetting } from '../auth/context.ts';
import type { CallGuard } from './idempotency/compile-idempotency.ts';
import type { NoticeListener } from './notice-events.ts';

/** What one run adds to its call: a call may run again, on the primary after a replica, or without a trial. */
export interface Run {
  /** Not one of the settings: responses are cached by these. */
  readonly traceparent: string | null;
  /** Null: the request has no idempotency key. */
  readonly guard: CallGuard | null;
  /** Turns notices into events; null: the endpoint has no events. */
  readonly raiseEvent: NoticeListener | null;
  /** Null: `auto`. */
  readonly plan: CallPlan | null;
  /** Measures the call; null: it is not measured. */
  readonly trial: Measurement | null;
}

/** A measured run. */
export interface Measurement {
  /** The plan mode and the timeout, for the transaction of the call. */
  readonly settings: readonly CallSetting[];
  /** Reads the clock of the server, before and after the statement. */
  readonly clock: Step & { readonly rows: RowSink };
}

/** The plan of many calls. */
export interface SettledPlan extends CallPlan {
  /** The run with this plan and nothing else: most runs need no object of their own. */
  readonly run: Run;
}

export const plainRun: Run = Object.freeze({
  traceparent: null,
  guard: null,
  raiseEvent: null,
  plan: null,
  trial: null,
});

/** Returns a run without a plan. */
export function createRun(traceparent: string | null, guard: CallGuard | null, raiseEvent: NoticeListener | null): Run {
  if (traceparent === null && guard === null && raiseEvent === null) return plainRun;
  return { traceparent, guard, raiseEvent, plan: null, trial: null };
}

export function withPlan(run: Run, plan: SettledPlan): Run {
  if (run === plainRun) return plan.run;
  const { traceparent, guard, raiseEvent } = run;
  return { traceparent, guard, raiseEvent, plan, trial: null };
}
