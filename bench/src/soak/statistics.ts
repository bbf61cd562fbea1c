/** How the calls of one operation ended. */
export interface Counts {
  calls: number;
  answered: number;
  /** 503 with Retry-After. */
  notSent: number;
  /** 503 with the code outcome-unknown. */
  unknown: number;
  /** An answer that was cut off after its first bytes. */
  cut: number;
  /** 500 or 504 that nothing asked for. */
  failed: number;
  /** The client left. */
  left: number;
}

export class Statistics {
  readonly operations: Map<string, Counts> = new Map();
  requests = 0;

  add(operation: string, ending: Exclude<keyof Counts, 'calls'>): void {
    let counts = this.operations.get(operation);
    if (counts === undefined) {
      counts = { calls: 0, answered: 0, notSent: 0, unknown: 0, cut: 0, failed: 0, left: 0 };
      this.operations.set(operation, counts);
    }
    counts.calls++;
    counts[ending]++;
  }

  sum(ending: keyof Counts): number {
    return [...this.operations.values()].reduce((sum, counts) => sum + counts[ending], 0);
  }
}
