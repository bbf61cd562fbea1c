import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { until } from '../database/support.ts';

/** A stream as a client sees it, byte for byte. */
export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** All of it so far. */
  readonly text: string;
  /** True once the server has ended it in good order. */
  readonly ended: boolean;
  /** True once it is over, whoever ended it. */
  readonly closed: boolean;
  readonly events: readonly ServerSentEvent[];
  /** The text once it holds so many events; places and times in it are written as `<id>`. */
  whole(events: number): Promise<string>;
  /** The messages once there are so many, those of gaps as `gap: why`. */
  messages(count: number): Promise<readonly string[]>;
  over(): Promise<void>;
  close(): void;
  readonly response: IncomingMessage;
}

export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string;
}

/** Reads as the standard says: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function parseEvents(text: string): { readonly events: readonly ServerSentEvent[]; readonly lastId: string } {
  const events: ServerSentEvent[] = [];
  let [type, data, id] = ['', '', ''];
  const lines = text.split(/\r\n|\n|\r/);
  // What no line end follows is no line yet.
  lines.pop();
  for (const line of lines) {
    if (line === '') {
      if (data !== '') events.push({ type: type || 'message', data: data.slice(0, -1), id });
      [type, data] = ['', ''];
      continue;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line)!;
    if (field === 'event') type = value;
    if (field === 'data') data += `${value}\n`;
    if (field === 'id') id = value;
  }
  return { events, lastId: id };
}

/** Opens a stream, and waits for its head and its first comment, or for the whole refusal. */
export async function openStream(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const outgoing = request(url + path, { headers, agent: false });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject).end();
  });
  outgoing.on('error', () => undefined);
  let text = '';
  let ended = false;
  let closed = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => (text += chunk));
  response.on('end', () => (ended = response.complete));
  response.on('close', () => (closed = true));
  response.on('error', () => undefined);
  onTestFinished(() => void outgoing.destroy());
  const stream: OpenStream = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    get text() {
      return text;
    },
    get ended() {
      return ended;
    },
    get closed() {
      return closed;
    },
    get events() {
      return parseEvents(text).events;
    },
    whole: async (events) => {
      await until(`there are ${events} events in ${JSON.stringify(text)}`, () => stream.events.length >= events);
      return text.replaceAll(/^id: \d+$/gm, 'id: <id>');
    },
    messages: async (count) => {
      await until(`there are ${count} events in ${JSON.stringify(text)}`, () => stream.events.length >= count);
      return stream.events.map(({ type, data }) => (type === 'message' ? data : `${type}: ${data}`));
    },
    over: () => until('the stream has ended', () => closed),
    close: () => void outgoing.destroy(),
    response,
  };
  await until('it begins', () => text !== '' || closed);
  return stream;
}

/** An execution id as a client should make it. */
export function executionId(): string {
  return crypto.randomUUID();
}
