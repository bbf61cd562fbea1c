import { tableKey } from '../catalog/table-name.ts';
import { checkCachedTables } from './check-cached-tables.ts';
import { checkEventChannels } from './check-event-channels.ts';
import { checkOwnerViews } from './check-owner-views.ts';
import { checkRouteClaims } from './check-route-claims.ts';
import { lexComment } from '../endpoints/comment/lexer.ts';
import {
  readMissingPrivileges,
  type MissingPrivileges,
  routineKey,
  readSchemaNames,
  type UnsupportedObject,
  readUnsupportedObjects,
} from '../catalog/checks.ts';
import type { Routine } from '../catalog/routine.ts';
import type { TableOperation } from '../catalog/table.ts';
import type { Database } from '../postgres/port.ts';
import type { EndpointSource } from './endpoint-source.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { AuthScheme, Observer } from '../ports/ports.ts';
import { type Diagnostic, display } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { nearestName } from '../validation/suggestion.ts';

/** The routines of all sources, and the endpoints built from them. */
export interface CatalogSnapshot {
  readonly routines: readonly Routine[];
  readonly sources: readonly EndpointSource[];
  readonly endpoints: readonly Endpoint[];
  /** The authentication schemes that callers can use. */
  readonly schemes: readonly AuthScheme[];
}

/**
 * Compares options and comments with the catalog. Returns diagnostics for objects with an `HTTP` line that cannot be published, and for
 * missing privileges and tables whose changes the log lacks; warns of unknown schemas.
 */
export async function checkCatalog(
  database: Database,
  snapshot: CatalogSnapshot,
  options: ResolvedOptions,
  observe: Observer,
): Promise<readonly Diagnostic[]> {
  await checkSchemaOptions(database, options, observe);
  checkRouteClaims(snapshot.endpoints, snapshot.schemes, options, observe);
  if (snapshot.schemes.length === 0) warnOfMissingSchemes(snapshot.endpoints, observe);
  return [
    ...(await checkUnsupportedObjects(database, snapshot, options)),
    ...(await checkPrivileges(database, snapshot, options, observe)),
    ...(await checkEventChannels(database, snapshot.endpoints)),
    ...(options.cacheEnabled ? await checkCachedTables(database, snapshot.endpoints) : []),
  ];
}

/** Without a scheme, no caller can be known: endpoints for signed-in callers answer all of them with 401. */
function warnOfMissingSchemes(endpoints: readonly Endpoint[], observe: Observer): void {
  const closed = endpoints.filter(
    ({ authorization, basicAuthentication }) => authorization.required && basicAuthentication === null,
  );
  if (closed.length === 0) return;
  const named = closed.slice(0, 3).map(({ method, path }) => `${method} ${path}`);
  const others = closed.length > named.length ? ` and ${closed.length - named.length} more` : '';
  const message = `${named.join(', ')}${others} ${closed.length === 1 ? 'needs' : 'need'} a signed-in caller, but no authentication scheme is enabled, so every call gets a 401; enable cookie, bearer, jwt or basic`;
  observe({ kind: 'start-warning', code: 'no-authentication-scheme', message });
}

async function checkSchemaOptions(database: Database, options: ResolvedOptions, observe: Observer): Promise<void> {
  const schemas = (['includeSchemas', 'excludeSchemas'] as const).flatMap((option) =>
    (options[option] ?? []).map((schema) => ({ option, schema })),
  );
  if (schemas.length === 0) return;
  const known = await readSchemaNames(database);
  for (const { option, schema } of schemas.filter((entry) => !known.includes(entry.schema))) {
    const suggestion = nearestName(schema, known);
    const hint =
      suggestion === null ? 'create it, or remove it from the option' : `did you mean ${display(suggestion)}?`;
    const message = `${option}: there is no schema ${display(schema)} in the database; ${hint}`;
    observe({ kind: 'start-warning', code: 'unknown-schema', message });
  }
}

const hasHttpLine = ({ comment }: UnsupportedObject): boolean =>
  lexComment(comment).some(({ words: [first = ''] }) => first.toLowerCase() === 'http');

