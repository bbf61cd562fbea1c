import type { MessageWriter } from './message-writer.ts';
import type { Statement, Step } from './port.ts';
import { Preparation } from './preparation.ts';
import type { Run } from './run.ts';

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
export class Prepared {
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
  prepare(run: Run, { missing, before }: Missing, done: (error: Error | null) => void): Preparation {
    for (const { name, sql, types } of missing) {
      this.#outgoing.parse(name, sql, types);
      this.#outgoing.describe(name);
    }
    return new Preparation(run, missing, before, (ready, error) => {
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
