import type { Replica } from '../postgres/port.ts';
import { selectDatabase } from './call-connection.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from './execution.ts';
import { createEventRaiser } from './notice-events.ts';
import { runWithPlan } from './plans/planned-call.ts';
import { isRefusal, runsAgainOnPrimary, selectReplica } from './read-routing.ts';
import { mayRepeat, repeatCall } from './repeat-call.ts';
import { createRun, type Run } from './run.ts';
import { sendCall } from './send-call.ts';
import { selectTraceparent } from './trace-context.ts';

/**
 * Runs the call on the connection that it needs: that of its transaction, a replica, one that the host provides, or a pooled one.
 * @throws DatabaseError, ConnectionLost, AcquireTimeout, CallTimeout, CallCancelled, ColumnMismatch
 */
export function execute(context: ExecutionContext, input: ExecutionInput): Promise<CallResult> {
  return mayRepeat(context, input) ? repeatCall(runCall, context, input) : runCall(context, input);
}

function runCall(context: ExecutionContext, input: ExecutionInput): Promise<CallResult> {
  const { call, request, runner, guard = null } = input;
  const { endpoint } = call.candidate;
  const traceparent = selectTraceparent(context.traceparent, call, request);
  const run = createRun(traceparent, guard, createEventRaiser(context, input));
  if (runner !== undefined) return sendCall(runner, context, input, run);
  const replica = context.readRouting === null ? null : selectReplica(context.readRouting, input);
  if (replica !== null) return runOnReplica(replica, context, input, run);
  const database = selectDatabase(context, endpoint);
  if (context.provideConnection === null) return runWithPlan(database, context, input, run);
  return context.provideConnection(request, endpoint).then((hostRunner) => {
    if (hostRunner === null) return runWithPlan(database, context, input, run);
    return sendCall(hostRunner, context, { ...input, isHostConnection: true }, run);
  });
}

/** Runs the call on a replica, and again on the primary if it fails before the first byte of the response. */
async function runOnReplica(
  replica: Replica,
  context: ExecutionContext,
  input: ExecutionInput,
  run: Run,
): Promise<CallResult> {
  try {
    return await runWithPlan(replica.database, context, input, run);
  } catch (error) {
    if (!runsAgainOnPrimary(error, replica)) throw error;
    replica.handleFailure(error);
    const result = await runWithPlan(context.database, context, input, run);
    if (isRefusal(error)) {
      const { candidate } = input.call;
      candidate.keepOnPrimary();
      context.readRouting!.onReplicaRefused(candidate.endpoint, replica.name, error);
    }
    return result;
  }
}
