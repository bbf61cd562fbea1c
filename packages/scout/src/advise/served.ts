/** The relations and routines that endpoints publish. */
import { groupBy } from '@pgway/core/internal';
import type { Command, Named, Relation, Routine, Served, ServedEndpoint, ServedRelation } from './facts.ts';

/** Finds the objects of the endpoints. Those of other connections and of SQL files are in no catalog that was read. */
export function servedObjects(
  endpoints: readonly ServedEndpoint[],
  relations: ReadonlyMap<number, Relation>,
  routines: readonly Routine[],
): Served {
  const own = endpoints.filter(({ connection }) => connection === null);
  const relationsByName = new Map([...relations.values()].map((relation) => [key(relation), relation]));
  const routinesByName = groupBy(routines, (routine) => `${key(routine)}${routine.argumentTypes.join()}`);
  const servedRelations = new Map<number, ServedRelation>();
  const servedRoutines = new Map<number, ServedEndpoint[]>();
  for (const endpoint of own) {
    if (endpoint.table !== null) {
      const relation = relationsByName.get(key(endpoint));
      if (relation !== undefined)
        servedRelations.set(relation.oid, joined(servedRelations.get(relation.oid), endpoint));
      continue;
    }
    const types = endpoint.parameters.map(({ type }) => type.oid).join();
    const [routine] = routinesByName.get(`${key(endpoint)}${types}`) ?? [];
    if (routine !== undefined) servedRoutines.set(routine.oid, [...(servedRoutines.get(routine.oid) ?? []), endpoint]);
  }
  return { relations: servedRelations, routines: servedRoutines };
}

/** Returns a text that no other name has. */
function key({ schema, name }: Pick<Named, 'schema' | 'name'>): string {
  return JSON.stringify([schema, name]);
}

function joined(served: ServedRelation | undefined, endpoint: ServedEndpoint): ServedRelation {
  const commands = [...(served?.commands ?? []), ...commandsOf(endpoint.table!.operation)];
  return { endpoints: [...(served?.endpoints ?? []), endpoint], commands: new Set(commands) };
}

function commandsOf(operation: NonNullable<ServedEndpoint['table']>['operation']): readonly Command[] {
  const own: Command = operation.startsWith('update')
    ? 'UPDATE'
    : operation.startsWith('delete')
      ? 'DELETE'
      : operation.startsWith('insert')
        ? 'INSERT'
        : 'SELECT';
  const isUpsert = operation.startsWith('insertOnConflictDoUpdate');
  const isReturning = operation.endsWith('Returning');
  return [own, ...(isUpsert ? (['UPDATE'] as const) : []), ...(isReturning ? (['SELECT'] as const) : [])];
}

/** Returns method and path of the first endpoint, and how many there are beside it. */
export function endpointText(endpoints: readonly ServedEndpoint[]): string {
  const [first, ...others] = endpoints;
  const text = `${first!.method} ${first!.path}`;
  return others.length === 0 ? text : `${text} and ${others.length} more`;
}