async function checkUnsupportedObjects(
  database: Database,
  { sources }: CatalogSnapshot,
  options: ResolvedOptions,
): Promise<readonly Diagnostic[]> {
  const hasSource = (name: string): boolean => sources.some((source) => source.name === name);
  if (options.commentsMode === 'ignore' || options.query !== null) return [];
  const found = await readUnsupportedObjects(database, options);
  const hasTables = sources.some(({ readsTables }) => readsTables === true);
  const isReported = ({ kind }: UnsupportedObject): boolean => {
    if (kind === 'table') return !hasTables;
    return kind === 'partition' ? hasTables : hasSource('functions');
  };
  return found
    .filter((object) => isReported(object) && hasHttpLine(object))
    .map((object) => ({
      severity: object.kind === 'table' ? 'warning' : 'error',
      code: 'unpublishable',
      routine: object.signature,
      line: null,
      message: `the comment has an HTTP line, but ${unsupportedReason(object)}`,
    }));
}

function unsupportedReason({ kind, detail }: UnsupportedObject): string {
  switch (kind) {
    case 'aggregate':
      return 'an aggregate cannot be called with request parameters; publish a function that uses it';
    case 'window':
      return 'a window function cannot be called with request parameters; publish a function that uses it';
    case 'language':
      return `functions of the language ${detail ?? ''} are not published, as their parameters may have pseudo-types such as internal; publish an SQL function that calls it`;
    case 'table':
      return 'tables and views are not published; set crud.enabled of the server, or add crudSource() to the sources of the gateway';
    case 'partition':
      return `partitions are not published; put the comment on the partitioned table ${detail ?? ''}`;
  }
}

/** Checks the privileges of the role known at start, which is the anonymous role or that of the connection, and the owners of views. */
async function checkPrivileges(
  database: Database,
  { routines, endpoints }: CatalogSnapshot,
  { authentication, connectionProvider }: ResolvedOptions,
  observe: Observer,
): Promise<readonly Diagnostic[]> {
  const { databaseRole } = authentication;
  const anonymous = databaseRole?.anonymous ?? null;
  if (connectionProvider !== null) return [];
  const routinesBySignature = new Map(routines.map((routine) => [routine.signature, routine]));
  const routinesOf = (called: readonly Endpoint[]): readonly Routine[] =>
    called.flatMap(({ id }) => routinesBySignature.get(id) ?? []);
  const own = endpoints.filter(({ connection }) => connection === null);
  const views = await checkOwnerViews(database, routinesOf(own), databaseRole === null);
  const published = routinesOf(own.filter(({ authorization }) => databaseRole === null || !authorization.required));
  if (published.length === 0) return views;
  const tables = groupTables(published);
  const schemas = [...new Set(published.map(({ schema }) => schema))];
  const missing = await readMissingPrivileges(database, anonymous, { schemas, tables: [...tables.values()] });
  if (missing.role === null) {
    const message = `authentication.databaseRole.anonymous: the role ${display(anonymous ?? '')} does not exist; create it, or every anonymous call fails`;
    observe({ kind: 'start-warning', code: 'unknown-role', message });
  } else if (missing.nonMember !== null) {
    const [role, member] = [display(missing.role), display(missing.nonMember)];
    const message = `authentication.databaseRole.anonymous: the gateway connects as ${member}, which is not a member of the role ${role}, so every anonymous call gets a 403; grant ${role} to ${member}`;
    observe({ kind: 'start-warning', code: 'role-not-granted', message });
  }
  const warn = (routine: string, lack: MissingPrivilege | null): readonly Diagnostic[] => {
    if (lack === null) return [];
    const role = display(missing.role ?? '');
    const message = `the role ${role} has no ${lack.privilege}, so ${lack.calls} get a 403; grant ${lack.grant} to ${role}`;
    const { ofSeveral } = lack;
    const summary = `the role ${role} has no ${ofSeveral.privilege}, so calls get a 403; grant ${ofSeveral.grant} to ${role}`;
    return [{ severity: 'warning', code: 'missing-privilege', routine, line: null, message, summary }];
  };
  return [
    ...published.flatMap((routine) =>
      routine.table === undefined ? warn(routine.signature, lackOfRoutine(routine, missing)) : [],
    ),
    ...[...tables.values()].flatMap((table) => [
      ...warn(table.signature, lackOfTable(table, missing, databaseRole === null)),
      ...warnOfPolicies(table, missing),
    ]),
    ...views,
  ];
}

