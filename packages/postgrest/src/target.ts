import type { Endpoint, HeaderList, QueryInput } from '@pgway/core';
import {
  listColumnParameters,
  parseQueryString,
  quoteIdentifier,
  type RelationColumn,
  representedColumn,
  requireTable,
} from '@pgway/core/internal';
import { type PostgrestTable, postgrestTable } from './dialect-table.ts';
import { readProfileHeader, unknownInSchema, unknownSchema } from './profile.ts';
import { keyFactsOf, noKeyFacts } from './key-facts.ts';
import type { MediaHandler } from './read/media-handlers.ts';
import { type AvailableMedia, negotiateMedia, type ResponseMedia } from './media.ts';
import { type Preferences, readPreferences } from './preferences.ts';
import { type RequestSetting, requestSettings } from './request-settings.ts';
import { syntaxProblem, unknownColumn } from './postgrest-problem.ts';

/** The table of a request. */
export interface Target {
  readonly endpoint: Endpoint;
  readonly schema: string;
  readonly name: string;
  readonly columns: ReadonlyMap<string, RelationColumn>;
  /** The primary key; empty without one. */
  readonly key: readonly RelationColumn[];
  readonly options: PostgrestTable;
  readonly allowUnfilteredDelete: boolean;
}

/** A request with what its headers ask for. */
export interface TargetRequest {
  readonly target: Target;
  readonly preferences: Preferences;
  /** Returns the settings of the transaction. */
  readonly settings: () => readonly RequestSetting[];
  /** GET and HEAD change nothing, whatever functions they call: their transaction is read-only, as in PostgREST. */
  readonly isReadOnly: boolean;
  readonly media: ResponseMedia;
  /** `Content-Profile`, if the request names its schema, or could name another one. */
  readonly profile: HeaderList;
  /**
   * Returns the values of each parameter of the query string.
   * @throws Problem `malformed-query`
   */
  readonly parameters: () => ReadonlyMap<string, readonly string[]>;
  readonly body: string | null;
  readonly contentType: string | undefined;
  /** The header `Range` of a GET; other methods ignore it. */
  readonly range: string | undefined;
}

/** Built once per endpoint: a table may have many columns. */
const targets = new WeakMap<Endpoint, Target>();

/** Returns the table of an endpoint, with the types of its columns. */
export function targetOf(endpoint: Endpoint): Target {
  const known = targets.get(endpoint);
  if (known !== undefined) return known;
  const target = createTarget(endpoint);
  targets.set(endpoint, target);
  return target;
}

function createTarget(endpoint: Endpoint): Target {
  const { schema, name } = endpoint;
  const table = requireTable(endpoint);
  const options = postgrestTable(table);
  const representations = keyFactsOf(options)?.representations ?? new Map();
  const columns = listColumnParameters(endpoint).map(({ facts, parameter: { type } }) =>
    representedColumn({ ...facts, type }, representations),
  );
  return {
    endpoint,
    schema,
    name,
    columns: new Map(columns.map((column) => [column.name, column])),
    key: columns.filter(({ key }) => key),
    options,
    allowUnfilteredDelete: table.allowUnfilteredDelete,
  };
}

/**
 * Reads the headers of a request.
 * @throws Problem PGRST106, PGRST107, PGRST122
 */
export function readTargetRequest(input: QueryInput): TargetRequest {
  const target = targetOf(input.endpoint);
  return toTargetRequest(target, input, { hasRows: true, own: null, rowType: relationSql(target) });
}

/** The result of a request, for its media type. */
interface ResultForm extends Pick<AvailableMedia, 'hasRows' | 'own'> {
  /** The quoted and qualified type of its rows; null: none. */
  readonly rowType: string | null;
}

