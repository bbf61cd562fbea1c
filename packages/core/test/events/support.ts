import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { until } from '../database/support.ts';

/** The response of an event stream, byte for byte. */
export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body so far. */
  readonly text: string;
  /** Whether the server has completed the response. */
  readonly ended: boolean;
  /** Whether the connection is closed. */
  readonly closed: boolean;
  readonly events: readonly ServerSentEvent[];
  /** Waits for so many events, and returns the body with `<id>` for each id. */
  whole(events: number): Promise<string>;
  /** Waits for so many events, and returns their messages, gaps as `gap: reason`. */
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

/** Parses as browsers do: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
export function parseEvents(text: string): { readonly events: readonly ServerSentEvent[]; readonly lastId: string } {
  const events: ServerSentEvent[] = [];
  let [type, data, id] = ['', '', ''];
  const lines = text.split(/\r\n|\n|\r/);
  // A line without its end is incomplete.
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

/** Opens a stream, and waits for its headers and first comment, or for the whole problem. */
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

export function executionId(): string {
  return crypto.randomUUID();
}
