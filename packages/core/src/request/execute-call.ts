import type { Caller } from '../ports/ports.ts';
import { executeCached } from './cache/cached-execution.ts';
import type { CallResult, ExecutionInput } from './execute.ts';
import { authorizeRepeated } from './idempotency/authorize-repeated.ts';
import { executeOnce } from './idempotency/execute-once.ts';
import type { RequestPipeline } from './pipeline.ts';
import { executeUpload } from './upload/execute-upload.ts';

/** Executes a call in the way of its endpoint: with an upload, an idempotency key, or the response cache. */
export function executeCall(
  pipeline: RequestPipeline,
  execution: ExecutionInput,
  caller: Caller | null,
): CallResult | Promise<CallResult> {
  const { endpoint, idempotency } = execution.call.candidate;
  if (pipeline.authorizesRepeated) return authorizeRepeated(pipeline, execution.call);
  if (endpoint.upload !== null) return executeUpload(pipeline, execution);
  return idempotency === null ? executeCached(pipeline, execution, caller) : executeOnce(pipeline, execution, caller);
}
