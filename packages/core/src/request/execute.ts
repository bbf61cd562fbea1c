import type { Replica } from '../postgres/port.ts';
import { selectDatabase } from './call-connection.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from './execution.ts';
import { createNoticeHandler, type NoticeListener } from './notice-events.ts';
import { runWithPlan } from './plans/planned-call.ts';
import { isRefusal, runsAgainOnPrimary, selectReplica } from './read-routing.ts';
import { sendCall } from './send-call.ts';
import { attachTraceparent } from './trace-context.ts';

/**
 * Runs the call on the connection that it needs: that of its transaction, a replica, one that the host provides, or a pooled one.
 * @throws DatabaseError, ConnectionLost, AcquireTimeout, CallTimeout, CallCancelled, ColumnMismatch
 */
export function execute(context: ExecutionContext, input: ExecutionInput): Promise<CallResult> {
  const { endpoint } = input.call.candidate;
  attachTraceparent(context.traceparent, input.call, input.request);
  const onNotice = createNoticeHandler(context, input);
  if (input.runner !== undefined) return sendCall(input.runner, context, input, onNotice);
  const replica = context.readRouting === null ? null : selectReplica(context.readRouting, input);
  if (replica !== null) return runOnReplica(replica, context, input, onNotice);
  const database = selectDatabase(context, endpoint);
  if (context.provideConnection === null) return runWithPlan(database, context, input, onNotice);
  return context.provideConnection(input.request, endpoint).then((hostRunner) => {
    if (hostRunner === null) return runWithPlan(database, context, input, onNotice);
    return sendCall(hostRunner, context, { ...input, isHostConnection: true }, onNotice);
  });
}

/** Runs the call on a replica, and again on the primary if it fails before the first byte of the response. */
async function runOnReplica(
  replica: Replica,
  context: ExecutionContext,
  input: ExecutionInput,
  notice: NoticeListener,
): Promise<CallResult> {
  try {
    return await runWithPlan(replica.database, context, input, notice);
  } catch (error) {
    if (!runsAgainOnPrimary(error, replica)) throw error;
    replica.handleFailure(error);
    const result = await runWithPlan(context.database, context, input, notice);
    if (isRefusal(error)) {
      const { candidate } = input.call;
      candidate.keepOnPrimary();
      context.readRouting!.onReplicaRefused(candidate.endpoint, replica.name, error);
    }
    return result;
  }
}
