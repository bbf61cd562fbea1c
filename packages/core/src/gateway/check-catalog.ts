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
import type { Database } from '../postgres/port.ts';
import type { ResolvedOptions, EndpointSource } from './options/options.ts';
import type { Observer } from '../ports/ports.ts';
import { type Diagnostic, display } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { nearestName } from '../validation/suggestion.ts';

/** The routines of all sources, and the endpoints built from them. */
export interface CatalogSnapshot {
  readonly routines: readonly Routine[];
  readonly sources: readonly EndpointSource[];
  readonly endpoints: readonly Endpoint[];
}

/**
 * Compares options and comments with the catalog. Returns diagnostics for objects with an `HTTP` line that cannot be published, and for
 * missing privileges; warns of unknown schemas.
 */
export async function checkCatalog(
  database: Database,
  snapshot: CatalogSnapshot,
  options: ResolvedOptions,
  observe: Observer,
): Promise<readonly Diagnostic[]> {
  await checkSchemaOptions(database, options, observe);
  return [
    ...(await checkUnsupportedObjects(database, snapshot, options)),
    ...(await checkPrivileges(database, snapshot, options, observe)),
  ];
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
  return found
    .filter((object) => hasHttpLine(object) && hasSource(object.kind === 'partition' ? 'crud' : 'functions'))
    .map((object) => ({
      severity: 'error',
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
      return `functions of the language ${detail} are not published, as their parameters may have pseudo-types such as internal; publish an SQL function that calls it`;
    case 'partition':
      return `partitions are not published; put the comment on the partitioned table ${detail}`;
  }
}

/** Checks the privileges of the role known at start: the anonymous role, or the role of the connection. */
async function checkPrivileges(
  database: Database,
  { routines, endpoints }: CatalogSnapshot,
  { authentication, connectionProvider }: ResolvedOptions,
  observe: Observer,
): Promise<readonly Diagnostic[]> {
  const { databaseRole } = authentication;
  const anonymous = databaseRole?.anonymous ?? null;
  if (connectionProvider !== null) return [];
  const called = endpoints.filter(
    ({ connection, authorization }) => connection === null && (databaseRole === null || !authorization.required),
  );
  if (called.length === 0) return [];
  const schemas = [...new Set(called.map(({ schema }) => schema))];
  const missing = await readMissingPrivileges(database, anonymous, schemas);
  if (missing.role === null) {
    const message = `authentication.databaseRole.anonymous: the role ${display(anonymous ?? '')} does not exist; create it, or every anonymous call fails`;
    observe({ kind: 'start-warning', code: 'unknown-role', message });
  }
  if (missing.schemas.size === 0 && missing.routines.size === 0) return [];
  const routinesBySignature = new Map(routines.map((routine) => [routine.signature, routine]));
  return called.flatMap((endpoint) => {
    const routine = routinesBySignature.get(endpoint.id);
    const lack = routine === undefined ? null : findMissingPrivilege(routine, missing);
    if (lack === null) return [];
    const role = display(missing.role ?? '');
    const message = `the role ${role} has no ${lack.privilege}, so its calls get a 403; grant ${lack.grant} to ${role}`;
    return [{ severity: 'warning', code: 'missing-privilege', routine: endpoint.id, line: null, message }];
  });
}

function findMissingPrivilege(
  { schema, name, kind, table, parameters, signature }: Routine,
  missing: MissingPrivileges,
): { readonly privilege: string; readonly grant: string } | null {
  if (missing.schemas.has(schema)) {
    return { privilege: `USAGE on the schema ${display(schema)}`, grant: `usage on schema ${display(schema)}` };
  }
  const types = parameters.map(({ type }) => type.oid);
  if (table !== undefined || !missing.routines.has(routineKey(schema, name, types))) return null;
  return { privilege: `EXECUTE on this ${kind}`, grant: `execute on ${kind} ${signature}` };
}
