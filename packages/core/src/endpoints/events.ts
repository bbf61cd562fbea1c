import { type Diagnostic, display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { Endpoint, EndpointEvents, EventScope } from './endpoint.ts';
import { infoLevel, infoPath, infoScope } from './annotations/info.ts';
import { listen } from './annotations/listen.ts';
import { expandRoutes } from './duplicate-routes.ts';
import { groupBy } from './group-by.ts';
import { resolveStreamPath } from './stream-path.ts';

/** Returns the event stream that the comment configures, or null. */
export function resolveEvents(builder: EndpointBuilder, path: string): EndpointEvents | null {
  const [below, channel] = [builder.get(infoPath), builder.get(listen)];
  const level = builder.get(infoLevel) ?? 'info';
  if ((below ?? channel) === null || below === false) {
    warnOfUnused(builder);
    return null;
  }
  return {
    path: resolveStreamPath(builder, path, {
      setting: infoPath,
      name: 'info_path',
      below: typeof below === 'string' ? below : level,
    }),
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

/** Returns whether one comment publishes both endpoints, which may then share a stream. */
function haveSameComment(one: Endpoint, other: Endpoint): boolean {
  return one.schema === other.schema && one.name === other.name && (one.table === null) === (other.table === null);
}

/** A path that answers GET with a stream. */
interface StreamRoute {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly kind: 'events' | 'changes';
}

function listStreams(endpoint: Endpoint): readonly StreamRoute[] {
  const { events, changes } = endpoint;
  return [
    ...(events === null ? [] : [{ endpoint, path: events.path, kind: 'events' as const }]),
    ...(changes === undefined ? [] : [{ endpoint, path: changes.path, kind: 'changes' as const }]),
  ];
}

/** Excludes and reports endpoints whose stream is at the path of another endpoint, or of another stream. */
export function excludeDuplicateStreams(endpoints: readonly Endpoint[]): {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const streams = endpoints.flatMap(listStreams);
  if (streams.length === 0) return { endpoints, diagnostics: [] };
  const getRoutes = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    if (endpoint.method === 'GET') for (const route of expandRoutes(endpoint.path)) getRoutes.set(route, endpoint);
  }
  const rivals = new Map<Endpoint, Diagnostic>();
  for (const [path, group] of groupBy(streams, (stream) => stream.path)) {
    for (const stream of group) {
      const rival = getRoutes.get(path) ?? group.find((other) => !canShare(stream, other))?.endpoint;
      if (rival !== undefined) rivals.set(stream.endpoint, reportDuplicate(stream, rival));
    }
  }
  return {
    endpoints: endpoints.filter((endpoint) => !rivals.has(endpoint)),
    diagnostics: [...rivals.values()],
  };
}

/** Endpoints of one comment have one stream of events. */
function canShare(stream: StreamRoute, other: StreamRoute): boolean {
  if (stream === other) return true;
  return stream.kind === 'events' && other.kind === 'events' && haveSameComment(stream.endpoint, other.endpoint);
}

function reportDuplicate({ endpoint, path, kind }: StreamRoute, rival: Endpoint): Diagnostic {
  const owner = rival === endpoint ? 'its other stream' : rival.id;
  const [what, annotation] = kind === 'events' ? ['event stream', 'info_path'] : ['stream of changes', 'changes_path'];
  return {
    severity: 'error',
    code: 'duplicate-route',
    routine: endpoint.id,
    line: null,
    message: `the ${what} ${display(path)} is also the path of ${owner}, so the endpoint is not published; set another ${annotation}`,
  };
}
