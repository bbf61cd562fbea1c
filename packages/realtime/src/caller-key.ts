import { createHash } from 'node:crypto';
import type { GatewayRequest } from '@pgway/core';
import { type ChangeIdentity, clientNetwork } from '@pgway/core/internal';

/**
 * Returns what the limits of a caller count by: all clients of an application may share the key of anonymous callers.
 * @param identity null: it is not known yet
 */
export function callerKey(
  identity: ChangeIdentity | null,
  { remoteAddress }: Pick<GatewayRequest, 'remoteAddress'>,
): string {
  const network = remoteAddress === undefined ? '' : clientNetwork(remoteAddress);
  // Claims may be long.
  return createHash('sha256')
    .update(JSON.stringify([identity?.role ?? null, identity?.key ?? null, network]))
    .digest('base64');
}
