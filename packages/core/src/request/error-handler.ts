import { CallCancelled } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { databaseOf } from './execute.ts';
import { toProblem } from './to-problem.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { Pipeline } from './pipeline.ts';
import { problemResponse } from './problem-response.ts';
import { refusedParameter } from './refused-parameter.ts';
import { isStale } from './stale.ts';
import { statusesOfLogin } from './sqlstate.ts';

/** How far a request came. */
interface Attempt {
  readonly call: ExecutableCall | null;
  readonly targets: readonly Pick<CompiledEndpoint, 'endpoint'>[];
}

/** The answer to a request whose stage has thrown; the observer hears of it. */
export async function handleError(
  error: unknown,
  request: GatewayRequest,
  { call, targets }: Attempt,
  pipeline: Pipeline,
): Promise<GatewayResponse> {
  const { refusal, observe } = pipeline;
  // Nobody is left to answer; the host closes what is still open.
  if (error instanceof CallCancelled) return { kind: 'whole', status: 499, headers: [], body: null };
  const endpoint = meant({ call, targets });
  const database = endpoint === null ? pipeline.database : databaseOf(pipeline, endpoint);
  const refused = isStale(error) ? null : await refusedParameter(error, call, database);
  const constraintMessages = endpoint?.constraintMessages ?? {};
  const { mappedCodes, showRowDetails: rowDetails } = refusal;
  const statuses = endpoint?.signIn?.kind === 'login' ? statusesOfLogin(mappedCodes) : mappedCodes;
  const problem = toProblem(error, { statuses, refused, constraintMessages, rowDetails });
  const correlationId = problem.status >= 500 || !refusal.showDatabaseMessage ? request.id : null;
  const reason = error instanceof Error ? error : new Error(String(error));
  observe({ kind: 'request-failed', request, endpoint, status: problem.status, correlationId, error: reason });
  return problemResponse(problem, correlationId, refusal);
}

/** Of overloads, none was meant before one was chosen. */
function meant({ call, targets }: Attempt): Endpoint | null {
  const [candidate = null] = call !== null ? [call.candidate] : targets.length === 1 ? targets : [];
  return candidate?.endpoint ?? null;
}
