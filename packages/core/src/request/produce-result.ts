import { executeCached } from './cache/cached-execution.ts';
import type { CallResult, ExecutionInput } from './execution.ts';
import { authorizeRepeated } from './idempotency/authorize-repeated.ts';
import { executeOnce } from './idempotency/execute-once.ts';
import type { RequestPipeline } from './pipeline.ts';
import { executeUpload } from './upload/execute-upload.ts';

/** Returns the result of a call in the way of its endpoint: with an upload, an idempotency key, or the response cache. */
export function produceResult(pipeline: RequestPipeline, execution: ExecutionInput): CallResult | Promise<CallResult> {
  const { endpoint, idempotency } = execution.call.candidate;
  if (pipeline.authorizesRepeated) return authorizeRepeated(pipeline, execution.call);
  if (endpoint.upload !== null) return executeUpload(pipeline, execution);
  return idempotency === null ? executeCached(pipeline, execution) : executeOnce(pipeline, execution);
}
