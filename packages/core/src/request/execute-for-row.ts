import type { GatewayResponse, HeaderList } from '../http/response.ts';
import { JoinedBodySink } from '../response/joined-body.ts';
import type { HeaderWriter } from '../response/response-headers.ts';
import type { ExecutableCall } from './build-query.ts';
import { withCallerHeaders } from '../auth/caller-headers.ts';
import type { RowResponse } from '../ports/ports.ts';
import type { ExclusiveRunner, RowSink, Step, Transaction } from '../postgres/port.ts';
import { createTextRowSink } from '../postgres/query.ts';
import { selectDatabase, selectRole } from './call-connection.ts';
import { transactionSteps } from './call-steps.ts';
import { execute } from './execute.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from './execution.ts';
import { createEventRaiser, createNoticeHandler } from './notice-events.ts';
import { loginOrLogout } from './login.ts';
import type { RequestPipeline } from './pipeline.ts';
import { withoutBody, withSettings } from './respond.ts';
import { selectTraceparent } from './trace-context.ts';

/** Runs a call whose rows decide about its response, by itself or as a login; null: the rows are the response. */
export function respondFromRows(pipeline: RequestPipeline, execution: RowInput): Promise<GatewayResponse> | null {
  const { call } = execution;
  if (call.candidate.endpoint.loginOrLogout !== null) return loginOrLogout(pipeline, call, execution);
  if (call.rowResponse === null) return null;
  return executeForRow(pipeline, execution, call.rowResponse);
}

/**
 * Runs a call whose statement returns one row, from which the response is made.
 * @throws as `execute`; Problem
 */
function executeForRow(context: ExecutionContext, input: RowInput, rowResponse: RowResponse): Promise<GatewayResponse> {
  const { format, writeHeaders } = input.call.candidate.selectRepresentation(undefined, input.call);
  const ownHeaders = commentHeaders(input.call, writeHeaders);
  const rows = collectRows(rowResponse, input);
  const { nextSink: tapRows, onCancellable } = rows;
  const { call, request, caller, consistency, usesPrimary } = input;
  // Property by property: a spread costs several times as much.
  const plain = { call, format, request, caller, consistency, usesPrimary, tapRows };
  const execution =
    onCancellable === null
      ? plain
      : { call, format, request, caller, consistency, usesPrimary, tapRows, onCancellable };
  const { rollsBack } = rowResponse;
  const isRolledBack = rollsBack === 'host' ? context.provideConnection !== null : rollsBack;
  const running = isRolledBack ? executeAndRollBack(context, execution) : execute(context, execution);
  return running.then(
    (result) => {
      // The row never reaches the writer of the result.
      if (result.kind === 'stream') result.body.cancel();
      // The statement may have completed before it was cancelled.
      const tooLarge = rows.sizeError();
      if (tooLarge !== null) throw tooLarge;
      const own = withHeaders(rows.respond(result.headerRow?.values ?? []), ownHeaders);
      const response = withSettings(own, result.settingsRow?.settings ?? null);
      return withCallerHeaders(input.request.method === 'HEAD' ? withoutBody(response) : response, input.caller);
    },
    (error: unknown) => {
      throw rows.sizeError() ?? rowResponse.toError(error);
    },
  );
}

type RowInput = Required<Pick<ExecutionInput, 'call' | 'request' | 'caller' | 'consistency' | 'usesPrimary'>>;

/** The rows of one call. */
interface CollectedRows {
  /** Returns the sink of the next run of the statement: a call that fails may run again. */
  readonly nextSink: () => RowSink;
  /** Receives the function that cancels the call; null: the rows have no limit. */
  readonly onCancellable: NonNullable<ExecutionInput['onCancellable']> | null;
  /** Returns the error of rows that are too large; null: they are not. */
  readonly sizeError: () => Error | null;
  readonly respond: (headerRow: readonly (string | null)[]) => GatewayResponse;
}

function collectRows(rowResponse: RowResponse, input: RowInput): CollectedRows {
  const { joins } = rowResponse;
  if (joins === undefined) {
    let sink = createTextRowSink();
    return {
      nextSink: () => (sink = createTextRowSink()),
      onCancellable: null,
      sizeError: () => null,
      respond: (headerRow) => rowResponse.respond(sink.rows[0] ?? [], headerRow, sink.rows, null),
    };
  }
  let cancelCall: (() => void) | null = null;
  const onCancellable = (cancel: () => void): void => {
    cancelCall = cancel;
    input.request.onDisconnect(cancel);
  };
  const newSink = (): JoinedBodySink => new JoinedBodySink(joins, () => cancelCall?.());
  let sink = newSink();
  return {
    nextSink: () => (sink = newSink()),
    onCancellable,
    sizeError: () => (sink.isExceeded ? joins.tooLarge() : null),
    respond: (headerRow) => rowResponse.respond(sink.others, headerRow, [], sink.finish()),
  };
}

/** Returns the headers of the comment. The media type is that of the row. */
function commentHeaders(call: ExecutableCall, writeHeaders: HeaderWriter): HeaderList {
  if (call.candidate.endpoint.responseHeaders.length === 0) return [];
  const headers = writeHeaders(call);
  return headers.filter((_, index) => headers[index - (index % 2)]!.toLowerCase() !== 'content-type');
}

function withHeaders(response: GatewayResponse, headers: HeaderList): GatewayResponse {
  return headers.length === 0 ? response : { ...response, headers: [...response.headers, ...headers] };
}

async function executeAndRollBack(context: ExecutionContext, input: ExecutionInput): Promise<CallResult> {
  const { transaction, isHostConnection } = await begin(context, input);
  try {
    const { withoutRelease } = transaction.commit;
    const runner: ExclusiveRunner = { run: (call) => withoutRelease.run(call), withoutRelease };
    // The settings were made at the beginning of the transaction.
    const call = { ...input.call, settings: [] };
    const result = await execute({ ...context, traceparent: null }, { ...input, call, runner, isHostConnection });
    // A commit would fail for deferred constraints. Those of a host's transaction may be met by its next statements.
    if (!isHostConnection) await transaction.run([checkConstraints]);
    return result;
  } finally {
    await transaction.rollback();
  }
}

const checkConstraints: Step = { statement: { name: '', sql: 'set constraints all immediate' }, values: [] };

async function begin(
  context: ExecutionContext,
  input: ExecutionInput,
): Promise<{ readonly transaction: Transaction; readonly isHostConnection: boolean }> {
  const { call, request } = input;
  const { endpoint, sessionUse } = call.candidate;
  const traceparent = selectTraceparent(context.traceparent, call, request);
  const provided = context.provideConnection === null ? null : await context.provideConnection(request, endpoint);
  const isHostConnection = provided !== null;
  const transaction = await (provided ?? selectDatabase(context, endpoint)).begin({
    ...transactionSteps(call, traceparent, isHostConnection),
    role: selectRole(context, call),
    altersSession: sessionUse.alters,
    timeout: endpoint.timeoutMs,
    notice: createNoticeHandler(context, endpoint, createEventRaiser(context, input)),
  });
  return { transaction, isHostConnection };
}
