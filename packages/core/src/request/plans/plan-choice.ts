/** The choice between PostgreSQL's `plan_cache_mode` `auto` and `force_generic_plan` for one statement, by measurement. */
import { plainRun, type Run, type SettledPlan } from '../run.ts';
import { comparePlans, summarize, type Verdict } from './compare-plans.ts';

/** Calls between two questions whether it is time for trials; a power of two. The first trials follow as many calls. */
const callsPerCheck = 64;
/** One of so many calls is a trial while trials run, so that the arguments of several clients are tried. */
const callsPerTrial = 4;
/** Trials with `auto` before the first one with a generic plan. */
const firstAutoTrials = 2;
/** The maximum number of trials until a decision. The first one of each connection does not count: it may make the plan. */
const maxTrials = 240;
/** Milliseconds. Calls that take longer are not tried: planning is a small part of their time. */
const maxTriedMs = 50;
/** Bounds of the `statement_timeout` of a trial with a generic plan, in milliseconds. */
const minLimitMs = 10;
const maxLimitMs = 200;
/** That timeout as a multiple of the slowest trial with `auto`. */
const limitFactor = 4;
/** A call with a generic plan that takes longer than this, in milliseconds, and than this multiple of the mean, is an outlier. */
const minOutlierMs = 20;
const outlierFactor = 10;
/**
 * Milliseconds. A shorter outlier changes nothing while generic plans have saved more time than outliers have taken: a busy machine delays a
 * call of any plan so long several times a second.
 */
const maxToleratedMs = 100;
/** The maximum of saved milliseconds that count. It limits the time that is lost when the arguments change. */
const maxSavedMs = 500;
/** Outliers up to this multiple of their rate with `auto` come from the load of the machine, or from the arguments. */
const noiseFactor = 3;
/** One outlier among so many calls with `auto` is assumed before any was seen. */
const callsPerNoise = 2_000;
/** The mean of calls with a generic plan relative to that with `auto` that causes new trials before their time. */
const driftFactor = 1.5;
const minDriftMs = 1;
/**
 * So many calls in a row, each of which takes this multiple of the mean with `auto`, bring it back. Trials would not: they have connections
 * of their own, whose generic plans may be younger than a change of the data.
 */
const staleCalls = 10;
const staleFactor = 5;
/** The mean of calls with a generic plan relative to that of its trials from which on the plans of other connections are stale. */
const staleMeanFactor = 3;
/** Weight of the newest call in the moving averages, from 0 to 1. */
const newestWeight = 0.1;
/** Milliseconds without trials after an outlier or a trial that timed out; doubled each time. */
const firstPauseMs = 1_000;
/** Milliseconds until trials that have had the same result are repeated; doubled each time. */
const firstRepeatMs = 60_000;
const maxPauseMs = 3_600_000;
/** The pauses begin at the first one again when a generic plan has lasted for this multiple of the last pause, or so many milliseconds. */
const recoveryFactor = 20;
const maxRecoveryMs = 600_000;

/** Returns milliseconds of a clock that never goes back. */
export type Clock = () => number;

/** The numbers of decisions since the start. */
export interface PlanCounts {
  /** Comparisons by their result. `exceeded`: a trial was cancelled at its limit. */
  readonly comparisons: Record<Verdict | 'exceeded', number>;
  /** Calls, alone or in a row, that took so long with a generic plan that the statement has gone back to `auto`. */
  outliers: number;
}

/** A call that is measured. Exactly one of its methods is called, once. */
export interface PlanTrial {
  readonly isGeneric: boolean;
  /** The `statement_timeout` of a generic plan in milliseconds; null for `auto`. */
  readonly limitMs: number | null;
  /**
   * @param elapsedMs the time of the statement in the server
   * @param backend the process of the server; the first call of a process does not count
   */
  completed(elapsedMs: number, backend: string): void;
  /** The call was cancelled at its limit, of time or of the size of its response. */
  exceeded(): void;
  /** The call has failed for another reason, which says nothing about the plan. */
  failed(): void;
}

/** The plan of a settled call, or a trial. */
export type PlannedCall =
  | { readonly plan: SettledPlan; readonly trial: null }
  | { readonly plan: null; readonly trial: PlanTrial };

