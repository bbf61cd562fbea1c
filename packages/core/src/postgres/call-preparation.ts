import type { CallRequest } from './call-request.ts';
import { setRoleSteps } from './connection-mode.ts';
import type { MessageWriter } from './message-writer.ts';
import type { PipelinedRequest } from './pipeline.ts';
import { ConnectionLost, type Statement } from './port.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { RoutineGuard } from './routine-guard.ts';
import { RoutineLookup } from './routine-lookup.ts';

interface PreparationEvents {
  /** Adds the request whose messages were written. */
  enqueue(request: PipelinedRequest): void;
  /** All statements of the call are prepared. */
  send(request: CallRequest): void;
  /** Runs a call of a lost connection on another one; returns false when none can. */
  requeue(request: CallRequest): boolean;
}

/** Looks up the routines of calls, and prepares their statements, before the calls are sent on a connection. */
export class CallPreparation {
  /** The number of calls that wait for their statements to be prepared. */
  waiting = 0;
  readonly #statements: PreparedStatements;
  readonly #writer: MessageWriter;
  readonly #events: PreparationEvents;

  constructor(statements: PreparedStatements, writer: MessageWriter, events: PreparationEvents) {
    this.#statements = statements;
    this.#writer = writer;
    this.#events = events;
  }

  start(request: CallRequest): void {
    const missing = this.#statements.missing(request.steps);
    if (missing.length === 0) return this.#events.send(request);
    const guards = this.#statements.unknownRoutines(missing);
    if (guards.length === 0) this.#prepare(request, missing);
    else this.#lookUp(request, guards);
  }

  /** Prepares the statements of a call again, because the server dropped one, its plan is stale or its routine is another one. */
  startAgain(request: CallRequest): void {
    this.#statements.forget(request.steps);
    this.start(request);
  }

  #lookUp(request: CallRequest, guards: readonly RoutineGuard[]): void {
    const before = this.#setRole(request);
    this.#writer.writeSteps(RoutineLookup.steps(guards));
    const lookup: RoutineLookup = new RoutineLookup({ request, guards, before }, this.#writer.routines!, (error) =>
      this.#continue(request, error, lookup),
    );
    this.#enqueue(lookup);
  }

  /** Parses the statements under the role of the call, so that PostgreSQL checks the privileges of that role. */
  #prepare(request: CallRequest, missing: readonly Statement[]): void {
    const before = this.#setRole(request);
    const prepare: PipelinedRequest = this.#statements.prepare(request, { missing, before }, (error) =>
      this.#continue(request, error, prepare),
    );
    this.#enqueue(prepare);
  }

  /** Returns the number of steps that set the role. */
  #setRole({ call, switchesRole }: CallRequest): number {
    const steps = setRoleSteps(call.role, switchesRole);
    this.#writer.writeSteps(steps);
    return steps.length;
  }

  #enqueue(request: PipelinedRequest): void {
    this.waiting++;
    this.#events.enqueue(request);
  }

  #continue(request: CallRequest, error: Error | null, { earliestStart }: PipelinedRequest): void {
    this.waiting--;
    if (error instanceof ConnectionLost && request.isUndelivered && this.#events.requeue(request)) return;
    if (error !== null && request.takeRetry(error)) return this.startAgain(request);
    // Another call may have closed one of the statements in the meantime.
    if (error === null && !request.isObsolete) this.start(request);
    else request.prepareFailed(error, earliestStart);
  }
}
