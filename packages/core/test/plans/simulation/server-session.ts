/** The cost of one call of a statement. Times are milliseconds in the server, estimates have PostgreSQL's unit. */
export interface CallCost {
  readonly planMs: number;
  readonly customMs: number;
  /** With a generic plan that was made at the call `plannedAt`: it may be older than the data. */
  readonly genericMs: (plannedAt: number) => number;
  /** The call waits with any plan: for a lock, for the disk, for a processor. */
  readonly waitMs: number;
  readonly customEstimate: number;
  readonly genericEstimate: number;
}

/** A mode of `plan_cache_mode`. */
export type PlanMode = 'auto' | 'force_custom_plan' | 'force_generic_plan';

/** `choose_custom_plan()` of PostgreSQL compares after so many custom plans. */
const customPlansFirst = 5;
/** `cached_plan_cost()` adds `1000 * cpu_operator_cost` for each relation of the statement, and once more. */
const planningEstimatePerRelation = 1_000 * 0.0025;

/** The plans that a session of PostgreSQL keeps for one prepared statement, and its choice between them (`plancache.c`). */
export class ServerSession {
  readonly #relations: number;
  #customPlans = 0;
  #customEstimates = 0;
  /** The call that made the generic plan; null: there is none. */
  #plannedAt: number | null = null;
  /** Negative: unknown. */
  #genericEstimate = -1;

  constructor(relations: number) {
    this.#relations = relations;
  }

  /**
   * Runs a call.
   * @param analyzedAt the last call before which new statistics have invalidated all plans
   * @returns its time in the server
   */
  run(mode: PlanMode, index: number, analyzedAt: number, cost: CallCost): number {
    let planMs = 0;
    if (!this.#choosesCustom(mode)) {
      if (this.#plannedAt === null || this.#plannedAt < analyzedAt) {
        planMs += cost.planMs;
        this.#plannedAt = index;
        this.#genericEstimate = cost.genericEstimate;
      }
      // PostgreSQL decides again when it knows the estimate.
      if (!this.#choosesCustom(mode)) return planMs + cost.genericMs(this.#plannedAt) + cost.waitMs;
    }
    this.#customPlans++;
    this.#customEstimates += cost.customEstimate + planningEstimatePerRelation * (this.#relations + 1);
    return planMs + cost.planMs + cost.customMs + cost.waitMs;
  }

  #choosesCustom(mode: PlanMode): boolean {
    if (mode !== 'auto') return mode === 'force_custom_plan';
    if (this.#customPlans < customPlansFirst) return true;
    return this.#genericEstimate >= this.#customEstimates / this.#customPlans;
  }
}
