import { display, type Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { idempotencyPrivilege } from '../endpoints/idempotency-store.ts';
import type { Database } from '../postgres/port.ts';
import type { Connections } from './connections.ts';
import type { EndpointSource } from './endpoint-source.ts';
import type { ResolvedOptions } from './options/options.ts';

/**
 * Returns the endpoints without those whose idempotency keys cannot be stored, with a diagnostic for each: such an endpoint would run repeated
 * requests twice.
 */
export async function checkIdempotency(
  endpoints: readonly Endpoint[],
  sources: readonly EndpointSource[],
  connections: Connections,
  options: ResolvedOptions,
): Promise<{ readonly endpoints: readonly Endpoint[]; readonly diagnostics: readonly Diagnostic[] }> {
  const names = new Set(
    endpoints.flatMap(({ idempotency, connection }) => (idempotency === undefined ? [] : [connection])),
  );
  if (names.size === 0) return { endpoints, diagnostics: [] };
  const building = new Map(
    sources.flatMap((source) => (source.buildQuery === undefined ? [] : [[source.name, source]])),
  );
  const checks = [...names].map(async (name) => {
    const database = name === null ? connections.main : connections.named.get(name)!;
    return [name, await findStoreFault(database, options.idempotency.schema)] as const;
  });
  const storeFaults = new Map(await Promise.all(checks));
  const diagnostics: Diagnostic[] = [];
  const usable = endpoints.filter((endpoint) => {
    const { idempotency, connection, source, id } = endpoint;
    if (idempotency === undefined) return true;
    const ofStore =
      options.connectionProvider === null || options.connectionProvider.isolatesCalls === true
        ? storeFaults.get(connection)!
        : 'a repeated key is an error, which would abort the transaction of a connectionProvider; give each call a savepoint and set isolatesCalls, or remove the line';
    const fault = findSourceFault(building.get(source), endpoint) ?? ofStore;
    if (fault === null) return true;
    diagnostics.push({
      severity: 'error',
      code: 'idempotent',
      routine: id,
      line: null,
      message: `idempotent: ${fault}`,
    });
    return false;
  });
  return { endpoints: usable, diagnostics };
}

function findSourceFault(source: EndpointSource | undefined, endpoint: Endpoint): string | null {
  if (source === undefined) return null;
  if (source.findIdempotencyFault !== undefined) return source.findIdempotencyFault(endpoint);
  return 'its statement is built for each request; only calls of functions, procedures and SQL files can have idempotency keys';
}

/** Returns why keys cannot be stored in the database, and what to do; null when they can. */
async function findStoreFault(database: Database, schema: string): Promise<string | null> {
  try {
    const [row] = await database.query(`select (${idempotencyPrivilege(schema)}), current_user`);
    if (row?.[0] === 't') return null;
    const user = row?.[1] ?? '';
    return row?.[0] === 'f'
      ? `the role ${display(user)} may not use the store of idempotency keys; run pgway install idempotency ${user}`
      : `the store of idempotency keys is not in the schema ${display(schema)}; run pgway install idempotency`;
  } catch (error) {
    return `the store of idempotency keys could not be checked: ${(error as Error).message}`;
  }
}
