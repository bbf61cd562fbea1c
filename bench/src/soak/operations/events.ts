import { randomUUID } from 'node:crypto';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';

import type { SoakCall, Client } from '../client.ts';
import { expectResponse, type Operation } from './operation.ts';

const mostEvents = 8;
const deadlineMs = 10_000;

/** One reader of an event stream. */
class EventReader {
  readonly data: string[] = [];
  #request: ClientRequest | null = null;
  #changed: () => void = () => undefined;
  #rest = '';

  /** Resolves with the status of the stream, once it has begun; null without an answer in time. */
  async open(url: string, headers: Readonly<Record<string, string>>): Promise<number | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), deadlineMs);
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

  /** Resolves when so many events are there, or the time is over. */
  async wait(count: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
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

/** Calls a routine that tells its progress, and reads the stream of this one call. */
async function progress(client: Client): Promise<void> {
  const user = client.anyUser();
  const token = client.token();
  const id = randomUUID();
  const count = client.random.integer(1, mostEvents);
  const headers = user.token === null ? {} : { authorization: `Bearer ${user.token}` };
  const reader = new EventReader();
  const call: SoakCall = {
    operation: 'events',
    user,
    line: 'POST /progress',
    body: { token, count },
    headers: { 'x-gateway-id': id },
  };
  try {
    const status = await reader.open(`${client.context.http.origin}/api/progress/info?${id}`, headers);
    client.context.statistics.requests++;
    // Under a role context, opening a stream may ask the database, whose connection may be lost.
    if (status === 503) return;
    if (status !== 200) {
      client.reportViolation('events', call, `the stream was answered with ${status ?? 'nothing in time'}`);
      return;
    }
    const outcome = await client.call(call);
    expectResponse(client, call, outcome, token);
    const isWhole = outcome.kind === 'answered' && outcome.status === 200;
    if (isWhole) await reader.wait(count);
    const expected = Array.from({ length: count }, (_, index) => `${token} ${index + 1} of ${count}`);
    const isOwn = reader.data.every((data) => expected.includes(data));
    if (!isOwn || (isWhole && reader.data.length !== count)) {
      client.reportViolation('events', call, `${JSON.stringify(reader.data)} after ${outcome.kind}`);
    }
  } finally {
    reader.close();
  }
}

export const events: readonly Operation[] = [{ weight: 0.5, run: progress }];
