/** Starts tasks in order, a number of them at a time. */
export class Limiter {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  readonly #parent: Limiter | null;
  #running = 0;

  /** @param parent limits the tasks of others together with these; null: none does */
  constructor(limit: number, parent: Limiter | null = null) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** Resolves when a task may start, which calls the function at its end. */
  async enter(): Promise<() => void> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    const leaveParent = await this.#parent?.enter();
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      leaveParent?.();
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    };
  }

  /** As `enter`; resolves to null when no place is free within some milliseconds. */
  enterWithin(ms: number): Promise<(() => void) | null> {
    return new Promise((resolve) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        resolve(null);
      }, ms);
      void this.enter().then((leave) => {
        clearTimeout(timer);
        if (isLate) leave();
        else resolve(leave);
      });
    });
  }
}
