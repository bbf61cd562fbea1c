import { idempotencyStates } from '../../endpoints/idempotency-store.ts';
import { DatabaseError, OutcomeUnknown } from '../../postgres/port.ts';
import type { ClaimTypes } from '../../auth/claims.ts';
import { cancelOnThrow } from '../../http/response.ts';
import { execute } from '../execute.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from '../execution.ts';
import { selectDatabase } from '../call-connection.ts';
import { isErrorOf } from '../call-steps.ts';
import { createClaim } from './claim.ts';
import type { CompiledIdempotency } from './compile-idempotency.ts';
import { createPrivilegeCheck } from './privilege-check.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { missingKey, toClaimError, toReadError, unknownOutcome } from './key-problems.ts';
import type { KeyPruner } from './prune-keys.ts';

export interface IdempotentContext extends ExecutionContext {
  readonly claimTypes: ClaimTypes;
  readonly keyPruner: KeyPruner | null;
  /** Whether the transaction of the call has claimed a key already. */
  readonly hasClaimedKey: boolean;
}

/** The headers of a stored response. */
export const replayHeaders = { headers: ['idempotent-replayed', 'true'], validates: false } as const;

/**
 * Runs the call unless a request of the same caller with the same idempotency key has succeeded, whose response is returned. The key is
 * inserted in the transaction of the call: a call that fails leaves no key, and a repeated request runs again.
 * @throws Problem `missing-idempotency-key`, `invalid-idempotency-key`, `idempotency-key-reused`, `idempotency-key-in-use`,
 *   `stored-response-unavailable`, `idempotency-unavailable`; the errors of `execute`
 */
export async function executeOnce(context: IdempotentContext, input: ExecutionInput): Promise<CallResult> {
  const { call, caller = null } = input;
  const idempotency = call.candidate.idempotency!;
  const key = readIdempotencyKey(input.request);
  if (key === null) {
    if (idempotency.isRequired && !context.hasClaimedKey) throw missingKey();
    return execute(context, input);
  }
  const claim = createClaim(key, { call, caller }, idempotency, context.claimTypes);
  const statement = idempotency.storing(call.statement, call.arguments.length);
  const isStored = statement !== call.statement;
  const storing = { ...call, statement, arguments: isStored ? [...call.arguments, claim.id] : call.arguments };
  try {
    const result = await execute(context, { ...input, call: storing, guard: claim });
    context.keyPruner?.afterCall(selectDatabase(context, call.candidate.endpoint));
    return result;
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw unknownOutcome(error);
    if (!isErrorOf('claim', error)) throw error;
    if (error.diagnostics.code !== idempotencyStates.repeated) throw toClaimError(error);
  }
  return replay(context, input, idempotency, claim.id);
}

/** Returns the response of the earlier request, in the format that this one accepts, if the role may still run the call. */
async function replay(
  context: ExecutionContext,
  input: ExecutionInput,
  { read, shape }: CompiledIdempotency,
  id: string,
): Promise<CallResult> {
  const check = createPrivilegeCheck(input.call);
  const guard = { steps: check.steps, settings: null, isOfReplay: true };
  const call = {
    ...input.call,
    statement: read,
    arguments: [id, shape],
    valueSources: [null, null],
    earlier: undefined,
  };
  try {
    const result = await execute(context, { ...input, call, guard });
    return cancelOnThrow(result, () => {
      check.verify();
      return { ...result, cacheHeaders: replayHeaders };
    });
  } catch (error) {
    throw error instanceof DatabaseError ? toReadError(error) : error;
  }
}
