import type { MessageWriter } from './message-writer.ts';
import {
  type DescribedColumn,
  type Statement,
  type Step,
  ColumnMismatch,
  type ConnectionLost,
  DatabaseError,
  type Diagnostics,
} from './port.ts';
import type { CallRequest } from './call-request.ts';
import { PipelinedRequest } from './pipeline.ts';
import { ProtocolViolation } from './message-parser.ts';
import type { RoutineGuard } from './routine-guard.ts';

/** Per connection. Clients choose the parameters of a request and so the statement: the number must be bounded. */
const maxStatements = 500;
/** Length of the SQL texts. PostgreSQL needs a multiple of it for parse trees and plans. */
const maxBytes = 512 * 1024;
/** Evicts down to this part of the limits, so that not every new statement sorts the entries. */
const evictionTarget = 0.9;

interface Entry {
  readonly bytes: number;
  readonly isTemporary: boolean;
  /** The use counter of the connection at the last use. */
  lastUse: number;
}

/** The prepared statements of one connection, by name; the least recently used are evicted. */
export class PreparedStatements {
  readonly #entries = new Map<string, Entry>();
  readonly #writer: MessageWriter;
  /** The names of statements whose Parse has no response yet. */
  readonly #preparing = new Set<string>();
  #bytes = 0;
  #uses = 0;

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  /**
   * Returns the statements of the steps that are not prepared yet; the others count as used. An unnamed statement is one of them while its
   * routine has not been looked up.
   */
  missing(steps: readonly Step[]): readonly Statement[] {
    let missing: Statement[] | null = null;
    for (const { statement } of steps) {
      if (statement.name === '') {
        if (this.#writer.routines?.covers(statement) === false) (missing ??= []).push(statement);
        continue;
      }
      const entry = this.#entries.get(statement.name);
      if (entry !== undefined) {
        entry.lastUse = ++this.#uses;
        continue;
      }
      missing ??= [];
      if (!missing.includes(statement)) missing.push(statement);
    }
    return missing ?? none;
  }

  /** Returns the guards of statements whose routines have to be looked up. */
  unknownRoutines(missing: readonly Statement[]): readonly RoutineGuard[] {
    const { routines } = this.#writer;
    if (routines === null) return noGuards;
    return missing.flatMap((statement) => (routines.covers(statement) ? [] : [statement.guard!]));
  }

  /**
   * Writes Parse and Describe messages for the statements, behind steps that were already written.
   * @param done receives the error that prevented the preparation, or null
   */
  prepare(request: CallRequest, { missing, before }: Missing, done: (error: Error | null) => void): PrepareRequest {
    for (const statement of missing) {
      const { name, sql, types } = statement;
      // Another call prepares the statement at the same time, because both have found it stale.
      if (this.#preparing.has(name)) this.#writer.close(name);
      this.#preparing.add(name);
      this.#writer.parse(name, this.#writer.routines?.textOf(statement) ?? sql, types);
      this.#writer.describe(name);
    }
    return new PrepareRequest(request, missing, before, (ready, error) => {
      for (const { name } of missing) this.#preparing.delete(name);
      for (const statement of ready) this.#add(statement);
      done(error);
      // A statement with unexpected columns must not stay under its name.
      if (error !== null) for (const { name } of missing) this.#close(name);
      // Another routine may have the name now: the next statement must not be bound to the one that was looked up.
      if (error instanceof ColumnMismatch) for (const statement of missing) this.#writer.routines?.forget(statement);
      this.#evict();
    });
  }

  /** Closes the statements of the steps, and looks their routines up again. PostgreSQL ignores a Close of an unknown name. */
  forget(steps: readonly Step[]): void {
    for (const { statement } of steps) {
      if (statement.name !== '') this.#close(statement.name);
      this.#writer.routines?.forget(statement);
    }
  }

  /** Closes the temporary statements, after their transaction. */
  closeTemporary(): void {
    for (const [name, { isTemporary }] of this.#entries) if (isTemporary) this.#close(name);
  }

  /** Forgets all statements, after `DISCARD ALL`. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #add({ name, sql, isTemporary = false }: Statement): void {
    this.#entries.set(name, { bytes: sql.length, isTemporary, lastUse: ++this.#uses });
    this.#bytes += sql.length;
  }

  /** Evicts the least recently used statements. No unsent call depends on them. */
  #evict(): void {
    if (this.#entries.size <= maxStatements && this.#bytes <= maxBytes) return;
    const oldestFirst = [...this.#entries].sort(([, left], [, right]) => left.lastUse - right.lastUse);
    for (const [name] of oldestFirst) {
      if (this.#entries.size <= maxStatements * evictionTarget && this.#bytes <= maxBytes * evictionTarget) return;
      this.#close(name);
    }
  }

  #close(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
    this.#writer.close(name);
  }
}

interface Missing {
  readonly missing: readonly Statement[];
  /** The number of steps before them in the request. */
  readonly before: number;
}

const none: readonly Statement[] = [];
const noGuards: readonly RoutineGuard[] = [];

/** Receives the prepared statements, and the error that prevented the others. */
type PrepareCallback = (ready: readonly Statement[], error: Error | null) => void;

/**
 * Parses named statements and checks their columns, before anything is executed. A step that sets the role of the call comes
 * first, in the same transaction.
 */
export class PrepareRequest extends PipelinedRequest {
  override readonly pending: CallRequest;
  readonly statements: readonly Statement[];
  readonly #onDone: PrepareCallback;
  /** The number of steps that set the role. */
  readonly #leadingSteps: number;
  protected override readonly count: number;
  #parsed = false;

  constructor(request: CallRequest, statements: readonly Statement[], before: number, onDone: PrepareCallback) {
    super();
    this.pending = request;
    this.statements = statements;
    this.#leadingSteps = before;
    this.count = before + statements.length;
    this.#onDone = onDone;
  }

  protected override statement(): Statement | undefined {
    return this.statements[this.step - this.#leadingSteps];
  }

  protected override get isRunning(): boolean {
    return false;
  }

  get #isSettingRole(): boolean {
    return this.step < this.#leadingSteps;
  }

  override parseComplete(): void {
    if (this.#isSettingRole) return super.parseComplete();
    // The phase remains `parse` until the columns arrive.
    this.assertPhase('parse', 'ParseComplete');
    this.#parsed = true;
  }

  override rowDescription(types: readonly number[], readColumns: () => readonly DescribedColumn[]): void {
    if (this.#isSettingRole) return;
    if (!this.#parsed) throw new ProtocolViolation('an unexpected RowDescription');
    super.rowDescription(types, readColumns);
    this.#parsed = false;
    this.step++;
  }

  override statementComplete(): void {
    super.statementComplete();
    this.phase = 'parse';
  }

  protected override databaseError(diagnostics: Diagnostics): DatabaseError {
    if (this.#isSettingRole) return new DatabaseError(diagnostics, 0, 'execute', null);
    const { steps, leadingSteps } = this.pending;
    const statement = this.statement();
    const step = steps.findIndex((candidate) => candidate.statement === statement);
    return new DatabaseError(diagnostics, Math.max(step - leadingSteps, 0), this.phase, steps[step]?.label ?? null);
  }

  override readyForQuery(): void {
    this.#onDone(this.statements.slice(0, Math.max(this.step - this.#leadingSteps, 0)), this.error);
  }

  override connectionLost(error: ConnectionLost): void {
    this.#onDone([], error);
  }
}
