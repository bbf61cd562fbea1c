/** Collects the metrics of the workers, in the primary process. */
import type { AllMetrics } from '../metrics/aggregate.ts';
import type { Channel } from './channel.ts';
import { answerTimeouts, toWorker } from './topics.ts';

export class WorkerMetrics {
  /** The last metrics of each worker; null before its first ones. */
  readonly #running = new Map<Channel, string | null>();
  #exited: string | null = null;
  /** Resolves when the metrics of all exited workers are added. */
  #adding: Promise<void> = Promise.resolve();

  add(channel: Channel): void {
    this.#running.set(channel, null);
  }

  remove(channel: Channel): void {
    const last = this.#running.get(channel) ?? null;
    this.#running.delete(channel);
    if (last !== null) this.#adding = this.#adding.then(() => this.#addExited(last));
  }

  /** Asks all workers. A worker that does not answer in time has its last metrics. */
  async read(): Promise<AllMetrics> {
    await Promise.all([...this.#running.keys()].map((channel) => this.#ask(channel)));
    await this.#adding;
    return { running: [...this.#running.values()].filter((metrics) => metrics !== null), exited: this.#exited };
  }

  async #ask(channel: Channel): Promise<void> {
    try {
      const metrics = await channel.ask<string | null>(toWorker.metrics, null, answerTimeouts.workers);
      if (this.#running.has(channel) && metrics !== null) this.#running.set(channel, metrics);
    } catch {
      // It is busy, starting or exiting.
    }
  }

  async #addExited(last: string): Promise<void> {
    try {
      const { addExited } = await import('../metrics/aggregate.ts');
      this.#exited = await addExited(this.#exited, last);
    } catch {
      // An update of the package may have replaced the module. Without the counts, the primary process goes on.
    }
  }
}
