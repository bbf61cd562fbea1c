/** Starts the workers, replaces those that exit, and stops them. */
import { errorMessage } from '../expected-error.ts';
import { ChannelError } from './channel.ts';
import type { SharedState } from './shared-state.ts';
import {
  type Announcement,
  type StartResult,
  type StopOrder,
  toPrimary,
  toWorker,
  type WorkersState,
  type WorkerStart,
} from './topics.ts';
import { WorkerCrash, WorkerStartError } from './worker-errors.ts';
import type { SpawnWorker, WorkerHandle } from './worker-handle.ts';

/** How to start the workers of one configuration. */
export interface WorkersPlan {
  readonly count: number;
  readonly startOf: (worker: number, announces: boolean) => WorkerStart;
  readonly startTimeoutMs: number;
  /** Until a worker that was told to stop is killed. */
  readonly stopTimeoutMs: number;
}

export interface SupervisorOptions {
  readonly spawn: SpawnWorker;
  readonly shared: Pick<SharedState, 'add' | 'remove'>;
  readonly log: Readonly<Record<'info' | 'error', (line: string) => void>>;
}

/** Milliseconds. */
const timings = {
  firstDelay: 1000,
  maxDelay: 30_000,
  /** A worker that has run for longer has not failed at its start. */
  stable: 60_000,
  ping: 10_000,
  /** Between the ends of two workers that were replaced, unless the first one has exited before. */
  betweenRetirements: 5000,
} as const;
/** Pings without an answer after which a worker hangs. */
const maxMissedPings = 3;
/** Exits at the first start, without a reason that could be printed. */
const maxStartCrashes = 5;

interface Member {
  readonly worker: number;
  readonly plan: WorkersPlan;
  readonly handle: WorkerHandle;
  state: 'starting' | 'running' | 'retiring';
  runningSince: number;
  missedPings: number;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #members = new Set<Member>();
  /** The failures of each worker in a row. */
  readonly #failures = new Map<number, number>();
  readonly #stop = new AbortController();
  #plan: WorkersPlan | null = null;
  #pings: NodeJS.Timeout | undefined;
  #begin = 0;
  #first: Member | null = null;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Starts the first worker alone: an error that all would have is reported once, and ends the start.
   * @throws WorkerStartError, WorkerCrash
   */
  async start(plan: WorkersPlan): Promise<void> {
    this.#plan = plan;
    this.#begin = performance.now();
    this.#first = await this.#launchFirst(plan);
    this.#pings = setInterval(() => this.#pingAll(), timings.ping);
  }

