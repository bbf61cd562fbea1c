import type { MessageWriter } from './message-writer.ts';
import { type Statement, type Step, type ConnectionLost, DatabaseError, type Diagnostics } from './port.ts';
import type { CallRequest } from './call-request.ts';
import { PipelinedRequest } from './pipeline.ts';
import { ProtocolViolation } from './message-parser.ts';

/** Bounds on what one connection keeps: a client may choose which parameters it gives, and so the statement. */
const maxStatements = 500;
/** Bytes of SQL. PostgreSQL needs a multiple of it for parse trees and plans. */
const maxBytes = 512 * 1024;
/** Evicts some more than it must: sorting at every new statement would be work without end. */
const room = 0.9;

interface Entry {
  readonly bytes: number;
  /** When it was used last, in uses of this connection. */
  used: number;
}

/** The statements that one connection has prepared, by their names. */
export class PreparedStatements {
  readonly #entries = new Map<string, Entry>();
  readonly #outgoing: MessageWriter;
  #bytes = 0;
  #uses = 0;

  constructor(outgoing: MessageWriter) {
    this.#outgoing = outgoing;
  }

  /** The statements of the steps that have to be prepared before these can be sent; the others count as used. */
  missing(steps: readonly Step[]): readonly Statement[] {
    let missing: Statement[] | null = null;
    for (const { statement } of steps) {
      if (statement.name === '') continue;
      const entry = this.#entries.get(statement.name);
      if (entry !== undefined) {
        entry.used = ++this.#uses;
        continue;
      }
      missing ??= [];
      if (!missing.includes(statement)) missing.push(statement);
    }
    return missing ?? none;
  }

  /**
   * Writes what prepares the statements, behind steps that were written already.
   * @param done told what kept them from being prepared
   */
  prepare(run: CallRequest, { missing, before }: Missing, done: (error: Error | null) => void): PrepareRequest {
    for (const { name, sql, types } of missing) {
      this.#outgoing.parse(name, sql, types);
      this.#outgoing.describe(name);
    }
    return new PrepareRequest(run, missing, before, (ready, error) => {
      for (const statement of ready) this.#add(statement);
      done(error);
      // A statement whose columns were refused is of no use under its name.
      if (error !== null) for (const { name } of missing) this.#close(name);
      this.#makeRoom();
    });
  }

  /** Closes the statements of the steps, also those that are still being prepared: PostgreSQL closes names that it does not know. */
  forget(steps: readonly Step[]): void {
    for (const { statement } of steps) if (statement.name !== '') this.#close(statement.name);
  }

  /** After `DISCARD ALL` the connection knows none. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #add({ name, sql }: Statement): void {
    this.#entries.set(name, { bytes: sql.length, used: ++this.#uses });
    this.#bytes += sql.length;
  }

  /** Evicts the statements that were used longest ago; no call that is still to be sent counts on one of them. */
  #makeRoom(): void {
    if (this.#entries.size <= maxStatements && this.#bytes <= maxBytes) return;
    const oldestFirst = [...this.#entries].sort(([, one], [, other]) => one.used - other.used);
    for (const [name] of oldestFirst) {
      if (this.#entries.size <= maxStatements * room && this.#bytes <= maxBytes * room) return;
      this.#close(name);
    }
  }

  #close(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
    this.#outgoing.close(name);
  }
}

interface Missing {
  readonly missing: readonly Statement[];
  /** How many steps stand before them in the exchange. */
  readonly before: number;
}

const none: readonly Statement[] = [];

/** Invoked with the statements that are ready, and what kept the others from it. */
type Settled = (ready: readonly Statement[], error: Error | null) => void;

/**
 * Parses statements under their names and checks their columns, before anything is executed. Where the call has a role, a step that
 * sets it comes first, in the same transaction.
 */
export class PrepareRequest extends PipelinedRequest {
  override readonly pending: CallRequest;
  readonly statements: readonly Statement[];
  readonly #settled: Settled;
  /** Steps that set the role. */
  readonly #before: number;
  protected override readonly count: number;
  #parsed = false;

  constructor(run: CallRequest, statements: readonly Statement[], before: number, settled: Settled) {
    super();
    this.pending = run;
    this.statements = statements;
    this.#before = before;
    this.count = before + statements.length;
    this.#settled = settled;
  }

  protected override statement(): Statement | undefined {
    return this.statements[this.step - this.#before];
  }

  get #settingRole(): boolean {
    return this.step < this.#before;
  }

  override parseComplete(): void {
    if (this.#settingRole) return super.parseComplete();
    // The statement's columns are still to come; until then an error is one of parsing.
    this.assertPhase('parse', 'ParseComplete');
    this.#parsed = true;
  }

  override rowDescription(types: readonly number[]): void {
    if (this.#settingRole) return;
    if (!this.#parsed) throw new ProtocolViolation('a RowDescription out of its order');
    super.rowDescription(types);
    this.#parsed = false;
    this.step++;
  }

  override statementComplete(): void {
    super.statementComplete();
    this.phase = 'parse';
  }

  protected override databaseError(diagnostics: Diagnostics): DatabaseError {
    const statement = this.statement();
    const step = this.pending.steps.findIndex((candidate) => candidate.statement === statement);
    return this.#settingRole
      ? new DatabaseError(diagnostics, 0, 'execute')
      : new DatabaseError(diagnostics, Math.max(step - this.pending.leadingSteps, 0), this.phase);
  }

  override readyForQuery(): void {
    this.#settled(this.statements.slice(0, Math.max(this.step - this.#before, 0)), this.error);
  }

  override connectionLost(error: ConnectionLost): void {
    this.#settled([], error);
  }
}
