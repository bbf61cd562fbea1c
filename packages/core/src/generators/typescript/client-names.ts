import type { Diagnostic } from '../../endpoints/diagnostic.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { collisionDiagnostic, nameCollisions } from '../naming.ts';
import { type NamedEndpoint, numberedName, pascalCase } from '../naming.ts';
import { escapeLine, quote } from '../source-text.ts';
import type { TypescriptClientOptions } from './options.ts';

/** The names of what is exported beside a function; each is unique in its module. */
export interface ClientNames {
  /** Of what makes its URL, where URLs are exported. */
  readonly urlName: string;
  /** Of what makes its event source, where that is exported. */
  readonly eventSourceName: string;
  /** `I<Name>`, to which `Request` and `Response` are appended. */
  readonly typeName: string;
}

/** Functions keep their names; what stands beside them takes the next free number. */
export function clientNames(
  named: readonly NamedEndpoint[],
  options: TypescriptClientOptions,
): ReadonlyMap<Endpoint, ClientNames> {
  const taken = new Set(named.map(({ name }) => name));
  const take = (name: string): string => {
    const free = taken.has(name) ? numberedName(name, (one) => taken.has(one)) : name;
    taken.add(free);
    return free;
  };
  return new Map(
    named.map(({ endpoint, name }) => [
      endpoint,
      {
        urlName: options.exportUrls ? take(urlName(name)) : urlName(name),
        eventSourceName: exportsEventSource(endpoint, options) ? take(eventSourceName(name)) : eventSourceName(name),
        typeName: take(`I${pascalCase(name)}`),
      },
    ]),
  );
}

/** A warning for each name with a number that it would not have alone. */
export function clientCollisions(
  named: readonly NamedEndpoint[],
  options: TypescriptClientOptions,
): readonly Diagnostic[] {
  const owners = new Map(named.map(({ endpoint, name }) => [name, endpoint]));
  const names = clientNames(named, options);
  const beside = named.flatMap(({ endpoint, name }) => {
    const { urlName: url, eventSourceName: events } = names.get(endpoint)!;
    return [
      ...exportCollision(endpoint, { name: url, wanted: urlName(name), what: 'the URL' }, owners),
      ...exportCollision(endpoint, { name: events, wanted: eventSourceName(name), what: 'the event source' }, owners),
    ];
  });
  return [...nameCollisions(named), ...beside];
}

function exportCollision(
  endpoint: Endpoint,
  { name, wanted, what }: { readonly name: string; readonly wanted: string; readonly what: string },
  owners: ReadonlyMap<string, Endpoint>,
): readonly Diagnostic[] {
  const owner = owners.get(wanted);
  if (name === wanted || owner === undefined) return [];
  return [
    collisionDiagnostic(
      endpoint,
      `${what} of ${endpoint.method} ${escapeLine(endpoint.path)} is called ${quote(name)}`,
      owner,
    ),
  ];
}

function exportsEventSource({ events }: Endpoint, { exportEventSources }: TypescriptClientOptions): boolean {
  return exportEventSources && events !== null;
}

/** `parseUrl` is what functions call a parameter. */
function urlName(name: string): string {
  return name === 'parse' ? 'parseUrl_' : `${name}Url`;
}

/** `getNotes` has `getNotesEvents`. */
function eventSourceName(name: string): string {
  return `${name}Events`;
}