/** The choice for one statement of one database. */
export class PlanChoice {
  readonly #clock: Clock;
  readonly #counts: PlanCounts;
  readonly #auto: PlannedCall = { plan: new ChosenPlan(this, false), trial: null };
  readonly #generic: PlannedCall = { plan: new ChosenPlan(this, true), trial: null };
  #isGeneric = false;
  #calls = 0;
  /** The moving average of settled calls; 0 before the first one. */
  #averageMs = 0;
  /** The average with `auto` before the generic plan was chosen. */
  #autoMs = 0;
  /** The calls in a row that were slow with a generic plan. */
  #slowCalls = 0;
  /** Milliseconds that a generic plan saves in a call, by the trials. */
  #savedMsPerCall = 0;
  /** Milliseconds that generic plans have saved, less those of outliers. */
  #savedMs = 0;
  readonly #seen = { auto: { calls: 0, outliers: 0 }, generic: { calls: 0, outliers: 0 } };
  #trials: Trials | null = null;
  /** The times of the last decision, of the last change of the mode, and the earliest one of the next trials. */
  #decidedAt = 0;
  #changedAt = 0;
  #nextAt = 0;
  #pauseMs = 0;
  #repeatMs = 0;

  constructor(clock: Clock, counts: PlanCounts) {
    this.#clock = clock;
    this.#counts = counts;
  }

  /** Whether calls run with a generic plan, besides trials. */
  get isGeneric(): boolean {
    return this.#isGeneric;
  }

  /** Returns how the next call is planned. */
  next(): PlannedCall {
    this.#calls++;
    const settled = this.#isGeneric ? this.#generic : this.#auto;
    if (this.#trials === null) {
      if (this.#calls % callsPerCheck === 0 && this.#mustTry()) this.#trials = new Trials();
      return settled;
    }
    if (this.#calls % callsPerTrial !== 0) return settled;
    const trial = this.#trials.begin((trials) => this.#evaluate(trials));
    return trial === null ? settled : { plan: null, trial };
  }

  /** A settled call has ended. */
  ended(isGeneric: boolean, elapsedMs: number): void {
    // The call may be older than the last decision.
    if (isGeneric !== this.#isGeneric) return;
    const seen = isGeneric ? this.#seen.generic : this.#seen.auto;
    seen.calls++;
    if (this.#isOutlier(elapsedMs)) {
      if (isGeneric) return this.#handleOutlier(elapsedMs);
      seen.outliers++;
    }
    if (isGeneric) this.#savedMs = Math.min(maxSavedMs, this.#savedMs + this.#savedMsPerCall);
    this.#averageMs += (elapsedMs - this.#averageMs) * (this.#averageMs === 0 ? 1 : newestWeight);
    if (!isGeneric) return;
    this.#slowCalls = elapsedMs > Math.max(minDriftMs, this.#autoMs * staleFactor) ? this.#slowCalls + 1 : 0;
    if (this.#slowCalls === staleCalls) return this.#abandonGeneric();
    if (this.#averageMs > Math.max(minDriftMs, this.#autoMs * driftFactor)) this.#tryEarlier();
  }

  /** A settled call with a generic plan still runs, or has failed. */
  running(elapsedMs: number): void {
    if (this.#isGeneric && this.#isOutlier(elapsedMs) && !this.#isTolerated(elapsedMs)) this.#abandonGeneric();
  }

  #mustTry(): boolean {
    const isShort = this.#averageMs > 0 && this.#averageMs <= maxTriedMs;
    return isShort && this.#clock() >= this.#nextAt;
  }

  #isOutlier(elapsedMs: number): boolean {
    const meanMs = Math.max(this.#averageMs, this.#autoMs);
    return meanMs > 0 && elapsedMs > minOutlierMs && elapsedMs > outlierFactor * meanMs;
  }

  #isTolerated(elapsedMs: number): boolean {
    return elapsedMs < maxToleratedMs && elapsedMs <= this.#savedMs;
  }

  /** A call with a generic plan was an outlier. One that is tolerated has no part in the mean: its time is taken from the saved time. */
  #handleOutlier(elapsedMs: number): void {
    if (!this.#isTolerated(elapsedMs) || ++this.#slowCalls === staleCalls) return this.#abandonGeneric();
    this.#savedMs -= elapsedMs;
  }

  /** The arguments or the data differ from those that were tried. */
  #tryEarlier(): void {
    this.#nextAt = Math.min(this.#nextAt, this.#decidedAt + firstPauseMs);
  }

  #abandonGeneric(): void {
    const { auto, generic } = this.#seen;
    this.#counts.outliers++;
    generic.outliers++;
    const noiseRate = (auto.outliers + 1) / (auto.calls + callsPerNoise);
    const isNoise = generic.outliers <= noiseFactor * noiseRate * generic.calls;
    const lastedMs = this.#clock() - this.#changedAt;
    const hasRecovered = lastedMs > Math.min(maxRecoveryMs, this.#pauseMs * recoveryFactor);
    this.#pause(isNoise || hasRecovered ? firstPauseMs : this.#pauseMs * 2);
  }

  /** Returns to `auto`, without trials for a while. */
  #pause(pauseMs: number): void {
    this.#pauseMs = Math.min(maxPauseMs, Math.max(firstPauseMs, pauseMs));
    this.#settle(false, this.#pauseMs);
  }

  #evaluate(trials: Trials): void {
    // A call of earlier trials has ended.
    if (trials !== this.#trials) return;
    const verdict = trials.verdict;
    if (verdict === null) return;
    this.#counts.comparisons[verdict]++;
    if (verdict === 'exceeded') return this.#pause(this.#pauseMs * 2);
    const isGeneric = verdict === 'generic';
    if (isGeneric && this.#isGeneric && this.#isStale(trials)) return this.#abandonGeneric();
    if (isGeneric) this.#savedMsPerCall = trials.savedMs;
    const isSame = isGeneric === this.#isGeneric;
    this.#repeatMs = isSame ? Math.min(maxPauseMs, Math.max(firstRepeatMs, this.#repeatMs * 2)) : firstRepeatMs;
    this.#settle(isGeneric, this.#repeatMs);
  }

  /** The trials may have been fast on connections that planned after a change of the data, while others keep an older plan. */
  #isStale(trials: Trials): boolean {
    return this.#averageMs > Math.max(minDriftMs, trials.genericMs * staleMeanFactor);
  }

  #settle(isGeneric: boolean, untilNextMs: number): void {
    const wasGeneric = this.#isGeneric;
    this.#isGeneric = isGeneric;
    this.#slowCalls = 0;
    this.#trials = null;
    this.#decidedAt = this.#clock();
    this.#nextAt = this.#decidedAt + untilNextMs;
    // The trials have compared the modes anew.
    if (isGeneric) this.#autoMs = wasGeneric ? Math.max(this.#autoMs, this.#averageMs) : this.#averageMs;
    if (isGeneric !== wasGeneric) this.#changedAt = this.#decidedAt;
  }
}

/** The plan of settled calls. One object for all calls of a statement: none is made for a call. */
class ChosenPlan implements SettledPlan {
  readonly isGeneric: boolean;
  readonly run: Run;
  readonly #choice: PlanChoice;

