import {
  ConnectionLost,
  DatabaseError,
  queryCanceled,
  readOnlySqlTransaction,
  type Statement,
} from '../../postgres/port.ts';
import { createTextRowSink } from '../../postgres/query.ts';
import type { ByteSource } from '../../http/response.ts';
import type { SizeLimit } from '../../response/response-writer.ts';
import type { CallSetting } from '../../auth/context.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { Measurement } from '../run.ts';
import type { PlanTrial } from './plan-choice.ts';

/** The response of a trial is held back up to this limit, so that the call can run again. */
const holdLimit: SizeLimit = Object.freeze({ rows: Number.POSITIVE_INFINITY, bytes: 256 * 1024 });

/** The response of a trial is larger than its limit. */
class TrialTooLarge extends Error {
  override readonly name = 'TrialTooLarge';
}

/** The process of the server, and its time in microseconds. */
const clockStatement: Statement = {
  name: 'pgway_clock',
  sql: `select pg_catalog.pg_backend_pid(), (extract(epoch from pg_catalog.clock_timestamp()) operator(pg_catalog.*) 1000000)::pg_catalog.int8`,
};

/** The input of a trial that an ordinary run does not have. */
export interface TrialInput {
  readonly call?: ExecutableCall;
  readonly trial?: Measurement;
  readonly holdLimit?: SizeLimit;
}

/**
 * Runs a call as a trial, and again with `auto` when the trial has failed: the client gets the result that it would get without trials.
 * The transaction of a trial is read-only: a routine that writes although it is declared as `stable` fails before its write, and runs once.
 * @param run runs the call
 */
export async function runTrial<Result>(
  trial: PlanTrial,
  call: ExecutableCall,
  run: (input: TrialInput) => Promise<Result>,
): Promise<Result> {
  const trialCall = new TrialCall(trial);
  const startedAt = performance.now();
  try {
    const result = await run({ call: { ...call, isReadOnly: true }, trial: trialCall, holdLimit });
    trialCall.done();
    return result;
  } catch (error) {
    if (!trialCall.failed(error)) throw error;
    const usedMs = Math.min(performance.now() - startedAt, trial.limitMs ?? 0);
    return run({ call: shortenTimeout(call, usedMs) });
  }
}

/** Ends a trial whose response would begin before the call has ended. */
export function refuseStream(body: ByteSource, reject: (error: Error) => void): void {
  reject(new TrialTooLarge('the response of a trial is too large'));
  // The body has just begun: its writer still uses it.
  queueMicrotask(() => body.cancel());
}

/**
 * A call that is measured in the server: between two statements that read its clock. The network, the pipeline and this process have no part
 * in the result.
 */
export class TrialCall implements Measurement {
  readonly #trial: PlanTrial;
  readonly #times = createTextRowSink();
  readonly clock: Measurement['clock'] = { statement: clockStatement, values: [], rows: this.#times };

  constructor(trial: PlanTrial) {
    this.#trial = trial;
  }

  get settings(): readonly CallSetting[] {
    const { isGeneric, limitMs } = this.#trial;
    const mode: CallSetting = ['plan_cache_mode', isGeneric ? 'force_generic_plan' : 'auto'];
    return limitMs === null ? [mode] : [mode, ['statement_timeout', String(limitMs)]];
  }

  /** The call has returned its rows. */
  done(): void {
    const [before, after] = this.#times.rows;
    const elapsedMs = (Number(after?.[1]) - Number(before?.[1])) / 1_000;
    // The clock of the server may have been set.
    if (elapsedMs > 0) this.#trial.completed(elapsedMs, before![0]!);
    else this.#trial.failed();
  }

  /**
   * Ends the trial with the error of the call.
   * @returns whether the call has to run again: after any error that may come from the trial
   */
  failed(error: unknown): boolean {
    const code = error instanceof DatabaseError ? error.diagnostics.code : null;
    const isCancelled = code === queryCanceled || code === readOnlySqlTransaction;
    // The plan may have crashed its server process.
    const isAbandoned = error instanceof TrialTooLarge || error instanceof ConnectionLost;
    if (isCancelled || isAbandoned) this.#trial.exceeded();
    else this.#trial.failed();
    return isAbandoned || error instanceof DatabaseError;
  }
}

/** Returns the call with less time, where its endpoint limits it: the trial is a part of the time of the request. */
function shortenTimeout(call: ExecutableCall, usedMs: number): ExecutableCall {
  const { timeoutMs } = call.candidate.endpoint;
  if (timeoutMs === null || timeoutMs === 0) return call;
  const left: CallSetting = ['statement_timeout', String(Math.ceil(timeoutMs - usedMs))];
  return { ...call, settings: call.settings.map((setting) => (setting[0] === left[0] ? left : setting)) };
}
