import type { Outgoing } from './outgoing.ts';
import type { Call, Statement } from './port.ts';

/** A client may choose which defaults it omits, and so the statement: the oldest ones make room past this many. */
const most = 500;

/** Which statements one connection knows under their names. */
export class Prepared {
  readonly #names = new Set<string>();
  readonly #outgoing: Outgoing;

  constructor(outgoing: Outgoing) {
    this.#outgoing = outgoing;
  }

  /** The statements of the call that have to be prepared before it can be sent. */
  missing(call: Call): readonly Statement[] {
    let missing: Statement[] | null = null;
    for (const { statement } of call.steps) {
      if (statement.name === '' || this.#names.has(statement.name)) continue;
      missing ??= [];
      if (!missing.includes(statement)) missing.push(statement);
    }
    return missing ?? [];
  }

  add(statements: readonly Statement[]): void {
    for (const { name } of statements) this.#names.add(name);
  }

  forget({ name }: Statement): void {
    this.#names.delete(name);
    this.#outgoing.close(name);
  }

  /** To be called when nothing that is still to be sent counts on a statement. */
  makeRoom(): void {
    for (const name of this.#names) {
      if (this.#names.size <= most) return;
      this.#names.delete(name);
      this.#outgoing.close(name);
    }
  }
}
