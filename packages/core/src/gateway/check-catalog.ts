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

/** One reading of the sources and what was planned of it. */
export interface CatalogSnapshot {
  readonly routines: readonly Routine[];
  readonly sources: readonly EndpointSource[];
  readonly endpoints: readonly Endpoint[];
}

/** Compares what was asked for with the catalog: objects with an `HTTP` line that cannot be published, and privileges that are missing. */
export async function checkCatalog(
  database: Database,
  reading: CatalogSnapshot,
  options: ResolvedOptions,
  observe: Observer,
): Promise<readonly Diagnostic[]> {
  await warnOfSchemas(database, options, observe);
  return [
    ...(await tellUnpublishable(database, reading, options)),
    ...(await tellPrivileges(database, reading, options, observe)),
  ];
}

async function warnOfSchemas(database: Database, options: ResolvedOptions, observe: Observer): Promise<void> {
  const asked = (['includeSchemas', 'excludeSchemas'] as const).flatMap((option) =>
    (options[option] ?? []).map((schema) => ({ option, schema })),
  );
  if (asked.length === 0) return;
  const known = await readSchemaNames(database);
  for (const { option, schema } of asked.filter((one) => !known.includes(one.schema))) {
    const near = nearestName(schema, known);
    const hint = near === null ? 'create it, or take it out of the option' : `did you mean ${display(near)}?`;
    const message = `${option}: there is no schema ${display(schema)} in the database; ${hint}`;
    observe({ kind: 'start-warning', code: 'unknown-schema', message });
  }
}

const hasHttpLine = ({ comment }: UnsupportedObject): boolean =>
  lexComment(comment).some(({ words: [first = ''] }) => first.toLowerCase() === 'http');

async function tellUnpublishable(
  database: Database,
  { sources }: CatalogSnapshot,
  options: ResolvedOptions,
): Promise<readonly Diagnostic[]> {
  const has = (name: string): boolean => sources.some((source) => source.name === name);
  if (options.commentsMode === 'ignore' || options.query !== null) return [];
  const found = await readUnsupportedObjects(database, options);
  return found
    .filter((one) => hasHttpLine(one) && has(one.kind === 'partition' ? 'crud' : 'functions'))
    .map((one) => ({
      severity: 'error',
      code: 'unpublishable',
      routine: one.signature,
      line: null,
      message: `the comment has an HTTP line, but ${reasonFor(one)}`,
    }));
}

function reasonFor({ kind, detail }: UnsupportedObject): string {
  switch (kind) {
    case 'aggregate':
      return 'an aggregate takes the rows of a query and not a request; publish a function that calls it';
    case 'window':
      return 'a window function takes the rows of a query and not a request; publish a function that calls it';
    case 'language':
      return `functions of the language ${detail} are not published, whose parameters may be no values (internal, "any"); publish an SQL function that calls it`;
    case 'partition':
      return `a partition is reached by its table; comment on ${detail}`;
  }
}

/** The role whose calls are known at start: the anonymous one, or that of the connection. The roles of signed-in callers come with them. */
async function tellPrivileges(
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
    const message = `authentication.databaseRole.anonymous: there is no role ${display(anonymous ?? '')}; create it, or every call without a role fails`;
    observe({ kind: 'start-warning', code: 'unknown-role', message });
  }
  const bySignature = new Map(routines.map((routine) => [routine.signature, routine]));
  return called.flatMap((endpoint) => {
    const routine = bySignature.get(endpoint.id);
    const what = routine === undefined ? null : lacking(routine, missing);
    if (what === null) return [];
    const role = display(missing.role ?? '');
    const message = `the role ${role} has no ${what.privilege}, so that its calls are answered 403; grant ${what.grant} to ${role}`;
    return [{ severity: 'warning', code: 'missing-privilege', routine: endpoint.id, line: null, message }];
  });
}

function lacking(
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
