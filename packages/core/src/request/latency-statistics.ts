/** So many calls are looked at before an endpoint is trusted to be quick. */
const trial = 5;
const quickMilliseconds = 1;
const smallBytes = 64 * 1024;
/** Weight of the newest call in the moving averages. */
const weight = 0.2;

/** How quick and how large an endpoint's answers have been of late; it decides which calls may share a connection. */
export class Pace {
  #calls = 0;
  #milliseconds = 0;
  #bytes = 0;

  /** Quick and small so far. One slow call is enough to lose that until a few quick ones have followed. */
  get quick(): boolean {
    return this.#calls >= trial && this.#milliseconds < quickMilliseconds && this.#bytes < smallBytes;
  }

  /** Milliseconds that the database will probably work on the next call. */
  get expected(): number {
    return this.#milliseconds;
  }

  /** What the next answer will probably need, in bytes. */
  get sizeHint(): number {
    return Math.max(256, Math.min(smallBytes, Math.ceil(this.#bytes * 1.25) + 64));
  }

  record(milliseconds: number, bytes: number): void {
    const share = this.#calls++ === 0 ? 1 : weight;
    this.#milliseconds += (milliseconds - this.#milliseconds) * share;
    this.#bytes += (bytes - this.#bytes) * share;
  }
}
