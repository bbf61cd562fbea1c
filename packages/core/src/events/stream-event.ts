import type { EventScope } from '../endpoints/endpoint.ts';

/** An event of one stream, as it is passed between instances. */
export interface StreamEvent {
  /** The path of the stream. */
  readonly path: string;
  /** The id of the endpoint that raised the event. */
  readonly endpointId: string;
  readonly scope: EventScope;
  /** The key that subscribers of scope `self` must have; null: no subscriber has it. */
  readonly executionKey: string | null;
  readonly message: string;
}

/** Returns the JSON text of an event, for the broadcast to other instances. */
export function serializeEvent({ path, endpointId, scope, executionKey, message }: StreamEvent): string {
  return JSON.stringify([path, endpointId, scope.kind, scope.names, executionKey, message]);
}

const scopeKinds: ReadonlySet<unknown> = new Set([
  'self',
  'matching',
  'authorize',
  'all',
] satisfies EventScope['kind'][]);

/** Returns null for other texts: instances of another version or other programs may publish on the same topic. */
export function parseEvent(text: string): StreamEvent | null {
  const fields = parseJson(text);
  if (!Array.isArray(fields) || fields.length !== 6) return null;
  const [path, endpointId, kind, names, executionKey, message] = fields as unknown[];
  const strings = [path, endpointId, message, ...(executionKey === null ? [] : [executionKey])];
  if (!isStrings(strings) || !scopeKinds.has(kind) || !isStrings(names)) return null;
  const scope: EventScope = { kind: kind as EventScope['kind'], names };
  return { path, endpointId, scope, executionKey, message } as StreamEvent;
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The line ends of https://html.spec.whatwg.org/multipage/server-sent-events.html: text behind one must not become a field. */
const lineEnd = /\r\n|\n|\r/;

/**
 * Formats a server-sent event.
 * @param name null: the type is `message`
 */
export function formatSseEvent(id: number, message: string, name: string | null = null): Buffer {
  const data = message
    .split(lineEnd)
    .map((line) => `data: ${line}\n`)
    .join('');
  return Buffer.from(`${name === null ? '' : `event: ${name}\n`}id: ${id}\n${data}\n`);
}

/** An SSE comment, which keeps the connection alive. */
export const sseComment: Uint8Array = Buffer.from(':\n\n');

/** Formats a comment with the last event id; clients dispatch no event for it. */
export function formatSseId(id: number): Uint8Array {
  return Buffer.from(`:\nid: ${id}\n\n`);
}