export function toTargetRequest(
  target: Target,
  { request, body, context }: Pick<QueryInput, 'request' | 'body' | 'context'>,
  { rowType, hasRows, own }: ResultForm,
): TargetRequest {
  const preferences = readPreferences(request, {
    allowsOverride: target.options.transaction.allowsOverride,
    timeZones: keyFactsOf(target.options)?.timeZones ?? noKeyFacts.timeZones,
  });
  let values: ReadonlyMap<string, readonly string[]> | null = null;
  const parameters = (): ReadonlyMap<string, readonly string[]> => (values ??= parseQueryString(request.query));
  const handlers = hasRows ? handlersOf(target, rowType, parameters) : [];
  const isReadOnly = request.method === 'GET' || request.method === 'HEAD';
  return {
    target,
    preferences,
    settings: () => requestSettings({ request, context }, target, preferences, isReadOnly),
    isReadOnly,
    media: negotiateMedia(request.header('accept'), { hasRows, own, handlers, hasPlan: target.options.planEnabled }),
    profile: readProfile(request, target),
    parameters,
    body,
    contentType: request.header('content-type'),
    range: request.method === 'GET' ? request.header('range') : undefined,
  };
}

/** Returns the aggregates of published schemas that can make the body. Those of a type take its whole rows only. */
function handlersOf(
  { options }: Target,
  rowType: string | null,
  parameters: TargetRequest['parameters'],
): readonly MediaHandler[] {
  const handlers = keyFactsOf(options)?.handlers ?? [];
  if (handlers.length === 0) return handlers;
  const select = parameters().get('select')?.[0] || '*';
  const schemas = schemasOf(options);
  return handlers.filter((handler) => {
    const takesRows =
      handler.rowType === null ? handler.mediaType !== '*/*' : handler.rowType === rowType && select === '*';
    return takesRows && schemas.has(handler.schema);
  });
}

/** @throws Problem PGRST106 for an unknown schema; PGRST205 and PGRST202 for one without the table or function */
function readProfile(request: QueryInput['request'], target: Target): HeaderList {
  const { schema, name, endpoint, options } = target;
  const profile = readProfileHeader(request);
  const schemas = schemasOf(options);
  if (profile === undefined) return schemas.size > 1 ? profileHeader(schema) : [];
  if (profile === schema) return profileHeader(schema);
  if (!schemas.has(profile)) throw unknownSchema(profile, schemas);
  throw unknownInSchema(endpoint.table === null ? 'function' : 'table', `${profile}.${name}`);
}

/** A name of other letters than those of headers is percent-encoded. */
function profileHeader(schema: string): HeaderList {
  return ['content-profile', /^[\x20-\x7e]*$/.test(schema) ? schema : encodeURIComponent(schema)];
}

/** The schemas with published tables or functions, by an object that endpoints keep. */
const exposedSchemas = new WeakMap<PostgrestTable, ReadonlySet<string>>();

/** Keeps the schemas that requests may name. */
export function keepSchemas(options: readonly PostgrestTable[], schemas: ReadonlySet<string>): void {
  for (const each of options) exposedSchemas.set(each, schemas);
}

function schemasOf(options: PostgrestTable): ReadonlySet<string> {
  return exposedSchemas.get(options) ?? new Set();
}

/** @throws Problem PGRST204 */
export function requireColumn({ columns, name: table }: Target, name: string): RelationColumn {
  const column = columns.get(name);
  if (column === undefined) throw unknownColumn(name.slice(0, 100), table);
  return column;
}

/**
 * Returns the names of a comma-separated list, such as `id,"a,b"`.
 * @throws Problem PGRST100
 */
export function parseNames(parameter: string, text: string): readonly string[] {
  const found = [...text.matchAll(listedName)];
  const end = found.reduce((length, [match]) => length + match.length, 0);
  if (end < text.length) throw syntaxProblem(parameter, `a name or "," is expected at position ${end}`);
  const names = found.map(([, quoted, plain]) =>
    quoted === undefined ? plain!.trim() : quoted.replaceAll(/\\(.)/gs, '$1'),
  );
  return [...new Set(names.filter((name) => name !== ''))];
}

/** White space is matched at one place only: a text that does not match would take time by its square otherwise. */
const listedName = /(?:\s*"((?:[^"\\]|\\.)*)"\s*|([^,"]*))(?:,|$)/gsy;

export function relationSql({ schema, name }: Pick<Target, 'schema' | 'name'>): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}
