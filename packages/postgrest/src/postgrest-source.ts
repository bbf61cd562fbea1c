import type { CrudSource, Database, Endpoint, EndpointSource, Filters, Routine } from '@pgway/core';
import {
  decodeForeignKeys,
  decodeRepresentations,
  decodeViewColumns,
  filterValues,
  foreignKeysSql,
  listRoutines,
  queryCatalog,
  readFingerprint,
  readTables,
  representationsSql,
  resolveFilters,
  tablesSql,
  viewColumnsSql,
} from '@pgway/core/internal';
import { buildPostgrestQuery } from './build-query.ts';
import { postgrestDialect } from './dialect.ts';
import { postgrestTable } from './dialect-table.ts';
import { type PostgrestSourceOptions, resolvePostgrestOptions } from './options.ts';
import { postgrestOperations, toPostgrestRoutine } from './postgrest-routines.ts';
import { keepKeyFacts } from './key-facts.ts';
import { createReadModels } from './read-models.ts';
import { decodeMediaHandlers } from './read/media-handlers.ts';
import { mediaHandlersSql } from './read/media-handlers.sql.ts';
import { createRpcEndpoints } from './rpc/rpc-endpoints.ts';
import { createRoot, isRoot, keepResources } from './root/root-endpoint.ts';
import { compareSchemas } from './schema-order.ts';
import { readTimeZones } from './time-zones.ts';
import { checkPreRequest } from './transaction-options.ts';

/** A source of tables, views and functions in the dialect of PostgREST. */
export type PostgrestSource = CrudSource &
  Required<Pick<EndpointSource, 'dialect' | 'endpointsLoaded' | 'deriveEndpoints'>>;

/**
 * Returns the source of tables and views in the dialect of PostgREST, at `<path>/<table>`, and of the functions that other sources
 * publish, at `<path>/rpc/<function>`. Reading throws `MalformedRow` for an invalid row of a custom query, and errors of the database.
 * @throws RangeError that names an invalid option
 */
export function postgrestSource(options: PostgrestSourceOptions = {}): PostgrestSource {
  const resolved = resolvePostgrestOptions(options);
  const { query, created } = resolved;
  return Object.freeze({
    name: postgrestDialect.name,
    readsTables: true,
    dialect: postgrestDialect,
    ...(query === null
      ? {
          fingerprint: (database: Database, filters: Filters) =>
            readFingerprint(database, fingerprintSql, filterValues(resolveFilters(resolved, filters))),
        }
      : {}),
    async read(database, filters) {
      const applied = resolveFilters(resolved, filters);
      await checkPreRequest(database, resolved);
      const tables = await readTables(database, applied, { query, keepsDefaults: true });
      const routines = await listRoutines(
        // The first schema with a name has the requests that name no schema.
        tables.toSorted(compareSchemas(applied.includeSchemas ?? null)),
        (table) => postgrestOperations(table, resolved),
        (table, operation) => toPostgrestRoutine(table, operation, resolved),
        created,
      );
      await readKeyFacts(database, routines);
      return routines;
    },
    buildQuery: buildPostgrestQuery,
    endpointsLoaded: (endpoints: readonly Endpoint[]) => {
      const resources = endpoints.filter((endpoint) => !isRoot(endpoint));
      createReadModels(resources);
      for (const root of endpoints.filter(isRoot)) keepResources(root, resources);
    },
    deriveEndpoints: (
      endpoints: readonly Endpoint[],
      routines: readonly Routine[],
      includeSchemas?: readonly string[] | null,
    ) => {
      const order = compareSchemas(resolved.includeSchemas ?? includeSchemas ?? null);
      const ordered = endpoints.toSorted(order);
      const functions = createRpcEndpoints(ordered, routines, resolved);
      const tables = ordered.filter(({ table, dialect }) => table !== null && dialect === postgrestDialect.name);
      const own = tables.filter(({ table }) => postgrestTable(table!).path === resolved.path);
      return [...functions, ...createRoot([...own, ...functions].toSorted(order), resolved)];
    },
  } satisfies PostgrestSource);
}

/** Foreign keys, the views that show their columns, and casts of domains are part of what the endpoints depend on. */
const fingerprintSql = `${tablesSql} union all select 'foreign key', keys.facts from (${foreignKeysSql}) keys (facts)
      union all select 'view column', columns.facts from (${viewColumnsSql}) columns (facts)
      union all select 'cast', casts.facts from (${representationsSql}) casts (facts)
      union all select 'handler', handlers.facts from (${mediaHandlersSql}) handlers (facts)`;

async function readKeyFacts(database: Database, routines: readonly Routine[]): Promise<void> {
  const foreignKeys = decodeForeignKeys(await queryCatalog(database, foreignKeysSql, []));
  const viewColumns = decodeViewColumns(await queryCatalog(database, viewColumnsSql, []));
  const representations = decodeRepresentations(await queryCatalog(database, representationsSql, []));
  const handlers = decodeMediaHandlers(await queryCatalog(database, mediaHandlersSql, []));
  keepKeyFacts(
    routines.map(({ table }) => postgrestTable(table!)),
    { foreignKeys, viewColumns, representations, handlers, timeZones: await readTimeZones(database) },
  );
}
