import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../plan/endpoint.ts';
import type { AuthScheme, Caller } from './ports.ts';

/** What says who may call: an endpoint, or whatever else is guarded in its manner. */
interface Guarded {
  readonly endpoint: Pick<Endpoint, 'authorization'>;
}

/**
 * Lets through the endpoints that this caller may call, before anything is read from the body.
 * @throws Problem 401 when being signed in would help, 403 when it would not
 */
export async function admit<Candidate extends Guarded>(
  candidates: readonly Candidate[],
  request: GatewayRequest,
  schemes: readonly AuthScheme[],
): Promise<readonly Candidate[]> {
  const caller = await identify(request, schemes);
  const admitted = candidates.filter(({ endpoint }) => mayCall(endpoint, caller));
  if (admitted.length > 0) return admitted;
  throw new Problem(caller === null ? 'unauthenticated' : 'forbidden');
}

/** Whether every caller may call all of them: then nobody has to be identified. */
export function open(candidates: readonly Guarded[]): boolean {
  for (const { endpoint } of candidates) if (endpoint.authorization.required) return false;
  return true;
}

async function identify(request: GatewayRequest, schemes: readonly AuthScheme[]): Promise<Caller | null> {
  for (const scheme of schemes) {
    // One after the other: the first scheme that trusts what it sees decides.
    // oxlint-disable-next-line no-await-in-loop
    const caller = await scheme.authenticate(request);
    if (caller !== null) return caller;
  }
  return null;
}

function mayCall(endpoint: Guarded['endpoint'], caller: Caller | null): boolean {
  const { required, roles } = endpoint.authorization;
  if (!required) return true;
  if (caller === null) return false;
  return (
    roles.length === 0 || roles.some((role) => caller.roles.some((own) => own.toLowerCase() === role.toLowerCase()))
  );
}
