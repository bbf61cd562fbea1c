import type { Endpoint } from './endpoint.ts';

/**
 * Returns whether calls of an endpoint may run on a read replica: those that only read, by their declaration, and that raise no events. A
 * repeated call would raise an event twice.
 * @param byDefault the consistency of endpoints whose comment sets none
 */
export function canUseReplica(endpoint: Endpoint, byDefault: NonNullable<Endpoint['consistency']>): boolean {
  const { kind, volatility, table, connection, consistency = byDefault } = endpoint;
  if (consistency === 'strong' || connection !== null || volatility === 'volatile' || kind === 'procedure')
    return false;
  if (table !== null && table.operation !== 'select') return false;
  const { loginOrLogout, upload, events, invalidates } = endpoint;
  return loginOrLogout === null && upload === null && events === null && invalidates.length === 0;
}