  /** Starts the other workers. The server runs: a worker that cannot start is tried again. */
  async startOthers(): Promise<void> {
    const plan = this.#plan!;
    const results = await Promise.allSettled(this.#launchOthers(plan));
    if (this.#stop.signal.aborted) return;
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected') this.#retry(plan, index + 2, result.reason);
    }
    await announce(this.#first!, performance.now() - this.#begin);
  }

  /**
   * Starts workers with another plan, then ends those of the old one.
   * @throws WorkerStartError, WorkerCrash; the old workers stay
   */
  async replace(plan: WorkersPlan): Promise<void> {
    const begin = performance.now();
    let first: Member;
    try {
      first = await this.#launch(plan, 1, true);
      await Promise.all(this.#launchOthers(plan));
    } catch (error) {
      for (const member of this.#membersOf(plan)) this.#kill(member);
      throw error;
    }
    this.#plan = plan;
    this.#failures.clear();
    this.#publishState();
    await announce(first, performance.now() - begin);
    const old = [...this.#members].filter((member) => member.plan !== plan);
    for (const member of old) {
      this.#retire(member);
      await this.#delay(timings.betweenRetirements, member.handle.exited);
    }
  }

  /** Ends the start at once. */
  interrupt(): void {
    this.#stop.abort();
    for (const member of this.#members) if (member.state === 'starting') member.handle.kill();
  }

  /** Stops all workers, which finish their requests unless `force` is aborted. Resolves when they have exited. */
  async stop(force: AbortSignal): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#pings);
    const members = [...this.#members];
    const order = (): void => {
      const stop: StopOrder = { force: force.aborted };
      for (const { handle } of members) handle.channel.tell(toWorker.stop, stop);
    };
    order();
    force.addEventListener('abort', order, { once: true });
    await Promise.all(members.map((member) => this.#waitForExit(member)));
    force.removeEventListener('abort', order);
  }

  async #waitForExit({ handle, plan, worker }: Member): Promise<void> {
    const timer = setTimeout(() => {
      this.#options.log.error(`worker ${worker} (process ${handle.pid}) did not stop in time, and was killed`);
      handle.kill();
    }, plan.stopTimeoutMs);
    await handle.exited;
    clearTimeout(timer);
  }

  async #launchFirst(plan: WorkersPlan): Promise<Member> {
    for (let crashes = 1; ; crashes++) {
      try {
        return await this.#launch(plan, 1, true);
      } catch (error) {
        if (!(error instanceof WorkerCrash) || crashes === maxStartCrashes || this.#stop.signal.aborted) throw error;
        this.#options.log.error(error.message);
        await this.#delay(delayAfter(crashes));
      }
    }
  }

  #launchOthers(plan: WorkersPlan): readonly Promise<Member>[] {
    const numbers = Array.from({ length: plan.count - 1 }, (_, index) => index + 2);
    return numbers.map((worker) => this.#launch(plan, worker, false));
  }

  /** @throws WorkerStartError, WorkerCrash */
  async #launch(plan: WorkersPlan, worker: number, announces: boolean): Promise<Member> {
    if (this.#stop.signal.aborted) throw new WorkerCrash('the server stops');
    const handle = this.#options.spawn();
    const member: Member = { worker, plan, handle, state: 'starting', runningSince: 0, missedPings: 0 };
    this.#members.add(member);
    this.#options.shared.add(handle.channel);
    const online = new Promise<void>((resolve) => handle.channel.handle(toPrimary.online, () => resolve()));
    handle.channel.onOverflow(() => this.#killUnresponsive(member, 'does not read its messages'));
    void handle.exited.then((reason) => this.#exited(member, reason));
    await this.#delay(plan.startTimeoutMs, Promise.race([online, handle.exited]));
    const result = await this.#startResult(member, announces);
    if (!result.ok) throw new WorkerStartError(result);
    member.state = 'running';
    member.runningSince = performance.now();
    this.#publishState();
    return member;
  }

  async #startResult({ plan, worker, handle }: Member, announces: boolean): Promise<StartResult> {
    try {
      return await handle.channel.ask<StartResult>(
        toWorker.start,
        plan.startOf(worker, announces),
        plan.startTimeoutMs,
      );
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      handle.kill();
      throw new WorkerCrash(`worker ${worker} (process ${handle.pid}) has not started (${await handle.exited})`);
    }
  }

  #exited(member: Member, reason: string): void {
    const { worker, state, plan, handle } = member;
    this.#members.delete(member);
    this.#options.shared.remove(handle.channel);
    if (this.#stop.signal.aborted || state !== 'running') return;
    this.#publishState();
    this.#options.log.error(
      `worker ${worker} (process ${handle.pid}) has exited unexpectedly (${reason}); another one starts`,
    );
    if (performance.now() - member.runningSince > timings.stable) this.#failures.delete(worker);
    void this.#relaunch(plan, worker);
  }

  /** Starts the worker until it runs; each failure in a row doubles the delay. */
  async #relaunch(plan: WorkersPlan, worker: number): Promise<void> {
    for (;;) {
      const failures = this.#failures.get(worker) ?? 0;
      this.#failures.set(worker, failures + 1);
      await this.#delay(delayAfter(failures));
      if (this.#stop.signal.aborted || plan !== this.#plan) return;
      try {
        const member = await this.#launch(plan, worker, false);
        // The configuration was reloaded meanwhile.
        if (plan !== this.#plan) this.#retire(member);
        else this.#options.log.info(`worker ${worker} runs again (process ${member.handle.pid})`);
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#logFailure(worker, failures + 1, error);
      }
    }
  }

  #retry(plan: WorkersPlan, worker: number, error: unknown): void {
    this.#failures.set(worker, 1);
    this.#logFailure(worker, 1, error);
    void this.#relaunch(plan, worker);
  }

  #logFailure(worker: number, failures: number, error: unknown): void {
    const seconds = delayAfter(failures) / 1000;
    this.#options.log.error(
      `worker ${worker} cannot start, and is tried again in ${seconds} s: ${errorMessage(error)}`,
    );
  }

  #retire(member: Member): void {
    if (member.state === 'retiring') return;
    member.state = 'retiring';
    member.handle.channel.tell(toWorker.retire);
  }

  #kill(member: Member): void {
    member.state = 'retiring';
    member.handle.kill();
  }

  #membersOf(plan: WorkersPlan | null): readonly Member[] {
    return [...this.#members].filter((member) => member.plan === plan);
  }

  #publishState(): void {
    const running = this.#membersOf(this.#plan).filter(({ state }) => state === 'running');
    const leader = running.toSorted((left, right) => left.worker - right.worker)[0];
    for (const member of running) {
      const state: WorkersState = {
        running: running.length,
        configured: member.plan.count,
        leads: member === leader,
      };
      member.handle.channel.tell(toWorker.state, state);
    }
  }

  /** Kills workers that hang: they would get a share of the connections, and those that were replaced would never exit. */
  #pingAll(): void {
    for (const member of this.#members) {
      if (member.state === 'starting') continue;
      if (member.missedPings === maxMissedPings) {
        this.#killUnresponsive(member, `has not responded for ${(timings.ping * maxMissedPings) / 1000} s`);
      } else {
        member.missedPings += 1;
        member.handle.channel.ask(toWorker.ping, null, timings.ping * maxMissedPings).then(
          () => (member.missedPings = 0),
          () => undefined,
        );
      }
    }
  }

  #killUnresponsive({ worker, handle }: Member, reason: string): void {
    this.#options.log.error(`worker ${worker} (process ${handle.pid}) ${reason}, and is killed`);
    handle.kill();
  }

  /** Waits for the time, until the stop, or until the event, which never rejects. */
  #delay(milliseconds: number, event: Promise<unknown> | null = null): Promise<void> {
    const { signal } = this.#stop;
    if (milliseconds === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end);
      void event?.then(end);
    });
  }
}

async function announce({ handle }: Member, startupMs: number): Promise<void> {
  const announcement: Announcement = { startupMs };
  // A worker that has just exited is replaced; the others serve.
  await handle.channel.ask(toWorker.announce, announcement, timings.ping).catch(() => undefined);
}

function delayAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(timings.maxDelay, timings.firstDelay * 2 ** (failures - 1));
}
