import type { SessionEffects, SessionEffectsLookup } from '../catalog/routine.ts';
import type { Endpoint } from './endpoint.ts';
import { deepFreeze } from './deep-freeze.ts';

export interface SessionEffectsOptions {
  /** The session effects of routines and tables, by connection name; null is the default connection. */
  readonly uses: ReadonlyMap<string | null, SessionEffectsLookup>;
  readonly connectionReset: 'auto' | 'always' | 'never';
  /** The statements of endpoints that do not call a routine, by the endpoint's id. */
  readonly statements: ReadonlyMap<string, string>;
}

/** Adds the session effects of its calls to the endpoint. */
export function addSessionEffects(
  endpoint: Endpoint,
  { uses, connectionReset, statements }: SessionEffectsOptions,
): Endpoint {
  const { alters, altersTransaction, mayBlock, readsSequences, mayPrepare } =
    endpoint.sessionEffects ??
    findSessionEffects(endpoint, uses.get(endpoint.connection)!, statements.get(endpoint.id));
  const isReset = needsReset({ alters: endpoint.connectionReset ?? alters }, { connectionReset });
  // A configured reset protects from effects that the text of the routine does not show, prepared statements among them.
  const isAsked = connectionReset === 'always' || endpoint.connectionReset === true;
  const sessionEffects = {
    alters: isReset,
    altersTransaction: altersTransaction || isReset,
    mayBlock,
    ...(readsSequences === true ? { readsSequences } : {}),
    ...(isReset && (isAsked || mayPrepare === true) ? { mayPrepare: true as const } : {}),
  };
  return sessionEffects.altersTransaction || mayBlock || readsSequences === true
    ? deepFreeze({ ...endpoint, sessionEffects })
    : endpoint;
}

/** Returns whether the connection must be reset after a call with these effects. */
export function needsReset(
  { alters }: Pick<SessionEffects, 'alters'>,
  { connectionReset }: Pick<SessionEffectsOptions, 'connectionReset'>,
): boolean {
  return connectionReset === 'auto' ? alters : connectionReset === 'always';
}

function findSessionEffects(
  { table, schema, name, parameters }: Endpoint,
  uses: SessionEffectsLookup,
  statement: string | undefined,
): SessionEffects {
  if (statement !== undefined) return uses.statement(statement);
  if (table === null) {
    const queries = parameters.flatMap(({ query }) => (query === undefined ? [] : [uses.statement(query.text)]));
    return [uses.routine(schema, name), ...queries].reduce(joinEffects);
  }
  const effects = uses.relation(schema, name);
  return { ...effects, mayBlock: effects.mayBlock || table.operation !== 'select' };
}

function joinEffects(left: SessionEffects, right: SessionEffects): SessionEffects {
  return {
    alters: left.alters || right.alters,
    altersTransaction: left.altersTransaction || right.altersTransaction,
    mayBlock: left.mayBlock || right.mayBlock,
    ...(left.readsSequences === true || right.readsSequences === true ? { readsSequences: true } : {}),
    ...(left.mayPrepare === true || right.mayPrepare === true ? { mayPrepare: true } : {}),
  };
}
