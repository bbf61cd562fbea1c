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

export interface ChangeFollower {
  /** The JSON of the rows that the client has, in the order of their `id`. */
  rows(): readonly string[];
  /** The reasons of gaps. */
  readonly gaps: readonly string[];
  /** The status of the last response. */
  status(): number | undefined;
  close(): void;
}

/** Milliseconds until a client connects again. */
const reconnectMs = 100;

/** Follows a stream with a snapshot as a client does: it applies the changes, and connects again with its last id. */
export function followChanges(
  { url }: Pick<TestGateway, 'url'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): ChangeFollower {
  const abort = new AbortController();
  const rows = new Map<number, string>();
  const gaps: string[] = [];
  let lastId: string | undefined;
  let status: number | undefined;
  const apply = ({ event, id, data }: ServerSentEvent): void => {
    lastId = id ?? lastId;
    if (data === undefined) return;
    const { record, old, reason } = JSON.parse(data) as {
      readonly record?: { readonly id: number };
      readonly old?: { readonly id: number };
      readonly reason?: string;
    };
    if (event === 'gap') gaps.push(reason!);
    if (event === 'reset' || event === 'truncate') rows.clear();
    if (record !== undefined) rows.set(record.id, JSON.stringify(record));
    else if (old !== undefined) rows.delete(old.id);
  };
  const read = async (): Promise<void> => {
    const resume = lastId === undefined ? {} : { 'last-event-id': lastId };
    const response = await fetch(url + path, { headers: { ...headers, ...resume }, signal: abort.signal });
    ({ status } = response);
    if (status !== 200) {
      await response.body?.cancel();
      return;
    }
    // Without an id, the first events are the rows of a snapshot.
    if (lastId === undefined) rows.clear();
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) apply(parseEvent(block));
    }
  };
  const run = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      await read().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, reconnectMs));
    }
  };
  void run();
  return {
    rows: () => [...rows].sort(([left], [right]) => left - right).map(([, row]) => row),
    gaps,
    status: () => status,
    close: () => abort.abort(),
  };
}
