import { type Diagnostic, display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint, EndpointEvents, EventScope } from './endpoint.ts';
import { infoLevel, infoPath, infoScope } from './annotations/info.ts';
import { listen } from './annotations/listen.ts';
import { parsePath } from './path.ts';
import { expandRoutes } from './duplicate-routes.ts';

/** Returns the event stream that the comment configures, or null. */
export function resolveEvents(builder: EndpointBuilder, path: string): EndpointEvents | null {
  const [below, channel] = [builder.get(infoPath), builder.get(listen)];
  const level = builder.get(infoLevel) ?? 'info';
  if ((below ?? channel) === null || below === false) {
    warnOfUnused(builder);
    return null;
  }
  return {
    path: streamPath(path, typeof below === 'string' ? below : level, builder),
    scope: builder.get(infoScope) ?? self,
    ...(level === 'info' ? {} : { level }),
    channel: channel === null ? null : resolveChannel(builder, channel),
  };
}

const self: EventScope = { kind: 'self', names: [] };

/** Returns the channel with scope `matching` by default: notifications have no execution id, so `self` reaches no subscriber. */
function resolveChannel(builder: EndpointBuilder, name: string): EndpointEvents['channel'] {
  const scope = builder.get(infoScope);
  if (scope?.kind === 'self') {
    const message = `notifications have no execution id, so with info_scope self no subscriber receives the channel ${display(name)}; use another info_scope`;
    builder.report('warning', 'unheard-channel', message, builder.annotationFor(listen)?.line ?? null);
  }
  return { name, scope: scope ?? { kind: 'matching', names: [] } };
}

function warnOfUnused(builder: EndpointBuilder): void {
  for (const setting of [infoScope, infoLevel, listen]) {
    const use = builder.annotationFor(setting);
    if (use === null) continue;
    builder.report('warning', 'no-stream', `${use.name} has no effect without info_path`, use.line);
  }
}

/** Returns the path of the stream. It has no parameters, as an endpoint has one stream for all values. */
function streamPath(path: string, below: string, builder: EndpointBuilder): string {
  const literal = path.replaceAll(/\/\{[^/]*\}/g, '').replace(/\/$/, '');
  const whole = `${literal}/${below.replace(/^\//, '')}`.replace(/(?<=.)\/$/, '');
  const segments = parsePath(whole);
  if (typeof segments === 'string')
    builder.reportAt(infoPath, 'path-syntax', `info_path ${display(below)}: ${segments}`);
  else if (segments.some(({ kind }) => kind === 'parameter')) {
    builder.reportAt(
      infoPath,
      'path-syntax',
      `info_path ${display(below)}: the path of a stream must not contain parameters`,
    );
  }
  return whole;
}

/** Returns whether one comment publishes both endpoints, which may then share a stream. */
function haveSameComment(one: Endpoint, other: Endpoint): boolean {
  return one.schema === other.schema && one.name === other.name && (one.table === null) === (other.table === null);
}

/** Excludes and reports endpoints whose stream is at the path of another endpoint, or of the stream of another routine. */
export function excludeDuplicateStreams(endpoints: readonly Endpoint[]): {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
} {
  if (endpoints.every(({ events }) => events === null)) return { endpoints, diagnostics: [] };
  const getRoutes = new Map<string, Endpoint>();
  const streams = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    if (endpoint.method === 'GET') for (const route of expandRoutes(endpoint.path)) getRoutes.set(route, endpoint);
    if (endpoint.events === null) continue;
    const group = streams.get(endpoint.events.path);
    if (group === undefined) streams.set(endpoint.events.path, [endpoint]);
    else group.push(endpoint);
  }
  const rivals = new Map<Endpoint, Endpoint>();
  for (const [path, group] of streams) {
    for (const endpoint of group) {
      const rival = getRoutes.get(path) ?? group.find((other) => !haveSameComment(other, endpoint));
      if (rival !== undefined) rivals.set(endpoint, rival);
    }
  }
  return {
    endpoints: endpoints.filter((endpoint) => !rivals.has(endpoint)),
    diagnostics: [...rivals].map(([endpoint, rival]) => reportDuplicate(endpoint, rival)),
  };
}

function reportDuplicate({ id, events }: Endpoint, rival: Endpoint): Diagnostic {
  return {
    severity: 'error',
    code: 'duplicate-route',
    routine: id,
    line: null,
    message: `the event stream ${display(events!.path)} is also the path of ${rival.id}, so the endpoint is not published; set another info_path`,
  };
}
