import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

export interface WriterOptions {
  readonly rows: number;
  readonly tenants: number;
  readonly rowsPerCommit: number;
}

/** Milliseconds between two looks at what is due. */
const tickMs = 4;
const connections = 4;
const updateSql = 'update item set number = number + 1 where id = any ($1::int[])';

/** Updates rows at a constant rate. Each commit has rows of one tenant: the tenants and their rows take turns. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #clients: readonly pg.Client[];
  readonly #idle: pg.Client[];
  #commits = 0;

  private constructor(options: WriterOptions, clients: readonly pg.Client[]) {
    this.#options = options;
    this.#clients = clients;
    this.#idle = [...clients];
  }

  static async open(connectionString: string, options: WriterOptions): Promise<Writer> {
    const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString }));
    await Promise.all(clients.map((client) => client.connect()));
    return new Writer(options, clients);
  }

  /**
   * Writes for some seconds. A server that is too slow gets fewer commits, and never more at once than there are connections.
   * @returns the changed rows
   */
  async write(changesPerSecond: number, seconds: number, signal: AbortSignal): Promise<number> {
    const { rowsPerCommit } = this.#options;
    const began = performance.now();
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    let started = 0;
    for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - began) {
      const due = Math.ceil((elapsed / 1000) * (changesPerSecond / rowsPerCommit));
      while (started < due && this.#idle.length > 0) {
        started++;
        const commit = this.#commit().catch((error: unknown) => void failures.push(error));
        running.add(commit);
        void commit.finally(() => running.delete(commit));
      }
      if (failures.length > 0) throw failures[0];
      await sleep(tickMs, undefined, { signal });
    }
    await Promise.all(running);
    return started * rowsPerCommit;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }

  async #commit(): Promise<void> {
    const client = this.#idle.pop()!;
    try {
      await client.query({ name: 'write', text: updateSql, values: [this.#nextKeys()] });
    } finally {
      this.#idle.push(client);
    }
  }

  #nextKeys(): readonly number[] {
    const { rows, tenants, rowsPerCommit } = this.#options;
    const commit = this.#commits++;
    const tenant = commit % tenants;
    const first = Math.floor(commit / tenants) * rowsPerCommit;
    const perTenant = rows / tenants;
    return Array.from({ length: rowsPerCommit }, (_, index) => ((first + index) % perTenant) * tenants + tenant);
  }
}
