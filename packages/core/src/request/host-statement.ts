import { createTextRowSink } from '../postgres/query.ts';
import type { Notice, TextTable, Value } from '../postgres/port.ts';
import { selectDatabase, selectRole, selectTimeout } from './call-connection.ts';
import { buildSteps } from './call-steps.ts';
import type { ExecutionContext, ExecutionInput } from './execution.ts';
import { createRun } from './run.ts';
import { selectTraceparent } from './trace-context.ts';

export interface HostStatementInput
  extends Pick<ExecutionInput, 'call' | 'request'>, Required<Pick<ExecutionInput, 'onCancellable'>> {
  /** Called for each notice of the statement. */
  readonly onNotice: (notice: Notice) => void;
}

/**
 * Runs a statement of the host with the settings, role and connection of a call, in a transaction of its own. The session is reset
 * afterwards, as the statement may leave anything in it.
 * @throws the errors of `execute`
 */
export async function runHostStatement(
  context: ExecutionContext,
  { call, request, onCancellable, onNotice }: HostStatementInput,
  sql: string,
  values: readonly Value[],
): Promise<TextTable> {
  const { endpoint } = call.candidate;
  const run = createRun(selectTraceparent(context.traceparent, call, request), null, null);
  const hostRunner = context.provideConnection === null ? null : await context.provideConnection(request, endpoint);
  const isHostConnection = hostRunner !== null;
  const rows = createTextRowSink();
  const custom = { ...call, statement: { name: '', sql }, arguments: values, headerQuery: null };
  return new Promise((resolve, reject) => {
    const handle = (hostRunner ?? selectDatabase(context, endpoint)).run({
      steps: buildSteps(custom, run, {
        rows,
        headerRow: null,
        settingsRow: null,
        isHostConnection,
        invalidation: null,
      }),
      mayShare: false,
      altersSession: true,
      discardsSequences: true,
      // As for an endpoint that is a procedure: a COMMIT would end the settings of the call, its role among them.
      atomic: true,
      role: selectRole(context, call),
      timeout: selectTimeout(context, endpoint, isHostConnection),
      notice: onNotice,
      done: () => resolve(rows.rows),
      failed: reject,
    });
    onCancellable(() => handle.cancel());
  });
}
