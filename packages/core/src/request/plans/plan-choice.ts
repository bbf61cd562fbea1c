/** The choice between PostgreSQL's `plan_cache_mode` `auto` and `force_generic_plan` for one statement, by measurement. */
import { plainRun, type Run, type SettledPlan } from '../run.ts';
import { comparePlans, type Verdict } from './compare-plans.ts';

/** Calls until the first trials, and between two questions whether it is time for others: a rare statement is not worth trials. */
const callsPerCheck = 64;
/** One of so many calls is a trial while trials run, on average: most calls keep their time, and the arguments of several clients are tried. */
const callsPerTrial = 4;
/** Trials with `auto` before the first one with a generic plan, whose limit depends on them. */
const firstAutoTrials = 2;
/** The maximum number of trials until a decision: the first one of each connection does not count, as it may make the plan. */
const maxTrials = 240;
/** A trial with a generic plan is cancelled at this multiple of the slowest one with `auto`: it loses at most what a generic plan can save. */
const limitFactor = 2;
/** The shortest limit of a trial, in milliseconds: a busy machine delays a call of any plan so long. */
const minLimitMs = 10;
/**
 * Milliseconds that a generic plan may lose, in a trial or in all calls since it was chosen, before `auto` comes back. What it saved before
 * counts up to as much, so that new arguments or data cannot lose more than twice this.
 */
const maxLossMs = 100;
/** Calls in the mean of `auto`, each with at most `maxLossMs`: enough for rare delays that no plan causes, and few enough to follow the data. */
const averagedCalls = 1_000;
/** Milliseconds until the next trials; doubled at each decision, up to the second number. */
const firstPauseMs = 1_000;
const maxPauseMs = 3_600_000;
/** The pause is at least this multiple of the time that generic plans have lost and not saved since: 5 % of the time. */
const pausePerLoss = 20;

/** Returns milliseconds of a clock that never goes back. */
export type Clock = () => number;

/** The numbers of decisions since the start. */
export interface PlanCounts {
  /** Comparisons by their result. `exceeded`: a trial was cancelled at its limit. */
  readonly comparisons: Record<Verdict | 'exceeded', number>;
  /** Changes back to `auto`, because calls with a generic plan took longer. */
  fallbacks: number;
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
  #settled = new SettledCalls(this, false);
  /** The calls until the next question or trial. */
  #callsLeft = callsPerCheck;
  /** The mean of settled calls with `auto`, and the number of calls in it. While generic plans are chosen, it follows the trials. */
  #autoMs = 0;
  #autoCalls = 0;
  /** The mean of the trials with `auto` at the last decision for generic plans: without the time of the gateway and the network. */
  #triedAutoMs = 0;
  /** Milliseconds that generic plans have saved since they were chosen, less those that they lost; at most `maxLossMs`. */
  #cappedSavedMs = 0;
  /** The same without a limit, since the last decision. */
  #savedMs = 0;
  /** Milliseconds that generic plans have lost and not saved since; no more than the longest pause can make up for. */
  #lostMs = 0;
  #trials: Trials | null = null;
  #nextAt = 0;
  #pauseMs = 0;
  readonly #random = createRandom();

  constructor(clock: Clock, counts: PlanCounts) {
    this.#clock = clock;
    this.#counts = counts;
  }

  /** Whether calls run with a generic plan, besides trials. */
  get isGeneric(): boolean {
    return this.#settled.plan.isGeneric;
  }

