/** Components that start in order and stop in reverse order, each with a timeout. */
import { toError } from '@pgway/core/internal';
import { ExpectedError } from './expected-error.ts';

/** A stop was requested while components were still starting. */
export class StartInterrupted extends Error {
  override readonly name = 'StartInterrupted';
}

/** A component did not start or stop in time. */
export class LifecycleTimeout extends ExpectedError {
  override readonly name = 'LifecycleTimeout';
}

/** How a component starts and stops. */
export interface Component<Product> {
  /** The name in messages, as in `the gateway`. */
  readonly name: string;
  readonly startTimeoutMs: number;
  readonly start: () => Promise<Product>;
  readonly stopTimeoutMs: number;
  /** Stops the component; once `force` is aborted, without waiting for running work. */
  readonly stop: (product: Product, force: AbortSignal) => Promise<void>;
}

interface StartedComponent {
  readonly name: string;
  readonly stopTimeoutMs: number;
  readonly stop: () => Promise<void>;
}

/** Milliseconds for a component to stop after `forceStop`, and for one that is still starting at `stop`. */
const forcedStopTimeoutMs = 3000;

export class Lifecycle {
  readonly #starting = new Set<Promise<void>>();
  readonly #started: StartedComponent[] = [];
  readonly #stop = new AbortController();
  readonly #force = new AbortController();

  #failure: Error | null = null;

  /** Why a component exited unexpectedly; null while none has. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Aborted when a stop is requested. */
  get stopSignal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Starts a component, which `stop` will stop.
   * @throws StartInterrupted when a stop was or is requested
   * @throws LifecycleTimeout
   */
  async start<Product>(component: Component<Product>): Promise<Product> {
    if (this.stopSignal.aborted) throw new StartInterrupted();
    const { name, startTimeoutMs, stopTimeoutMs } = component;
    const starting = component.start().then((product) => {
      this.#started.push({ name, stopTimeoutMs, stop: () => component.stop(product, this.#force.signal) });
      return product;
    });
    // A component that starts too late must still be stopped: `stop` waits for it.
    const settled = starting.then(nothing, nothing);
    this.#starting.add(settled);
    void settled.then(() => this.#starting.delete(settled));
    const interrupted = whenAborted(this.stopSignal).then(() => {
      throw new StartInterrupted();
    });
    return Promise.race([withTimeout(starting, startTimeoutMs, `${name} did not start in time`), interrupted]);
  }

  /** Records that a component exited unexpectedly, and requests a stop. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.requestStop();
  }

  /** No further component starts. */
  requestStop(): void {
    this.#stop.abort();
  }

  /** No further component starts, and stopping components do not wait for running work. */
  forceStop(): void {
    this.#stop.abort();
    this.#force.abort();
  }

  /** Stops the started components, the last one first, and returns their errors. */
  async stop(): Promise<readonly Error[]> {
    this.requestStop();
    const failures: Error[] = [];
    const collect = (error: unknown): void => {
      failures.push(toError(error));
    };
    const starts = Promise.all(this.#starting).then(nothing);
    await withTimeout(starts, forcedStopTimeoutMs, 'a component was still starting').catch(collect);
    for (let component = this.#started.pop(); component !== undefined; component = this.#started.pop()) {
      await this.#stopComponent(component).catch(collect);
    }
    return failures;
  }

  async #stopComponent({ name, stopTimeoutMs, stop }: StartedComponent): Promise<void> {
    const message = `${name} did not stop in time`;
    const stopping = stop();
    const forced = whenAborted(this.#force.signal).then(() => withTimeout(stopping, forcedStopTimeoutMs, message));
    await Promise.race([withTimeout(stopping, stopTimeoutMs, message), forced]);
  }
}

function nothing(): void {}

export function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function withTimeout<Product>(work: Promise<Product>, timeoutMs: number, message: string): Promise<Product> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LifecycleTimeout(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
