import { toError } from '../../to-error.ts';
/** The callbacks of upload handlers for the end of a request: one list for a commit, one for a rollback. */
export class UploadEffects {
  readonly #onRollback: (() => void | Promise<void>)[] = [];
  readonly #onCommit: (() => void | Promise<void>)[] = [];
  readonly #report: (error: Error) => void;
  #end: Promise<void> | null = null;

  /** @param report receives errors of the callbacks */
  constructor(report: (error: Error) => void) {
    this.#report = report;
  }

  onRollback(remove: () => void | Promise<void>): void {
    // A handler may still store while the upload fails.
    if (this.#end === null) this.#onRollback.push(remove);
    else void this.#end.then(() => this.#run([remove]));
  }

  onCommit(finish: () => void | Promise<void>): void {
    this.#onCommit.push(finish);
  }

  committed(): Promise<void> {
    return (this.#end ??= this.#run(this.#onCommit));
  }

  rolledBack(): Promise<void> {
    return (this.#end ??= this.#run(this.#onRollback.toReversed()));
  }

  /** The call may have been committed: what was stored stays. */
  unknown(): void {
    this.#end ??= Promise.resolve();
  }

  async #run(callbacks: readonly (() => void | Promise<void>)[]): Promise<void> {
    for (const callback of callbacks) {
      try {
        // In order: a later callback may depend on an earlier one.
        await callback();
      } catch (error) {
        this.#report(toError(error));
      }
    }
  }
}
