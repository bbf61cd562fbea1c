import { readConstraints } from '../catalog/constraints.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Observer } from '../ports/ports.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import type { Connections } from './connections.ts';
import { toError } from '../to-error.ts';

/** Reads the constraints of databases whose endpoints list field errors, by connection name (null: main). Never rejects. */
export async function readConstraintsByConnection(
  endpoints: readonly Endpoint[],
  { main, named }: Connections,
  observe: Observer,
): Promise<RequestPipeline['constraints']> {
  const listing = endpoints.filter(({ fieldErrors }) => fieldErrors !== undefined);
  const names = [...new Set(listing.map(({ connection }) => connection))];
  const reads = names.map(async (name) => {
    const database = name === null ? main : named.get(name)!;
    try {
      return [[name, await readConstraints(database)] as const];
    } catch (error) {
      const reason = toError(error).message;
      const message = `the constraints${name === null ? '' : ` of the connection ${JSON.stringify(name)}`} could not be read (${reason}); until the next refresh, field errors have the names in PostgreSQL's errors only`;
      observe({ kind: 'start-warning', code: 'constraints-not-read', message });
      return [];
    }
  });
  return new Map((await Promise.all(reads)).flat());
}
