import { isTimeout } from './call-request.ts';
import {
  type Call,
  CallCancelled,
  CallTimeout,
  ColumnMismatch,
  DatabaseError,
  type IsolationLevel,
  RoutineChanged,
} from './port.ts';

export interface MergeOptions {
  /** Whether the calls are a transaction of their own. */
  readonly atomic: boolean;
  /** Null: that of the session. */
  readonly isolation: IsolationLevel | null;
  /** Whether the transaction may alter its session before or after these calls. */
  readonly altersSession: boolean;
  /** Milliseconds for all calls together; 0 means no timeout. */
  readonly timeout: number;
  /** Called after the `done` of all calls. */
  done(): void;
  /**
   * Called after the `failed` of all calls.
   * @param index the position of the call that has caused the error; null: unknown, or none of them
   */
  failed(error: Error, index: number | null): void;
}

/**
 * Returns one call with the steps of all calls in their order, for one round trip and one transaction. An error of one call fails the others
 * with `CallCancelled`. The calls have the same role, and no plans.
 */
export function mergeCalls(calls: readonly Call[], options: MergeOptions): Call {
  const { atomic, isolation, timeout } = options;
  const steps = calls.flatMap((call) => call.steps);
  const owners = calls.flatMap((call, index) => call.steps.map(() => index));
  const starts = calls.map((_, index) => owners.indexOf(index));
  /** The times at which the calls have ended, by `performance.now()`. */
  const ends: number[] = [];
  const createdAt = performance.now();
  return {
    steps,
    mayShare: calls.every(({ mayShare }) => mayShare),
    expectedMs: calls.reduce((sum, { expectedMs = 0 }) => sum + expectedMs, 0),
    mayBlock: calls.some(({ mayBlock }) => mayBlock === true),
    idempotent: calls.every(({ idempotent }) => idempotent === true),
    altersSession: options.altersSession || calls.some(({ altersSession }) => altersSession === true),
    discardsSequences: calls.some(({ discardsSequences }) => discardsSequences === true),
    role: calls[0]?.role,
    atomic,
    ...(isolation === null ? {} : { isolation }),
    timeout,
    notice: (notice, step) => {
      const index = owners[step];
      if (index !== undefined) calls[index]!.notice?.(notice, step - starts[index]!);
    },
    stepEnded: (step) => {
      const index = owners[step];
      if (index !== undefined) ends[index] = performance.now();
    },
    done: (elapsedMs, changedSetting) => {
      // With several calls, the one that has changed the setting is unknown. The connection is closed in any case.
      const changed = calls.length === 1 ? changedSetting : null;
      let start = performance.now() - elapsedMs;
      for (const [index, call] of calls.entries()) {
        const end = ends[index] ?? start;
        call.done(Math.max(0, end - start), changed);
        start = end;
      }
      options.done();
    },
    failed: (cause) => {
      const index = findCulprit(cause, steps, owners);
      // A call may have a shorter timeout than all of them, as `statement_timeout` of its statement. PostgreSQL sends its responses together: when
      // the statement began is unknown.
      const timeout = index === null ? null : calls[index]!.timeout;
      const hasTimedOut = timeout !== null && isTimeout(cause, { timeout, elapsed: performance.now() - createdAt });
      const error = hasTimedOut ? new CallTimeout(`no answer within ${timeout} ms`) : cause;
      for (const [position, call] of calls.entries())
        call.failed(localError(error, { culprit: index, position, start: starts[position]! }));
      options.failed(error, index);
    },
  };
}

/** Returns the call that an error belongs to; null for errors of the connection and of steps around the calls. */
function findCulprit(error: Error, steps: Call['steps'], owners: readonly number[]): number | null {
  if (error instanceof DatabaseError) return owners[error.step] ?? null;
  if (error instanceof RoutineChanged)
    return owners[steps.findIndex(({ statement }) => statement.guard?.signature === error.signature)] ?? null;
  if (!(error instanceof ColumnMismatch)) return null;
  return owners[steps.findIndex(({ statement }) => statement.sql === error.sql)] ?? null;
}

interface ErrorOwner {
  /** Null: all calls have failed with the error. */
  readonly culprit: number | null;
  readonly position: number;
  /** The index of the first step of the call. */
  readonly start: number;
}

/** Returns the error that a call fails with: its steps count from its own first one. */
function localError(error: Error, { culprit, position, start }: ErrorOwner): Error {
  if (culprit === null) return error;
  if (culprit !== position) return new CallCancelled('another call of the transaction has failed');
  return error instanceof DatabaseError ? error.with({ step: error.step - start }) : error;
}
