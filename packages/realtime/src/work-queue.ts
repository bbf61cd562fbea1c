/** Runs works in order, one after the other. */
export class WorkQueue {
  readonly #failed: (error: unknown) => void;
  readonly #waiting: (() => Promise<void>)[] = [];
  #isWorking = false;

  /** @param failed called for a work that throws; the next works run nevertheless */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** The works that have not begun. */
  get size(): number {
    return this.#waiting.length;
  }

  add(work: () => Promise<void>): void {
    this.#waiting.push(work);
    if (!this.#isWorking) void this.#work();
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let work = this.#waiting.shift(); work !== undefined; work = this.#waiting.shift()) {
      try {
        await work();
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#isWorking = false;
  }
}
