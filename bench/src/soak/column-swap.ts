import { setTimeout as pause } from 'node:timers/promises';

import type { LoadContext } from './client.ts';
import { orders, swappedSql } from './column-swap.sql.ts';
import type { SoakDatabase } from './database.ts';

const swapPauseMs = 300;
const readPauseMs = 5;

/** Creates the function with columns in another order again and again, and compares the keys of its responses with the values. */
export class ColumnSwap {
  readonly #database: SoakDatabase;
  readonly #load: LoadContext;
  #stop: AbortController | null = null;
  #running: Promise<unknown> = Promise.resolve();

  constructor(database: SoakDatabase, load: LoadContext) {
    this.#database = database;
    this.#load = load;
  }

  start(): void {
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = Promise.all([this.#swap(stop.signal), this.#read(stop.signal)]);
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    await this.#running;
  }

  async #swap(signal: AbortSignal): Promise<void> {
    for (let count = 1; !signal.aborted; count++) {
      await this.#database.query(`drop function swapped; ${swappedSql(orders[count % 2]!)}`);
      await wait(swapPauseMs, signal);
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { http, violations, statistics } = this.#load;
    while (!signal.aborted) {
      const result = await http.send({ method: 'GET', path: '/api/swapped', headers: {} });
      const text = result.kind === 'response' ? result.body.toString() : '';
      if (result.kind === 'response' && result.status === 200) {
        statistics.add('swapped', 'answered');
        if (!hasOwnKeys(text)) violations.add('own-response', `swapped columns: ${text}`);
      } else if (result.kind === 'response' && result.status === 503) {
        statistics.add('swapped', 'notSent');
      } else {
        statistics.add('swapped', 'failed');
        violations.add('no-500', `swapped columns: ${JSON.stringify({ ...result, body: text })}`);
      }
      await wait(readPauseMs, signal);
    }
  }
}

function hasOwnKeys(text: string): boolean {
  const [row] = JSON.parse(text) as readonly Record<string, string>[];
  return row !== undefined && row['one'] === 'one' && row['two'] === 'two';
}

function wait(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return pause(milliseconds, undefined, { signal }).catch(() => undefined);
}
