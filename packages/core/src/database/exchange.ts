import {
  type Call,
  CallTimeout,
  Cancelled,
  ColumnsChanged,
  type ConnectionLost,
  DatabaseError,
  type Diagnostics,
  type RowSink,
  type Statement,
} from './port.ts';

const queryCanceled = '57014';
/** A statement cancelled after this part of its timeout was cancelled by the timeout: clocks differ a little. */
const timeoutTolerance = 0.9;

/** What goes out up to one Sync, and what comes back up to one ReadyForQuery. */
export abstract class Exchange {
  /** When the database began to work on it, by `performance.now()`; set by the session. */
  startedAt = 0;
  /** Which statement of the exchange the incoming messages belong to. */
  protected step = 0;
  protected phase: 'parse' | 'bind' | 'execute' = 'parse';
  protected error: Error | null = null;

  /** The call that it serves; null when it serves the connection. */
  abstract readonly run: Run | null;

  /** The statement that a RowDescription describes. */
  protected abstract statement(): Statement | undefined;

  parseComplete(): void {
    this.phase = 'bind';
  }

  bindComplete(): void {
    this.phase = 'execute';
  }

  /** The statement's result columns, none for `NoData`. */
  described(types: readonly number[]): void {
    const statement = this.statement();
    const expected = statement?.columns;
    if (expected === undefined) return;
    const same =
      expected.length === types.length &&
      expected.every((oids, index) => oids === null || oids.includes(types[index]!));
    if (!same) this.error ??= columnsChanged(statement!.sql, expected, types);
  }

  /** The sink of the statement whose rows are coming; null discards them. */
  get rows(): RowSink | null {
    return null;
  }

  abstract statementComplete(): void;

  refused(diagnostics: Diagnostics): void {
    this.error ??= new DatabaseError(diagnostics, this.step, this.phase);
  }

  notice(_notice: Diagnostics): void {
    // Only a call has somebody to tell.
  }

  /**
   * ReadyForQuery.
   * @param left a setting that was left changed
   */
  abstract finished(now: number, left: string | null): void;

  /** The connection went away. */
  abstract lost(error: ConnectionLost): void;
}

/** By the OIDs of the types, as `select oid, typname from pg_type` has them. */
function columnsChanged(
  sql: string,
  expected: NonNullable<Statement['columns']>,
  types: readonly number[],
): ColumnsChanged {
  const wanted = expected.map((oids) => (oids === null ? 'any' : oids.join(' or '))).join(', ');
  return new ColumnsChanged(
    `unexpected result columns: types (${wanted}) were wanted, (${types.join(', ')}) came of ${sql}`,
  );
}

/** Told which statements are ready, and what kept the others from it. */
type Settled = (ready: readonly Statement[], error: Error | null) => void;

/** Parses statements under their names and checks their columns, before anything is executed. */
export class Preparation extends Exchange {
  override readonly run: Run;
  readonly statements: readonly Statement[];
  readonly #settled: Settled;

  constructor(run: Run, statements: readonly Statement[], settled: Settled) {
    super();
    this.run = run;
    this.statements = statements;
    this.#settled = settled;
  }

  protected override statement(): Statement | undefined {
    return this.statements[this.step];
  }

  override parseComplete(): void {
    // Its columns are still to come; until then an error is one of parsing.
  }

  override described(types: readonly number[]): void {
    super.described(types);
    this.step++;
  }

  override statementComplete(): void {
    // Nothing is executed here.
  }

  override refused(diagnostics: Diagnostics): void {
    const statement = this.statement();
    const step = this.run.call.steps.findIndex((candidate) => candidate.statement === statement);
    this.error ??= new DatabaseError(diagnostics, Math.max(step, 0), this.phase);
  }

  override finished(): void {
    this.#settled(this.statements.slice(0, this.step), this.error);
  }

  override lost(error: ConnectionLost): void {
    this.#settled([], error);
  }
}

/** Asks for nothing: its ReadyForQuery proves that the server has done with all before it. */
export class Barrier extends Exchange {
  override readonly run = null;
  readonly #settled: () => void;

  constructor(settled: () => void) {
    super();
    this.#settled = settled;
  }

  protected override statement(): undefined {
    return undefined;
  }

  override statementComplete(): void {
    // A barrier has no statement.
  }

  override finished(): void {
    this.#settled();
  }

  override lost(): void {
    this.#settled();
  }
}

/** One call of the port. */
export class Run extends Exchange {
  readonly call: Call;
  /** Nobody waits any more: rows are dropped, and the outcome is told as `Cancelled`. */
  abandoned = false;
  /** The statement was cancelled because of the call's timeout. */
  timedOut = false;
  /** The sink asked for a pause. */
  stalled = false;
  /** Takes over when a prepared statement turned out to be gone: once. */
  #retry: ((run: Run) => void) | null;

  constructor(call: Call, retry: (run: Run) => void) {
    super();
    this.call = call;
    this.#retry = retry;
    this.#enter(0);
  }

  override get run(): Run {
    return this;
  }

  /** Its outcome is of no interest any more, and its statement may be cancelled. */
  get unwanted(): boolean {
    return this.abandoned || this.timedOut;
  }

  protected override statement(): Statement | undefined {
    return this.call.steps[this.step]?.statement;
  }

  override get rows(): RowSink | null {
    if (this.abandoned || this.error !== null) return null;
    return this.call.steps[this.step]?.rows ?? null;
  }

  override statementComplete(): void {
    this.#enter(this.step + 1);
  }

  override notice(notice: Diagnostics): void {
    if (!this.abandoned) this.call.notice?.(notice);
  }

  override finished(now: number, left: string | null): void {
    if (this.abandoned) this.call.failed(new Cancelled('the caller went away'));
    else if (this.error === null) this.call.done(now - this.startedAt, left);
    else if (this.#retry !== null && this.#nothingWasGiven() && preparedStatementIsStale(this.error))
      this.#again(this.#retry);
    else this.call.failed(this.#explained(this.error, now));
  }

  /** Its statements could not be prepared, or nobody wants it now that they are. */
  unprepared(error: Error | null, startedAt: number): void {
    this.startedAt = startedAt;
    this.error = error ?? this.#late();
    this.#retry = null;
    this.finished(performance.now(), null);
  }

  override lost(error: ConnectionLost): void {
    this.call.failed(this.abandoned ? new Cancelled('the caller went away') : (this.error ?? error));
  }

  #nothingWasGiven(): boolean {
    return this.call.steps.slice(0, this.step).every((step) => step.rows === undefined);
  }

  #again(retry: (run: Run) => void): void {
    this.#retry = null;
    this.error = null;
    this.#enter(0);
    retry(this);
  }

  #enter(step: number): void {
    this.step = step;
    this.phase = this.statement()?.name === '' ? 'parse' : 'bind';
  }

  #explained(error: Error, now: number): Error {
    if (!(error instanceof DatabaseError) || error.diagnostics.code !== queryCanceled) return error;
    const { timeout } = this.call;
    const ours = this.timedOut || (timeout > 0 && now - this.startedAt >= timeout * timeoutTolerance);
    return ours ? this.#late() : error;
  }

  #late(): CallTimeout {
    return new CallTimeout(`no answer within ${this.call.timeout} ms`);
  }
}

/**
 * The statement was deallocated behind our back, or its plan can no longer give the columns it was prepared with. Both
 * are found out before anything of the statement has run, so that it is safe to prepare and run it again.
 */
function preparedStatementIsStale(error: Error): boolean {
  if (!(error instanceof DatabaseError) || error.phase !== 'bind') return false;
  const { code, routine } = error.diagnostics;
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery');
}
