import { setTimeout as pause } from 'node:timers/promises';

import type { HttpClient, HttpRequest } from '../http-client.ts';
import type { Random } from '../random.ts';
import type { AuditLog, WriteOutcome } from './audit-log.ts';

/** Functions and the table by the weights of their calls. */
const writePaths = [
  ['POST', '/add'],
  ['POST', '/add'],
  ['POST', '/add-slowly'],
  ['PUT', '/stored/returning'],
] as const;
const refusedShare = 0.1;
const keyedShare = 0.4;
const batchShare = 0.35;
const maxBatch = 6;
const maxPauseMs = 150;

interface PlannedWrite {
  readonly ids: readonly string[];
  readonly request: HttpRequest;
  /** The ids of an acknowledgement, or null for another body. */
  readonly readIds: (body: unknown) => readonly unknown[] | null;
}

export interface AuditBounds {
  /** The number of writes of all clients. */
  readonly writes: number;
  /** `performance.now()` at which no further write begins. */
  readonly end: number;
  /** `performance.now()` at which repetitions end. */
  readonly repeatEnd: number;
  readonly signal: AbortSignal;
}

/** A client that sends one write at a time and repeats writes with a key until they are acknowledged. */
export class AuditClient {
  readonly #name: string;
  readonly #http: HttpClient;
  readonly #log: AuditLog;
  readonly #random: Random;
  #next = 0;

  constructor(name: string, http: HttpClient, log: AuditLog, random: Random) {
    this.#name = name;
    this.#http = http;
    this.#log = log;
    this.#random = random;
  }

  async run(bounds: AuditBounds): Promise<void> {
    while (this.#log.count < bounds.writes && performance.now() < bounds.end && !bounds.signal.aborted) {
      const isKeyed = this.#random.chance(keyedShare);
      await (isKeyed ? this.#writeWithKey(bounds) : this.#writeOnce());
    }
  }

  async #writeOnce(): Promise<void> {
    const write = this.#plan(null);
    const end = this.#log.begin(write.ids, describe(write));
    const { outcome } = await this.#send(write);
    end(outcome);
    // The server may be starting.
    if (outcome === 'unknown') await pause(this.#random.next() * maxPauseMs);
  }

  /** Sends the same request until it is acknowledged: every other outcome may be that of one attempt only. */
  async #writeWithKey({ repeatEnd }: AuditBounds): Promise<void> {
    const write = this.#plan(`${this.#name}-key-${this.#next}`);
    const end = this.#log.begin(write.ids, describe(write));
    for (;;) {
      const { outcome, text } = await this.#send(write);
      if (outcome === 'acknowledged') {
        end(outcome);
        return;
      }
      if (performance.now() > repeatEnd) {
        this.#log.violations.add('repeated', `${describe(write)} [${write.ids.join(', ')}]: ${text}`);
        return;
      }
      await pause(this.#random.next() * maxPauseMs);
    }
  }

  async #send({
    request,
    ids,
    readIds,
  }: PlannedWrite): Promise<{ readonly outcome: WriteOutcome; readonly text: string }> {
    const result = await this.#http.send(request);
    if (result.kind !== 'response') return { outcome: 'unknown', text: result.kind };
    const text = `${result.status} ${result.body.toString()}`;
    if (result.status >= 400) return { outcome: text.includes('outcome-unknown') ? 'unknown' : 'refused', text };
    const answered = readIds(parse(result.body.toString()));
    if (answered?.join() !== ids.join()) {
      this.#log.violations.add('own-response', `${request.method} ${request.path} [${ids.join(', ')}]: ${text}`);
    }
    return { outcome: 'acknowledged', text };
  }

  #plan(key: string | null): PlannedWrite {
    const isRefused = key === null && this.#random.chance(refusedShare);
    const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'idempotency-key': `"${key}"` }) };
    if (!this.#random.chance(batchShare)) {
      const id = this.#id(isRefused && this.#random.chance(0.5) ? 'late' : 'one');
      const [method, path] = this.#path(isRefused, key !== null, id);
      const isTable = path.startsWith('/stored');
      return {
        ids: [id],
        request: { method, path, headers, body: JSON.stringify({ id }) },
        readIds: isTable ? (rows) => (rows as readonly { id: string }[]).map((row) => row.id) : (body) => [body],
      };
    }
    const ids = Array.from({ length: this.#random.integer(2, maxBatch) }, () => this.#id('batch'));
    const failing = isRefused ? this.#random.integer(0, ids.length - 1) : -1;
    const body = ids.map((id, index) => ({
      method: 'POST',
      path: index === failing ? '/refuse' : '/add',
      body: { id },
    }));
    return {
      ids,
      request: { method: 'POST', path: '/batch', headers, body: JSON.stringify(body) },
      readIds: (responses) => (responses as readonly { body: unknown }[]).map((response) => response.body),
    };
  }

  /** The commit refuses an id that begins with `late`, and `/refuse` every one. */
  #path(isRefused: boolean, hasKey: boolean, id: string): readonly [method: string, path: string] {
    if (isRefused && !id.startsWith('late')) return ['POST', '/refuse'];
    return hasKey ? ['POST', '/add-once'] : this.#random.pick(writePaths);
  }

  #id(kind: string): string {
    return `${kind}-${this.#name}-${this.#next++}`;
  }
}

function describe({ request }: PlannedWrite): string {
  return `${request.method} ${request.path}${request.headers['idempotency-key'] === undefined ? '' : ' with a key'}`;
}

/** Texts are sent as they are, everything else as JSON. */
function parse(text: string): unknown {
  return text.startsWith('[') ? JSON.parse(text) : text;
}
