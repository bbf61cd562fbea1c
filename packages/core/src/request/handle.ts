import type { GatewayRequest } from '../http/request.ts';
import type { Handle } from '../http/response.ts';
import { attempt } from './attempt.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import { handleError } from './error-handler.ts';
import type { Attempt, Refused } from './attempted.ts';
import type { Pipeline } from './pipeline.ts';
import { type Heal, isStale, mayRepeat } from './stale.ts';

/** Answers requests with what is published; where that is stale, with what a refresh gives, once. */
export function createHandle(pipeline: () => Pipeline, heal: Heal): Handle {
  return async (request) => {
    // A refresh swaps the pipeline; an attempt stays with the one it began with.
    const first = await attempt(request, pipeline(), null);
    if ('response' in first) return first.response;
    const second = await repeated(first, request, heal);
    if ('response' in second) return second.response;
    const { error, caller, current } = second;
    return withCallerHeaders(await handleError(error, request, second, current), caller);
  };
}

async function repeated(first: Refused, request: GatewayRequest, heal: Heal): Promise<Attempt> {
  const { error, call, current, given } = first;
  if (call === null || !isStale(error)) return first;
  const { endpoint } = call.candidate;
  const next = await heal(current, endpoint, error);
  return next !== null && mayRepeat(error, endpoint, current) ? attempt(request, next, given) : first;
}
