import { type TestGateway } from '@pgway/testing';
import { expect, onTestFinished } from 'vitest';

export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
}

export interface OpenStream {
  readonly response: Response;
  /** Everything that has arrived. */
  text(): string;
  /** The events with data that have arrived. */
  events(): readonly ServerSentEvent[];
  /** The last id that the client has: an event or a comment had it. */
  lastId(): string | undefined;
  hasEnded(): boolean;
  close(): void;
}

/** Opens a stream of events, which is closed after the test. */
export async function openStream(
  { url }: Pick<TestGateway, 'url'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  let response!: Response;
  const request = async (): Promise<number> => {
    response = await fetch(url + path, { headers, signal: abort.signal });
    return response.status;
  };
  // The slot waits for transactions of other tests.
  await expect.poll(request).not.toBe(503);
  let text = '';
  let hasEnded = false;
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true });
  };
  void read()
    .catch(() => undefined)
    .then(() => (hasEnded = true));
  const blocks = (): readonly ServerSentEvent[] => text.split('\n\n').slice(0, -1).map(parseEvent);
  return {
    response,
    text: () => text,
    events: () => blocks().filter(({ data }) => data !== undefined),
    lastId: () => blocks().findLast(({ id }) => id !== undefined)?.id,
    hasEnded: () => hasEnded,
    close: () => abort.abort(),
  };
}

function parseEvent(block: string): ServerSentEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    fields[name] = name === 'data' && fields['data'] !== undefined ? `${fields['data']}\n${value}` : value;
  }
  return fields;
}
