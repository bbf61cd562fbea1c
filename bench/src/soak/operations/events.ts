import { randomUUID } from 'node:crypto';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';

import type { SoakCall, Client } from '../client.ts';
import { expectResponse, type Operation } from './operation.ts';

const maxEvents = 8;
const timeoutMs = 10_000;

/** A subscriber of an event stream. */
class EventSubscriber {
  readonly data: string[] = [];
  #request: ClientRequest | null = null;
  #changed: () => void = () => undefined;
  #rest = '';

  /** Resolves to the status when the stream has begun; to null after the time limit. */
  async open(url: string, headers: Readonly<Record<string, string>>): Promise<number | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), timeoutMs);
      const finish = (status: number | null): void => {
        clearTimeout(timer);
        resolve(status);
      };
      this.#request = get(url, { headers, agent: false }, (response: IncomingMessage) => {
        if (response.statusCode !== 200) finish(response.statusCode ?? 0);
        response.on('error', () => undefined);
        response.setEncoding('utf8').on('data', (text: string) => {
          finish(200);
          this.#read(text);
        });
      });
      this.#request.on('error', () => finish(null));
    });
  }

  /** Resolves when this many events have arrived, or after the time limit. */
  async wait(count: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#changed = () => {
        if (this.data.length < count) return;
        clearTimeout(timer);
        resolve();
      };
      this.#changed();
    });
  }

  close(): void {
    this.#request?.destroy();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.data.push(...lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length)));
    this.#changed();
  }
}

/** Calls a routine that reports its progress, and reads the event stream of the call. */
async function progress(client: Client): Promise<void> {
  const user = client.anyUser();
  const token = client.token();
  const id = randomUUID();
  const count = client.random.integer(1, maxEvents);
  const headers = user.token === null ? {} : { authorization: `Bearer ${user.token}` };
  const subscriber = new EventSubscriber();
  const call: SoakCall = {
    operation: 'events',
    user,
    line: 'POST /progress',
    body: { token, count },
    headers: { 'x-gateway-id': id },
  };
  try {
    const status = await subscriber.open(`${client.context.http.origin}/api/progress/info?${id}`, headers);
    client.context.statistics.requests++;
    // With database roles, opening a stream may run a query, whose connection may be lost.
    if (status === 503) return;
    if (status !== 200) {
      client.reportViolation('events', call, `the stream returned ${status ?? 'nothing in time'}`);
      return;
    }
    const outcome = await client.call(call);
    expectResponse(client, call, outcome, token);
    const isComplete = outcome.kind === 'answered' && outcome.status === 200;
    if (isComplete) await subscriber.wait(count);
    const expected = Array.from({ length: count }, (_, index) => `${token} ${index + 1} of ${count}`);
    const hasOnlyExpected = subscriber.data.every((data) => expected.includes(data));
    if (!hasOnlyExpected || (isComplete && subscriber.data.length !== count)) {
      client.reportViolation('events', call, `${JSON.stringify(subscriber.data)} after ${outcome.kind}`);
    }
  } finally {
    subscriber.close();
  }
}

export const events: readonly Operation[] = [{ weight: 0.5, run: progress }];
