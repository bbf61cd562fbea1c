import type { Diagnostic, Endpoint } from '@pgway/core';
import { collisionDiagnostic, nameCollisions } from '../naming.ts';
import { type NamedEndpoint, numberedName, pascalCase } from '../naming.ts';
import { escapeLine, quote } from '../source-text.ts';
import { changesPath } from './changes-path.ts';
import type { TypescriptClientOptions } from './options.ts';

/** The names of exports that accompany a function; each is unique in its module. */
export interface ClientNames {
  /** The function that returns the URL. */
  readonly urlName: string;
  /** The function that opens the event stream. */
  readonly eventSourceName: string;
  /** The function that opens the stream of row changes. */
  readonly changesName: string;
  /** `I<Name>`, to which `Request` and `Response` are appended. */
  readonly typeName: string;
}

/** Assigns the names. Functions keep their names; a colliding export takes the next free number. */
export function clientNames(
  named: readonly NamedEndpoint[],
  options: TypescriptClientOptions,
): ReadonlyMap<Endpoint, ClientNames> {
  const taken = new Set(named.map(({ name }) => name));
  const take = (name: string): string => {
    const free = taken.has(name) ? numberedName(name, (candidate) => taken.has(candidate)) : name;
    taken.add(free);
    return free;
  };
  return new Map(
    named.map(({ endpoint, name }) => [
      endpoint,
      {
        urlName: options.exportUrls ? take(urlName(name)) : urlName(name),
        eventSourceName: exportsEventSource(endpoint, options) ? take(eventSourceName(name)) : eventSourceName(name),
        changesName: changesPath(endpoint) === null ? changesName(name) : take(changesName(name)),
        typeName: take(`I${pascalCase(name)}`),
      },
    ]),
  );
}

/** Returns a warning for each name that has a number because of a collision. */
export function clientCollisions(
  named: readonly NamedEndpoint[],
  options: TypescriptClientOptions,
): readonly Diagnostic[] {
  const owners = new Map(named.map(({ endpoint, name }) => [name, endpoint]));
  const names = clientNames(named, options);
  const ofExports = named.flatMap(({ endpoint, name }) => {
    const assigned = names.get(endpoint)!;
    return [
      ...exportCollision(endpoint, { name: assigned.urlName, preferred: urlName(name), what: 'the URL' }, owners),
      ...exportCollision(
        endpoint,
        { name: assigned.eventSourceName, preferred: eventSourceName(name), what: 'the event source' },
        owners,
      ),
      ...exportCollision(
        endpoint,
        { name: assigned.changesName, preferred: changesName(name), what: 'the stream of changes' },
        owners,
      ),
    ];
  });
  return [...nameCollisions(named), ...ofExports];
}

function exportCollision(
  endpoint: Endpoint,
  { name, preferred, what }: { readonly name: string; readonly preferred: string; readonly what: string },
  owners: ReadonlyMap<string, Endpoint>,
): readonly Diagnostic[] {
  const owner = owners.get(preferred);
  if (name === preferred || owner === undefined) return [];
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

/** Functions have a parameter `parseUrl`. */
function urlName(name: string): string {
  return name === 'parse' ? 'parseUrl_' : `${name}Url`;
}

function eventSourceName(name: string): string {
  return `${name}Events`;
}

/** Changes are those of a table, not of its operation: `filmChanges` beside `filmGet`. */
function changesName(name: string): string {
  return `${name.replace(/(?<=.)Get$/, '')}Changes`;
}
