import { PipelinedRequest } from './pipelined-request.ts';
import { ProtocolViolation } from './message-parser.ts';
import { type ConnectionLost, DatabaseError, type Diagnostics, type Statement } from './port.ts';
import type { Run } from './run.ts';

/** Invoked with the statements that are ready, and what kept the others from it. */
type Settled = (ready: readonly Statement[], error: Error | null) => void;

/**
 * Parses statements under their names and checks their columns, before anything is executed. Where the call has a role, a step that
 * sets it comes first, in the same transaction.
 */
export class Preparation extends PipelinedRequest {
  override readonly run: Run;
  readonly statements: readonly Statement[];
  readonly #settled: Settled;
  /** Steps that set the role. */
  readonly #before: number;
  protected override readonly count: number;
  #parsed = false;

  constructor(run: Run, statements: readonly Statement[], before: number, settled: Settled) {
    super();
    this.run = run;
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
    this.expect('parse', 'ParseComplete');
    this.#parsed = true;
  }

  override described(types: readonly number[]): void {
    if (this.#settingRole) return;
    if (!this.#parsed) throw new ProtocolViolation('a RowDescription out of its order');
    super.described(types);
    this.#parsed = false;
    this.step++;
  }

  override statementComplete(): void {
    super.statementComplete();
    this.phase = 'parse';
  }

  protected override databaseError(diagnostics: Diagnostics): DatabaseError {
    const statement = this.statement();
    const step = this.run.steps.findIndex((candidate) => candidate.statement === statement);
    return this.#settingRole
      ? new DatabaseError(diagnostics, 0, 'execute')
      : new DatabaseError(diagnostics, Math.max(step - this.run.before, 0), this.phase);
  }

  override finished(): void {
    this.#settled(this.statements.slice(0, Math.max(this.step - this.#before, 0)), this.error);
  }

  override lost(error: ConnectionLost): void {
    this.#settled([], error);
  }
}
