/** The texts that read event streams: with `fetch`, as `EventSource` sends no headers. */
import { stringLiteral } from '../source-text.ts';
import type { TypescriptClientOptions } from './options.ts';
import type { TypeScriptOnly } from './type-text.ts';

type Options = Pick<TypescriptClientOptions, 'customHeaders'>;

export function customHeaderMembers({ customHeaders }: Options): readonly string[] {
  return Object.entries(customHeaders).map(([name, expression]) => `${stringLiteral(name)}: ${expression}`);
}

function streamHeaders(options: Options, ...more: readonly string[]): string {
  return `{ ${[...customHeaderMembers(options), 'Accept: "text/event-stream"', ...more].join(', ')} }`;
}

export function followText(tsOnly: TypeScriptOnly, options: Options): string {
  return `/** Opens the event stream of a call. A random id connects the call and the stream. */
async function _follow(url${tsOnly(': string')}, { onMessage, headers }${tsOnly(': IEventOptions')})${tsOnly(': Promise<{ headers: Record<string, string>; end: () => void }>')} {
  if (onMessage === undefined) return { headers: {}, end: () => undefined };
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const ended = new AbortController();
  const response = await fetch(\`\${url}?\${id}\`, { headers: ${streamHeaders(options, '...headers')}, signal: ended.signal });
  const problem = await _problem(response);
  if (problem !== null) throw new GatewayError(problem, response.headers);
  _readEvents(response, (type, data) => {
    if (type === "message") onMessage(data);
  }).catch(() => undefined);
  // The last messages may arrive after the response.
  return { headers: { "X-Gateway-ID": id }, end: () => void setTimeout(() => ended.abort(), 1000) };
}`;
}

export function readEventsText(tsOnly: TypeScriptOnly): string {
  return `/** Reads server-sent events. An id may have no event: it is \`cut\`, as the comment at the end of changes that belong together. */
async function _readEvents(response${tsOnly(': Response')}, receive${tsOnly(': (type: string, data: string, id: string) => void')}, receiveId${tsOnly(': (id: string) => void')} = () => undefined)${tsOnly(': Promise<void>')} {
  const reader = response.body${tsOnly('!')}.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let id = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const events = (rest + next.value).split("\\n\\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const lines = event.split("\\n");
      const values = (field${tsOnly(': string')}) => lines.filter((line) => line.startsWith(field)).map((line) => line.slice(field.length));
      const data = values("data: ");
      id = values("id: ").at(-1) ?? id;
      receiveId(id);
      if (data.length > 0) receive(values("event: ")[0] ?? "message", data.join("\\n"), id);
      else if (lines.includes(": cut") || values("id: ").length > 0) receive("cut", "", id);
    }
  }
}`;
}

export function eventStreamText(tsOnly: TypeScriptOnly, options: Options): string {
  const types = tsOnly(`export interface IStreamOptions {
  /** Closes the stream. */
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
}

`);
  return `${types}/**
 * An event stream with the members of \`EventSource\`, and with the headers of calls. It connects again by itself, and gets the events that
 * it has missed. An event \`error\` with a \`problem\` is the last one: the server refuses the stream.
 */
export class EventStream extends EventTarget {
  ${tsOnly('readonly ')}url${tsOnly(': string')};
  /** 0: connecting; 1: open; 2: closed. */
  readyState${tsOnly(': number')} = 0;
  onopen${tsOnly(': ((event: Event) => void) | null')} = null;
  onmessage${tsOnly(': ((event: MessageEvent<string>) => void) | null')} = null;
  onerror${tsOnly(': ((event: Event & { problem?: IProblem }) => void) | null')} = null;
  ${tsOnly('private readonly ')}_closed = new AbortController();
  ${tsOnly('private ')}_lastId = "";
  ${tsOnly('private ')}_wake${tsOnly(': () => void')} = () => undefined;

  constructor(url${tsOnly(': string')}, { headers, signal }${tsOnly(': IStreamOptions')} = {}) {
    super();
    this.url = url;
    this.addEventListener("open", (event) => this.onopen?.(event));
    this.addEventListener("message", (event) => this.onmessage?.(event));
    this.addEventListener("error", (event) => this.onerror?.(event));
    signal?.addEventListener("abort", () => this.close(), { once: true });
    if (signal?.aborted) this.close();
    void this._run(headers);
  }

${tsOnly(`  override addEventListener(type: "open" | "error", listener: (event: Event & { problem?: IProblem }) => void, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: (event: MessageEvent<string>) => void, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(type: string, listener: unknown, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(type, listener as EventListener | null, options);
  }

`)}  /** The id of the last event. */
  get lastEventId()${tsOnly(': string')} {
    return this._lastId;
  }

  close()${tsOnly(': void')} {
    this.readyState = 2;
    this._closed.abort();
    this._wake();
  }

${connectionText(tsOnly, options)}
}`;
}

/** Returns the methods that open and read the stream. */
function connectionText(tsOnly: TypeScriptOnly, options: Options): string {
  const resumed = '...(this._lastId === "" ? {} : { "Last-Event-ID": this._lastId })';
  return `  ${tsOnly('private ')}async _run(headers${tsOnly(': Record<string, string> | undefined')})${tsOnly(': Promise<void>')} {
    for (let delay = 1000; this.readyState !== 2; delay = Math.min(2 * delay, 30000)) {
      try {
        const response = await fetch(this.url, { headers: ${streamHeaders(options, '...headers', resumed)}, cache: "no-store", signal: this._closed.signal });
        const problem = await _problem(response);
        if (problem === null) {
          delay = 500;
          await this._read(response);
        } else if (problem.status < 500 && problem.status !== 429) {
          this.close();
          this.dispatchEvent(Object.assign(new Event("error"), { problem, headers: response.headers }));
        }
      } catch {
        // The connection was lost.
      }
      await this._pause(delay);
    }
  }

  ${tsOnly('private ')}async _read(response${tsOnly(': Response')})${tsOnly(': Promise<void>')} {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
    await _readEvents(
      response,
      (type, data, lastEventId) => {
        if (this.readyState === 1) this.dispatchEvent(new MessageEvent(type, { data, lastEventId }));
      },
      (id) => void (this._lastId = id || this._lastId),
    );
  }

  /** Clients do not come back at once, all at the same time. */
  ${tsOnly('private ')}async _pause(delay${tsOnly(': number')})${tsOnly(': Promise<void>')} {
    if (this.readyState === 2) return;
    this.readyState = 0;
    this.dispatchEvent(new Event("error"));
    await new Promise${tsOnly('<void>')}((resolve) => {
      const timer = setTimeout(resolve, delay * (0.5 + Math.random() / 2));
      this._wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }`;
}
