import type { EventScope } from '../endpoints/endpoint.ts';

/** An event on its way to the readers of a stream, on this instance and on others. */
export interface StreamEvent {
  /** The path of the stream. */
  readonly path: string;
  /** The id of the endpoint that it is of. */
  readonly endpoint: string;
  readonly scope: EventScope;
  /** What a reader of scope `self` must have as well; null: nobody has it. */
  readonly key: string | null;
  readonly message: string;
}

/** As text for other instances. */
export function packEvent({ path, endpoint, scope, key, message }: StreamEvent): string {
  return JSON.stringify([path, endpoint, scope.kind, scope.names, key, message]);
}

const kinds: ReadonlySet<unknown> = new Set(['self', 'matching', 'authorize', 'all'] satisfies EventScope['kind'][]);

/** Null for what is no event: instances of another version, or somebody else, may use the same topic. */
export function unpackEvent(text: string): StreamEvent | null {
  const parts = parse(text);
  if (!Array.isArray(parts) || parts.length !== 6) return null;
  const [path, endpoint, kind, names, key, message] = parts as unknown[];
  const texts = [path, endpoint, message, ...(key === null ? [] : [key])];
  if (!texts.every((part) => typeof part === 'string') || !kinds.has(kind) || !isTexts(names)) return null;
  const scope: EventScope = { kind: kind as EventScope['kind'], names };
  return { path, endpoint, scope, key, message } as StreamEvent;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
