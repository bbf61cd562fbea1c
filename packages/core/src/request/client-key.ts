import { clientNetwork } from '../http/client-network.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { ClientKey } from '../postgres/port.ts';

/** Returns the client of a request; undefined: unknown. */
export function clientKey({
  connection,
  remoteAddress,
}: Pick<GatewayRequest, 'connection' | 'remoteAddress'>): ClientKey | undefined {
  return connection ?? (remoteAddress === undefined ? undefined : clientNetwork(remoteAddress));
}