  /** Returns how the next call is planned. */
  next(): PlannedCall {
    const settled = this.#settled;
    if (--this.#callsLeft > 0) return settled;
    if (this.#trials === null) {
      if (this.#mustTry()) this.#trials = new Trials(this.#random, this.#autoMs);
      this.#callsLeft = this.#trials === null ? callsPerCheck : callsPerTrial;
      return settled;
    }
    this.#callsLeft = 1 + Math.floor(this.#random() * (2 * callsPerTrial - 1));
    const trial = this.#trials.begin((trials) => this.#evaluate(trials));
    return trial === null ? settled : { plan: null, trial };
  }

  /** A settled call with `auto` has ended. */
  autoEnded(elapsedMs: number): void {
    this.#autoCalls = Math.min(averagedCalls, this.#autoCalls + 1);
    this.#autoMs += (Math.min(2 * maxLossMs, elapsedMs) - this.#autoMs) / this.#autoCalls;
  }

  /** A settled call with a generic plan has ended. */
  genericEnded(elapsedMs: number): void {
    const savedMs = this.#autoMs - elapsedMs;
    this.#savedMs += savedMs;
    this.#cappedSavedMs = Math.min(maxLossMs, this.#cappedSavedMs + savedMs);
    if (this.#cappedSavedMs < -maxLossMs) this.#fallBack();
  }

  /** A settled call with a generic plan still runs, or has failed. */
  genericRuns(elapsedMs: number): void {
    if (this.#cappedSavedMs + this.#autoMs - elapsedMs < -maxLossMs) this.#fallBack();
  }

  /** Generic plans have lost time, or saved some: the next trials wait until all of it is a small share. */
  addLoss(milliseconds: number): void {
    this.#lostMs = Math.min(maxPauseMs / pausePerLoss, Math.max(0, this.#lostMs + milliseconds));
    this.#nextAt = Math.max(this.#nextAt, this.#clock() + this.#lostMs * pausePerLoss);
  }

  /** Trials of longer calls might end at their limit though both plans take the same time. */
  #mustTry(): boolean {
    const isShort = this.#autoMs > 0 && this.#autoMs <= maxLossMs / limitFactor;
    return isShort && this.#clock() >= this.#nextAt;
  }

  #fallBack(): void {
    this.#counts.fallbacks++;
    this.#settle(false);
  }

  #evaluate(trials: Trials): void {
    // A call of earlier trials has ended.
    if (trials !== this.#trials) return;
    const verdict = trials.verdict;
    if (verdict === null) return;
    this.#counts.comparisons[verdict]++;
    if (verdict === 'exceeded') this.#savedMs -= trials.limitMs;
    if (verdict === 'generic') this.#followTrials(trials);
    this.#settle(verdict === 'generic');
  }

  /** No settled call shows the time of `auto` while generic plans are chosen. */
  #followTrials({ autoMs }: Trials): void {
    if (this.isGeneric) this.#autoMs = Math.max(autoMs, this.#autoMs + autoMs - this.#triedAutoMs);
    this.#triedAutoMs = autoMs;
  }

  #settle(isGeneric: boolean): void {
    this.addLoss(-this.#savedMs);
    const wasGeneric = this.isGeneric;
    if (isGeneric !== wasGeneric) {
      this.#settled.plan.retire(this.#autoMs);
      this.#settled = new SettledCalls(this, isGeneric);
      this.#cappedSavedMs = 0;
      // Generic plans have saved what they lost before, until the data has changed: new trials may decide otherwise soon.
      if (wasGeneric && this.#lostMs === 0) this.#pauseMs = 0;
    }
    this.#savedMs = 0;
    this.#trials = null;
    this.#callsLeft = callsPerCheck;
    const leastMs = Math.max(firstPauseMs, this.#lostMs * pausePerLoss);
    this.#pauseMs = Math.min(maxPauseMs, Math.max(leastMs, this.#pauseMs * 2));
    this.#nextAt = this.#clock() + this.#pauseMs;
  }
}

/** Returns a generator of numbers from 0 up to 1. With regular trials, calls that alternate might give each mode calls of one kind. */
function createRandom(): () => number {
  let state = 1;
  return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff) / 2 ** 31;
}

/** The settled calls from one change of the mode to the next one. One object for all of them: none is made for a call. */
class SettledCalls {
  readonly plan: ChosenPlan;
  readonly trial = null;

  constructor(choice: PlanChoice, isGeneric: boolean) {
    this.plan = new ChosenPlan(choice, isGeneric);
  }
}

class ChosenPlan implements SettledPlan {
  readonly run: Run;
  readonly #choice: PlanChoice;
  readonly #isGeneric: boolean;
  #isRetired = false;
  /** The time of a call with `auto` at that moment. */
  #autoMs = 0;
  #longestLossMs = maxLossMs;

  constructor(choice: PlanChoice, isGeneric: boolean) {
    this.#choice = choice;
    this.#isGeneric = isGeneric;
    this.run = { ...plainRun, plan: this };
  }

  /** Calls that wait for a connection follow a return to `auto`. */
  get isGeneric(): boolean {
    return this.#isGeneric && !this.#isRetired;
  }

  /** The mode has changed. @param autoMs the time of a call with `auto` */
  retire(autoMs: number): void {
    this.#isRetired = true;
    this.#autoMs = autoMs;
  }

  ended(elapsedMs: number, wasGeneric: boolean): void {
    if (!wasGeneric) this.#choice.autoEnded(elapsedMs);
    else if (this.#isRetired) this.#addLoss(elapsedMs);
    else this.#choice.genericEnded(elapsedMs);
  }

  running(elapsedMs: number, wasGeneric: boolean): void {
    if (wasGeneric && !this.#isRetired) this.#choice.genericRuns(elapsedMs);
  }

  failed(elapsedMs: number, wasGeneric: boolean): void {
    if (wasGeneric && this.#isRetired) this.#addLoss(elapsedMs);
    else this.running(elapsedMs, wasGeneric);
  }

  /** The calls that were sent before the mode changed may have waited for the same lock: beyond `maxLossMs`, only the longest of them counts. */
  #addLoss(elapsedMs: number): void {
    const lostMs = elapsedMs - this.#autoMs;
    const longerMs = Math.max(0, lostMs - this.#longestLossMs);
    this.#longestLossMs += longerMs;
    this.#choice.addLoss(Math.min(maxLossMs, lostMs) + longerMs);
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

/** Trials of both modes, one at a time, until one mode is known to be faster. */
class Trials {
  readonly #auto = new Samples();
  readonly #generic = new Samples();
  readonly #random: () => number;
  readonly #settledMs: number;
  #begun = 0;
  /** Whether a pair begins with a generic plan. */
  #isGenericFirst = false;
  #isRunning = false;
  #hasExceeded = false;

  /** @param settledMs the mean time of calls with `auto`: the first trials may not count */
  constructor(random: () => number, settledMs: number) {
    this.#random = random;
    this.#settledMs = settledMs;
  }

  /**
   * Returns the next trial; null while one runs.
   * @param ended called at the end of the trial
   */
  begin(ended: (trials: Trials) => void): PlanTrial | null {
    if (this.#isRunning) return null;
    this.#isRunning = true;
    const isGeneric = this.#selectMode();
    this.#begun++;
    const end = (record: () => void): void => {
      this.#isRunning = false;
      record();
      ended(this);
    };
    return {
      isGeneric,
      limitMs: isGeneric ? this.limitMs : null,
      completed: (elapsedMs, backend) => end(() => (isGeneric ? this.#generic : this.#auto).add(elapsedMs, backend)),
      exceeded: () => end(() => void (this.#hasExceeded = true)),
      failed: () => end(() => undefined),
    };
  }

  /** Pairs of both modes, in random order. */
  #selectMode(): boolean {
    if (this.#begun < firstAutoTrials) return false;
    if (this.#begun % 2 === 0) this.#isGenericFirst = this.#random() < 0.5;
    return (this.#begun % 2 === 0) === this.#isGenericFirst;
  }

  /** Null: further trials are needed. */
  get verdict(): Verdict | 'exceeded' | null {
    if (this.#hasExceeded) return 'exceeded';
    return comparePlans(this.#auto.times, this.#generic.times) ?? (this.#begun >= maxTrials ? 'undecided' : null);
  }

  /** The mean of the times with `auto`. There is at least one. */
  get autoMs(): number {
    const { times } = this.#auto;
    return times.reduce((sum, time) => sum + Math.min(maxLossMs, time), 0) / times.length;
  }

  get limitMs(): number {
    const slowest = Math.max(this.#settledMs, ...this.#auto.times);
    return Math.ceil(Math.min(maxLossMs, Math.max(minLimitMs, slowest * limitFactor)));
  }
}