/** Row level security without a policy shows no row, which looks like an empty table. */
function warnOfPolicies(
  { schema, name, signature }: PublishedTable,
  missing: MissingPrivileges,
): readonly Diagnostic[] {
  if (!missing.withoutPolicies.has(tableKey({ schema, name }))) return [];
  const table = `${display(schema)}.${display(name)}`;
  const effect = `so the role ${display(missing.role ?? '')} reads no row and writes none`;
  const example = (name: string): string => `as in create policy … on ${name} for select using (…)`;
  const message = `row level security is enabled for ${table}, and it has no policy, ${effect}; create one, ${example(table)}`;
  const summary = `row level security is enabled for these tables, and they have no policy, ${effect}; create policies, ${example('…')}`;
  return [{ severity: 'warning', code: 'no-policy', routine: signature, line: null, message, summary }];
}

/** A table or view with the signature of its first endpoint, and the privileges that its endpoints need. */
interface PublishedTable {
  readonly schema: string;
  readonly name: string;
  readonly signature: string;
  readonly needed: ReadonlySet<string>;
}

/** Returns the tables and views of endpoints, each once. */
function groupTables(published: readonly Routine[]): ReadonlyMap<string, PublishedTable> {
  const tables = new Map<string, PublishedTable & { readonly needed: Set<string> }>();
  for (const { schema, name, signature, table } of published) {
    if (table === undefined) continue;
    const key = tableKey({ schema, name });
    const found = tables.get(key) ?? { schema, name, signature, needed: new Set<string>() };
    tables.set(key, found);
    for (const privilege of neededPrivileges(table.operation)) found.needed.add(privilege);
  }
  return tables;
}

/** Rows to update or delete are found by their columns, and returned rows are read. */
function neededPrivileges(operation: TableOperation): readonly string[] {
  if (operation === 'select') return ['select'];
  if (operation.startsWith('insert')) return operation.endsWith('Returning') ? ['insert', 'select'] : ['insert'];
  return [operation.startsWith('update') ? 'update' : 'delete', 'select'];
}

interface MissingPrivilege {
  readonly privilege: string;
  readonly grant: string;
  /** Both when one line tells of several routines or tables. */
  readonly ofSeveral: Pick<MissingPrivilege, 'privilege' | 'grant'>;
  /** The calls that fail. */
  readonly calls: string;
}

function lackOfSchema(schema: string, { schemas }: MissingPrivileges): MissingPrivilege | null {
  if (!schemas.has(schema)) return null;
  const object = `schema ${display(schema)}`;
  const lack = { privilege: `USAGE on the ${object}`, grant: `usage on ${object}` };
  return { ...lack, ofSeveral: lack, calls: 'its calls' };
}

function lackOfRoutine(
  { schema, name, kind, parameters, signature }: Routine,
  missing: MissingPrivileges,
): MissingPrivilege | null {
  const ofSchema = lackOfSchema(schema, missing);
  if (ofSchema !== null) return ofSchema;
  const types = parameters.map(({ type }) => type.oid);
  if (!missing.routines.has(routineKey(schema, name, types))) return null;
  return {
    privilege: `EXECUTE on this ${kind}`,
    grant: `execute on ${kind} ${signature}`,
    ofSeveral: { privilege: 'EXECUTE on these routines', grant: 'execute on each routine' },
    calls: 'its calls',
  };
}

/** @param hasOneRole whether all callers have the role; where roles differ, an anonymous one often may only read */
function lackOfTable(
  { schema, name, needed }: PublishedTable,
  missing: MissingPrivileges,
  hasOneRole: boolean,
): MissingPrivilege | null {
  const ofSchema = lackOfSchema(schema, missing);
  if (ofSchema !== null) return ofSchema;
  const lacks = (missing.tables.get(tableKey({ schema, name })) ?? []).filter(
    (privilege) => needed.has(privilege) && (hasOneRole || privilege === 'select'),
  );
  if (lacks.length === 0) return null;
  const list = lacks.join(', ');
  return {
    privilege: `${list.toUpperCase()} on this table`,
    grant: `${list} on table ${display(schema)}.${display(name)}`,
    ofSeveral: { privilege: `${list.toUpperCase()} on these tables`, grant: `${list} on each table` },
    calls: 'the calls that need it',
  };
}
