import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Supervisor, type WorkersPlan } from '../../src/workers/supervisor.ts';
import {
  type StartResult,
  toPrimary,
  toWorker,
  type WorkersState,
  type WorkerStart,
} from '../../src/workers/topics.ts';
import type { WorkerHandle } from '../../src/workers/worker-handle.ts';
import { channelPair } from './channels.ts';

/** A worker without a process. */
interface TestWorker {
  readonly start: WorkerStart;
  readonly state: WorkersState | null;
  readonly orders: readonly string[];
  hang(): void;
  exit(reason: string): void;
}

type Behavior = 'serves' | 'crashes' | StartResult;

/** A supervisor of workers in this process. `behave` says what each of them does at its start. */
function supervise(behave: (start: WorkerStart) => Behavior) {
  const workers: TestWorker[] = [];
  const lines: string[] = [];
  const spawn = (): WorkerHandle => {
    const { primary, worker } = channelPair();
    let exit!: (reason: string) => void;
    const exited = new Promise<string>((resolve) => (exit = resolve));
    const orders: string[] = [];
    let state: WorkersState | null = null;
    let hangs = false;
    worker.handle<WorkersState>(toWorker.state, (current) => void (state = current));
    worker.handle(toWorker.ping, () => (hangs ? new Promise(() => undefined) : null));
    worker.handle(toWorker.announce, () => void orders.push('announce'));
    for (const order of [toWorker.retire, toWorker.stop]) {
      worker.handle(order, () => {
        orders.push(order);
        if (!hangs) exit('exit code 0');
      });
    }
    worker.handle<WorkerStart>(toWorker.start, (start) => {
      workers.push({
        start,
        get state() {
          return state;
        },
        orders,
        hang: () => (hangs = true),
        exit,
      });
      const behavior = behave(start);
      if (behavior === 'crashes') exit('SIGSEGV');
      return behavior === 'serves' || behavior === 'crashes' ? { ok: true } : behavior;
    });
    setImmediate(() => worker.tell(toPrimary.online));
    return { channel: primary, pid: 100 + workers.length, exited, kill: () => exit('SIGKILL') };
  };
  const supervisor = new Supervisor({
    spawn,
    shared: { add: () => undefined, remove: (channel) => channel.close() },
    log: { info: (line) => void lines.push(line), error: (line) => void lines.push(line) },
  });
  return { supervisor, workers, lines };
}

function planOf(count: number): WorkersPlan {
  return {
    count,
    startOf: (worker, announces) => ({ worker, announces }) as WorkerStart,
    startTimeoutMs: 60_000,
    stopTimeoutMs: 10_000,
  };
}

const failure: StartResult = { ok: false, message: 'no connection', exitCode: 1, isStartError: true };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets the messages that are on their way arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the start', () => {
  test('the first worker alone announces; the one with the lowest number leads', async () => {
    const { supervisor, workers } = supervise(() => 'serves');
    await supervisor.start(planOf(3));
    await supervisor.startOthers();
    await settle();
    expect(workers.map(({ start, orders, state }) => [start, orders, state])).toEqual([
      [{ worker: 1, announces: true }, ['announce'], { running: 3, configured: 3, leads: true }],
      [{ worker: 2, announces: false }, [], { running: 3, configured: 3, leads: false }],
      [{ worker: 3, announces: false }, [], { running: 3, configured: 3, leads: false }],
    ]);
    await supervisor.stop(new AbortController().signal);
    expect(workers.map(({ orders }) => orders.at(-1))).toEqual(['stop', 'stop', 'stop']);
  });

  test('an error of a worker ends it at once', async () => {
    const { supervisor, workers } = supervise(() => failure);
    await expect(supervisor.start(planOf(3))).rejects.toThrow('no connection');
    expect(workers).toHaveLength(1);
  });

  test('while the first worker serves, another one that cannot start is tried again, at growing intervals', async () => {
    let behaviors: readonly Behavior[] = [failure, 'crashes', 'serves'];
    const { supervisor, workers, lines } = supervise(({ worker }) => {
      if (worker === 1) return 'serves';
      const [behavior, ...others] = behaviors;
      behaviors = others;
      return behavior!;
    });
    await supervisor.start(planOf(2));
    await supervisor.startOthers();
    await settle();
    expect(workers.map(({ start, orders, state }) => [start.worker, orders, state?.running])).toEqual([
      [1, ['announce'], 1],
      [2, [], undefined],
    ]);
    for (const delay of [1000, 2000]) {
      await vi.advanceTimersByTimeAsync(delay);
      await settle();
    }
    expect(lines).toEqual([
      'worker 2 cannot start, and is tried again in 1 s: no connection',
      expect.stringMatching(/^worker 2 cannot start, and is tried again in 2 s: .* has not started \(SIGSEGV\)$/),
      expect.stringContaining('worker 2 runs again'),
    ]);
    expect(workers[0]!.state).toEqual({ running: 2, configured: 2, leads: true });
    await supervisor.stop(new AbortController().signal);
  });

  test('a worker that exits without an error is tried five times, at growing intervals', async () => {
    const { supervisor, workers, lines } = supervise(() => 'crashes');
    const started = supervisor.start(planOf(2)).then(
      () => null,
      (error: Error) => error.message,
    );
    for (const [delay, attempts] of [
      [0, 1],
      [1000, 2],
      [2000, 3],
      [4000, 4],
      [8000, 5],
    ] as const) {
      await vi.advanceTimersByTimeAsync(delay);
      await settle();
      expect(workers).toHaveLength(attempts);
    }
    expect(await started).toContain('has not started (SIGSEGV)');
    expect(lines).toHaveLength(4);
  });
});

