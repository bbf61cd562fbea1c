/** How the calls of one operation ended. */
export interface Counts {
  calls: number;
  answered: number;
  /** 503 with Retry-After. */
  notSent: number;
  /** 503 with the code outcome-unknown. */
  unknown: number;
  /** A streamed response that ended early. */
  cut: number;
  /** An unexpected 500 or 504. */
  failed: number;
  /** The client disconnected. */
  disconnected: number;
}

export class Statistics {
  readonly operations: Map<string, Counts> = new Map();
  requests = 0;

  add(operation: string, outcome: Exclude<keyof Counts, 'calls'>): void {
    let counts = this.operations.get(operation);
    if (counts === undefined) {
      counts = { calls: 0, answered: 0, notSent: 0, unknown: 0, cut: 0, failed: 0, disconnected: 0 };
      this.operations.set(operation, counts);
    }
    counts.calls++;
    counts[outcome]++;
  }

  sum(outcome: keyof Counts): number {
    return [...this.operations.values()].reduce((sum, counts) => sum + counts[outcome], 0);
  }
}
