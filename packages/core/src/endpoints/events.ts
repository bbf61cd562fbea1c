import { type Diagnostic, display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint, EndpointEvents, EventScope } from './endpoint.ts';
import { parsePath } from './path.ts';
import type { ReportProblem } from './parameters.ts';
import { expandRoutes } from './duplicate-routes.ts';

/** The stream of an endpoint's events; null where the comment asks for none. */
export function resolveEvents(builder: EndpointBuilder, path: string, refuse: ReportProblem): EndpointEvents | null {
  const { infoPath, infoScope, listen } = builder.overrides;
  if ((infoPath ?? listen) === null || infoPath === false) {
    warnOfUnused(builder);
    return null;
  }
  const scope = infoScope ?? self;
  return {
    path: streamPath(path, typeof infoPath === 'string' ? infoPath : 'info', refuse),
    scope,
    channel: listen === null ? null : channelOf(builder, listen),
  };
}

const self: EventScope = { kind: 'self', names: [] };

/** Nobody's execution id is in what is notified: where nothing is said, whoever may call the endpoint gets it. */
function channelOf(builder: EndpointBuilder, name: string): EndpointEvents['channel'] {
  const { infoScope } = builder.overrides;
  if (infoScope?.kind === 'self') {
    const message = `nobody's execution id is in what is notified, so that info_scope self gives ${display(name)} to nobody`;
    builder.report('warning', 'unheard-channel', message, builder.annotationFor('listen')?.line ?? null);
  }
  return { name, scope: infoScope ?? { kind: 'matching', names: [] } };
}

function warnOfUnused(builder: EndpointBuilder): void {
  for (const key of ['infoScope', 'listen'] as const) {
    const use = builder.annotationFor(key);
    if (use === null) continue;
    builder.report('warning', 'no-stream', `${use.name} is of no use without info_path`, use.line);
  }
}

/** A stream is the endpoint's as a whole, whatever the values of its parameters: its path has none. */
function streamPath(path: string, below: string, refuse: ReportProblem): string {
  const literal = path.replaceAll(/\/\{[^/]*\}/g, '').replace(/\/$/, '');
  const whole = `${literal}/${below.replace(/^\//, '')}`.replace(/(?<=.)\/$/, '');
  const segments = parsePath(whole);
  if (typeof segments === 'string') refuse('path-syntax', `info_path ${display(below)}: ${segments}`);
  else if (segments.some(({ kind }) => kind === 'parameter')) {
    refuse('path-syntax', `info_path ${display(below)}: the path of a stream has no parameters`);
  }
  return whole;
}

/** What one comment publishes: overloads of a routine, operations on a table. Their events may have one stream. */
function akin(one: Endpoint, other: Endpoint): boolean {
  return one.schema === other.schema && one.name === other.name && (one.table === null) === (other.table === null);
}

/**
 * A stream at the path of another endpoint, or of the stream of another routine: nobody could say which is meant, so that
 * the endpoint with the stream is not published, and an error names both.
 */
export function excludeDuplicateStreams(endpoints: readonly Endpoint[]): {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
} {
  if (endpoints.every(({ events }) => events === null)) return { endpoints, diagnostics: [] };
  const readers = new Map<string, Endpoint>();
  const streams = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    if (endpoint.method === 'GET') for (const route of expandRoutes(endpoint.path)) readers.set(route, endpoint);
    if (endpoint.events === null) continue;
    const there = streams.get(endpoint.events.path);
    if (there === undefined) streams.set(endpoint.events.path, [endpoint]);
    else there.push(endpoint);
  }
  const rivals = new Map<Endpoint, Endpoint>();
  for (const [path, group] of streams) {
    for (const endpoint of group) {
      const rival = readers.get(path) ?? group.find((other) => !akin(other, endpoint));
      if (rival !== undefined) rivals.set(endpoint, rival);
    }
  }
  return {
    endpoints: endpoints.filter((endpoint) => !rivals.has(endpoint)),
    diagnostics: [...rivals].map(([endpoint, rival]) => duplicate(endpoint, rival)),
  };
}

function duplicate({ id, events }: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'duplicate-route',
    routine: id,
    line: null,
    message: `the stream at ${display(events!.path)} is also ${rival.id}; it is not published: give it another info_path`,
  };
}

/** The scope that these words say, in any case; null when they say none. */
export function parseEventScope(words: readonly string[]): EventScope | null {
  const [first = '', ...names] = words;
  const kind = first.toLowerCase();
  if (kind === 'authorize' || kind === 'authorized') return { kind: 'authorize', names };
  if (names.length > 0 || (kind !== 'self' && kind !== 'matching' && kind !== 'all')) return null;
  return { kind, names };
}