describe('a running worker', () => {
  test('is replaced when it exits, at growing intervals while the replacement fails; the next one leads', async () => {
    let isBroken = false;
    const { supervisor, workers, lines } = supervise(() => (isBroken ? failure : 'serves'));
    await supervisor.start(planOf(2));
    await supervisor.startOthers();
    isBroken = true;
    workers[0]!.exit('SIGKILL');
    await settle();
    expect(workers[1]!.state).toEqual({ running: 1, configured: 2, leads: true });
    expect(workers).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1000);
    await settle();
    expect(workers).toHaveLength(4);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(2000);
    await settle();
    expect(lines).toEqual([
      expect.stringContaining('worker 1 (process 100) has exited unexpectedly (SIGKILL)'),
      'worker 1 cannot start, and is tried again in 1 s: no connection',
      'worker 1 cannot start, and is tried again in 2 s: no connection',
      expect.stringContaining('worker 1 runs again'),
    ]);
    expect(workers.at(-1)!.state).toEqual({ running: 2, configured: 2, leads: true });
    await supervisor.stop(new AbortController().signal);
  });

  test('is killed when it does not respond for 30 seconds', async () => {
    const { supervisor, workers, lines } = supervise(() => 'serves');
    await supervisor.start(planOf(2));
    await supervisor.startOthers();
    workers[1]!.hang();
    for (let pings = 0; pings < 4; pings++) {
      await vi.advanceTimersByTimeAsync(10_000);
      await settle();
    }
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^worker 2 .* has not responded for 30 s, and is killed$/),
      expect.stringMatching(/^worker 2 .* has exited unexpectedly \(SIGKILL\)/),
    ]);
    expect(workers.map(({ start }) => start.worker)).toEqual([1, 2, 2]);
    await supervisor.stop(new AbortController().signal);
  });
});

describe('a reload', () => {
  test('new workers start before the old ones end', async () => {
    const { supervisor, workers, lines } = supervise(() => 'serves');
    await supervisor.start(planOf(1));
    await supervisor.startOthers();
    await supervisor.replace(planOf(2));
    await settle();
    expect(workers.map(({ orders }) => orders)).toEqual([['announce', 'retire'], ['announce'], []]);
    expect(workers.slice(1).map(({ state }) => state?.running)).toEqual([2, 2]);
    expect(lines).toEqual([]);
    await supervisor.stop(new AbortController().signal);
  });

  test('when a new worker cannot start, the old ones stay', async () => {
    const { supervisor, workers } = supervise(({ worker }) =>
      workers.length > 3 && worker === 2 ? failure : 'serves',
    );
    await supervisor.start(planOf(2));
    await supervisor.startOthers();
    await expect(supervisor.replace(planOf(2))).rejects.toThrow('no connection');
    await settle();
    expect(workers.slice(0, 2).map(({ orders }) => orders)).toEqual([['announce'], []]);
    await supervisor.stop(new AbortController().signal);
  });

  test('is killed when it does not respond after it was replaced', async () => {
    const { supervisor, workers, lines } = supervise(() => 'serves');
    await supervisor.start(planOf(1));
    await supervisor.startOthers();
    workers[0]!.hang();
    const replaced = supervisor.replace(planOf(1));
    for (let pings = 0; pings < 5; pings++) {
      await vi.advanceTimersByTimeAsync(10_000);
      await settle();
    }
    await replaced;
    expect(workers[0]!.orders).toEqual(['announce', 'retire']);
    expect(lines).toEqual([expect.stringMatching(/^worker 1 .* has not responded for 30 s, and is killed$/)]);
    expect(workers).toHaveLength(2);
    await supervisor.stop(new AbortController().signal);
  });
});
