import type { SessionEffects, SessionEffectsLookup } from '../catalog/routine.ts';
import type { Endpoint } from './endpoint.ts';
import { deepFreeze } from './deep-freeze.ts';

export interface SessionEffectsOptions {
  /** What routines and tables do in the database that a connection leads to, by its name; null is the gateway's own. */
  readonly uses: ReadonlyMap<string | null, SessionEffectsLookup>;
  readonly connectionReset: 'auto' | 'always' | 'never';
  /** The statements of endpoints that do not call a routine, by the endpoint's id. */
  readonly statements: ReadonlyMap<string, string>;
}

/** Adds what the calls of each endpoint may do to their session. */
export function addSessionEffects(
  endpoints: readonly Endpoint[],
  { uses, connectionReset, statements }: SessionEffectsOptions,
): readonly Endpoint[] {
  return endpoints.map((endpoint) => {
    const { alters, mayBlock } =
      endpoint.sessionEffects ?? sessionUseOf(endpoint, uses.get(endpoint.connection)!, statements.get(endpoint.id));
    const use = { alters: endpoint.connectionReset ?? alters, mayBlock };
    const sessionEffects = { alters: needsReset(use, { connectionReset }), mayBlock };
    return sessionEffects.alters || mayBlock ? deepFreeze({ ...endpoint, sessionEffects }) : endpoint;
  });
}

/** Whether the connection is reset behind what may do this to its session. */
export function needsReset(
  { alters }: SessionEffects,
  { connectionReset }: Pick<SessionEffectsOptions, 'connectionReset'>,
): boolean {
  return connectionReset === 'auto' ? alters : connectionReset === 'always';
}

function sessionUseOf(
  { table, schema, name }: Endpoint,
  uses: SessionEffectsLookup,
  statement: string | undefined,
): SessionEffects {
  if (statement !== undefined) return uses.statement(statement);
  if (table === null) return uses.routine(schema, name);
  const { alters, mayBlock } = uses.relation(schema, name);
  return { alters, mayBlock: mayBlock || table.operation !== 'select' };
}