  constructor(choice: PlanChoice, isGeneric: boolean) {
    this.#choice = choice;
    this.isGeneric = isGeneric;
    this.run = { ...plainRun, plan: this };
  }

  ended(elapsedMs: number): void {
    this.#choice.ended(this.isGeneric, elapsedMs);
  }

  running(elapsedMs: number): void {
    if (this.isGeneric) this.#choice.running(elapsedMs);
  }
}

/** The times of one kind of plan. */
class Samples {
  readonly times: number[] = [];
  readonly #backends = new Set<string>();

  add(elapsedMs: number, backend: string): void {
    if (this.#backends.has(backend)) this.times.push(elapsedMs);
    else this.#backends.add(backend);
  }
}

/** Trials of both modes in turn, one at a time, until one mode is known to be faster. */
class Trials {
  readonly #auto = new Samples();
  readonly #generic = new Samples();
  #begun = 0;
  #isRunning = false;
  #hasExceeded = false;

  /**
   * Returns the next trial; null while one runs.
   * @param ended called at the end of the trial
   */
  begin(ended: (trials: Trials) => void): PlanTrial | null {
    if (this.#isRunning) return null;
    this.#isRunning = true;
    const isGeneric = this.#begun >= firstAutoTrials && this.#begun % 2 === 1;
    this.#begun++;
    const end = (record: () => void): void => {
      this.#isRunning = false;
      record();
      ended(this);
    };
    return {
      isGeneric,
      limitMs: isGeneric ? this.#limitMs : null,
      completed: (elapsedMs, backend) => end(() => this.#add(isGeneric, elapsedMs, backend)),
      exceeded: () => end(() => void (this.#hasExceeded = true)),
      failed: () => end(() => undefined),
    };
  }

  /** Null: further trials are needed. */
  get verdict(): Verdict | 'exceeded' | null {
    if (this.#hasExceeded) return 'exceeded';
    return comparePlans(this.#auto.times, this.#generic.times) ?? (this.#begun >= maxTrials ? 'undecided' : null);
  }

  /** The mean with a generic plan, without the slowest ones. */
  get genericMs(): number {
    return summarize(this.#generic.times).mean;
  }

  /** The milliseconds that a generic plan saves in a call, by the means. */
  get savedMs(): number {
    return summarize(this.#auto.times).mean - this.genericMs;
  }

  get #limitMs(): number {
    const slowest = Math.max(0, ...this.#auto.times);
    return Math.ceil(Math.min(maxLimitMs, Math.max(minLimitMs, slowest * limitFactor)));
  }

  #add(isGeneric: boolean, elapsedMs: number, backend: string): void {
    (isGeneric ? this.#generic : this.#auto).add(elapsedMs, backend);
  }
}
