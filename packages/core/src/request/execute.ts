import {
  type Call,
  type CallHandle,
  type Database,
  type ExclusiveRunner,
  type Notice,
  OutcomeUnknown,
  type ProvidedRunner,
  type Replica,
  type RowSink,
  type Runner,
  type Step,
  type TextTable,
  type Value,
} from '../postgres/port.ts';
import { createTextRowSink } from '../postgres/query.ts';
import type { ByteSource, HeaderList, ReusableMemory } from '../http/response.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type NoticeEventContext, createNoticeListener } from './notice-events.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { Caller } from '../ports/ports.ts';
import { type ResponseEvents, ResponseWriter, type SizeLimit } from '../response/response-writer.ts';
import { RowCounter } from '../response/rows.ts';
import type { Format } from '../response/format.ts';
import { HeaderRow } from '../response/response-headers.ts';
import { createSettingsRow, type ResponseSettings } from '../response/response-settings.ts';
import { toConversionError, OutputConversion } from './procedure-output-conversion.ts';
import { type ConnectionContext, selectDatabase, selectRole } from './call-connection.ts';
import { buildSteps, mayRunTwice } from './call-steps.ts';
import { type Consistency, getsToken, tokenHoldLimit } from './consistency.ts';
import { isRefusal, type ReadRouting, runsAgainOnPrimary, selectReplica } from './read-routing.ts';
import type { PlanChoices } from './plans/plan-choices.ts';
import { refuseStream, runTrial, type TrialCall } from './plans/plan-trial.ts';
import { attachTraceparent, type TraceparentLookup } from './trace-context.ts';

/**
 * The result of a call: its whole body, or a stream that has begun. `headerRow` is null without a header query, `cacheHeaders`
 * unless the body comes from the response cache or goes there, `settingsRow` unless the call may set its response.
 */
export type CallResult = {
  readonly headerRow: Pick<HeaderRow, 'headers' | 'values'> | null;
  readonly cacheHeaders: CacheHeaders | null;
  readonly settingsRow: { readonly settings: ResponseSettings } | null;
} & (
  | {
      readonly kind: 'whole';
      readonly body: Buffer;
      readonly rows: number;
      /** As in `WholeResponse`. */
      readonly memory?: ReusableMemory | null;
    }
  | { readonly kind: 'stream'; readonly body: ByteSource }
);

/** Headers of a cached response: `age`, `cache-control`, `etag`. */
export interface CacheHeaders {
  readonly headers: HeaderList;
  /** Whether the cache made the entity tag, so that it validates the body. */
  readonly validates: boolean;
}

/** Invalidates the cached responses that a call makes obsolete. */
export interface Invalidation {
  /** The step that notifies other instances when the call's transaction commits; null: there is no channel. */
  step(endpoint: Endpoint): Step | null;
  /** Called when the call has succeeded. Never rejects. */
  done(endpoint: Endpoint): void | Promise<void>;
}

export interface ExecutionContext extends NoticeEventContext, ConnectionContext {
  /** Null: plans are not chosen by measurement. */
  readonly plans: PlanChoices | null;
  /** Null: there are no read replicas. */
  readonly readRouting: ReadRouting | null;
  /** Milliseconds; the default for calls on a connection that the host provides. */
  readonly timeout: number;
  /** Milliseconds without progress after which a stream is aborted. */
  readonly slowClientTimeout: number;
  onNotice(endpoint: Endpoint, notice: Notice): void;
  /** A call has completed, after `elapsedMs` in the database. Null: not observed. */
  readonly onCallCompleted:
    | ((request: GatewayRequest, endpoint: Endpoint, elapsedMs: number, rows: number) => void)
    | null;
  /** A call has left a session setting changed. */
  onSettingLeaked(endpoint: Endpoint, setting: string): void;
  readonly invalidation: Invalidation;
  /** Null: PostgreSQL receives no trace context. */
  readonly traceparent: TraceparentLookup | null;
  /** Whether the transaction of a call continues after it, so that the settings of the call are restored. */
  readonly transactionContinues: boolean;
  /** Whether calls are authorized and do not run: their responses are stored. */
  readonly authorizesRepeated: boolean;
  /** Asks the host for the connection of a request; it resolves to null for a pooled one. Null: the host provides none. */
  readonly provideConnection: ((request: GatewayRequest, endpoint: Endpoint) => Promise<ProvidedRunner | null>) | null;
}

export interface ExecutionInput {
  readonly call: ExecutableCall;
  readonly format: Format;
  readonly request: GatewayRequest;
  /** Null: anonymous. */
  readonly caller?: Caller | null;
  /** Wraps the sink of the rows, to read them before the response writer does. */
  readonly tapRows?: (next: ResponseWriter) => RowSink;
  /** The connection of the call; absent: one that the host provides, or a pooled one. */
  readonly runner?: ExclusiveRunner;
  /** Whether the host provides the connection: its transaction may continue after the call. */
  readonly isHostConnection?: boolean;
  /** The consistency that the request asks for; absent: the call runs on the primary. */
  readonly consistency?: Consistency | null;
  /** As in `Read`. */
  readonly committedBefore?: number;
  /** A response up to this limit is held back until it is whole. */
  readonly holdLimit?: SizeLimit;
  /** Receives the function that cancels the call. Without it, the call is cancelled when its client disconnects. */
  readonly onCancellable?: (cancel: () => void) => void;
}

/**
 * Runs the call: settings and routine in one round trip and one implicit transaction.
 * @throws DatabaseError, ConnectionLost, AcquireTimeout, CallTimeout, CallCancelled, ColumnMismatch
 */
export function execute(context: ExecutionContext, input: ExecutionInput): Promise<CallResult> {
  const { endpoint } = input.call.candidate;
  attachTraceparent(context.traceparent, input.call, input.request);
  const onNotice = createNoticeHandler(context, input);
  if (input.runner !== undefined) return runOn(input.runner, context, input, onNotice);
  const replica = context.readRouting === null ? null : selectReplica(context.readRouting, input);
  if (replica !== null) return runOnReplica(replica, context, input, onNotice);
  const database = selectDatabase(context, endpoint);
  if (context.provideConnection === null) return runPlanned(database, context, input, onNotice);
  return context.provideConnection(input.request, endpoint).then((hostRunner) => {
    if (hostRunner === null) return runPlanned(database, context, input, onNotice);
    return runOn(hostRunner, context, { ...input, isHostConnection: true }, onNotice);
  });
}

/**
 * Runs a statement of the host with the settings, role and connection of a call, in a transaction of its own. The session is reset
 * afterwards, as the statement may leave anything in it.
 * @throws the errors of `execute`
 */
export async function executeStatement(
  context: ExecutionContext,
  {
    call,
    request,
    onCancellable,
  }: Pick<ExecutionInput, 'call' | 'request'> & Required<Pick<ExecutionInput, 'onCancellable'>>,
  sql: string,
  values: readonly Value[],
): Promise<TextTable> {
  const { endpoint } = call.candidate;
  attachTraceparent(context.traceparent, call, request);
  const hostRunner = context.provideConnection === null ? null : await context.provideConnection(request, endpoint);
  const isHostConnection = hostRunner !== null;
  const rows = createTextRowSink();
  const custom = { ...call, statement: { name: '', sql }, arguments: values, headerQuery: null };
  return new Promise((resolve, reject) => {
    const handle = (hostRunner ?? selectDatabase(context, endpoint)).run({
      steps: buildSteps(custom, { rows, headerRow: null, settingsRow: null, isHostConnection, invalidation: null }),
      mayShare: false,
      altersSession: true,
      discardsSequences: true,
      // As for an endpoint that is a procedure: a COMMIT would end the settings of the call, its role among them.
      atomic: true,
      role: selectRole(context, call),
      timeout: endpoint.timeoutMs ?? defaultTimeout(context, isHostConnection),
      notice: (notice) => context.onNotice(endpoint, notice),
      done: () => resolve(rows.rows),
      failed: reject,
    });
    onCancellable(() => handle.cancel());
  });
}

type NoticeListener = (notice: Notice) => void;

/** Returns the receiver of notices: they go to the observer, and become events of endpoints that have events. */
export function createNoticeHandler(
  context: ExecutionContext,
  { call, request, caller }: Pick<ExecutionInput, 'call' | 'request' | 'caller'>,
): NoticeListener {
  const { endpoint } = call.candidate;
  const report: NoticeListener = (notice) => context.onNotice(endpoint, notice);
  if (endpoint.events === null) return report;
  const raiseEvent = createNoticeListener(context, endpoint, request, caller ?? null);
  return (notice) => {
    raiseEvent(notice);
    report(notice);
  };
}

/** Runs the call on a database of the gateway, with the plan that was chosen for its statement, or as a trial of one. */
function runPlanned(
  database: Database,
  context: ExecutionContext,
  input: ExecutionInput,
  notice: NoticeListener,
): Promise<CallResult> {
  const { call } = input;
  const choice = context.plans === null ? null : context.plans.find(database, call);
  const planned = choice === null ? null : choice.next();
  call.plan = planned === null ? null : planned.plan;
  if (planned === null || planned.trial === null) return runOn(database, context, input, notice);
  return runTrial(planned.trial, call, (changes) => runOn(database, context, { ...input, ...changes }, notice));
}

interface RunInput extends ExecutionInput {
  /** Measures the call. */
  readonly trial?: TrialCall;
}

function runOn(
  runner: Runner | ExclusiveRunner,
  context: ExecutionContext,
  input: RunInput,
  notice: NoticeListener,
): Promise<CallResult> {
  const { call, format, request, tapRows, onCancellable, trial = null } = input;
  const isHostConnection = input.isHostConnection ?? context.transactionContinues;
  const { endpoint, latency, sessionUse } = call.candidate;
  const holdLimit = selectHoldLimit(input);
  const { slowClientTimeout } = context;
  const invalidate = endpoint.invalidates.length === 0 ? null : () => context.invalidation.done(endpoint);
  const invalidation = invalidate === null ? null : context.invalidation.step(endpoint);
  return new Promise((resolve, reject) => {
    const headerRow = call.headerQuery === null ? null : new HeaderRow(call.headerQuery.names);
    const settingsRow = createSettingsRow(endpoint);
    const writer = new ResponseWriter(
      format,
      { bufferRows: endpoint.bufferRows, sizeHint: latency.sizeHint, slowClientTimeout, holdLimit },
      responseEvents({ resolve, reject }, { headerRow, settingsRow }, trial),
    );
    const counter = call.noRowProblem === null ? null : new RowCounter(writer);
    const rows = counter ?? tapRows?.(writer) ?? writer;
    const conversion = call.candidate.convertsOutput ? new OutputConversion(call, rows) : null;
    const databaseCall: Call = {
      steps: buildSteps(call, {
        rows: conversion ?? rows,
        headerRow,
        settingsRow,
        isHostConnection,
        invalidation,
        trial,
      }),
      mayShare: trial === null && latency.isFast && !sessionUse.alters,
      expectedMs: latency.expectedMs,
      mayBlock: sessionUse.mayBlock,
      altersSession: sessionUse.alters,
      discardsSequences: sessionUse.readsSequences === true,
      idempotent: mayRunTwice(call),
      role: selectRole(context, call),
      // A COMMIT inside a procedure would end the settings of the call, its role among them.
      atomic: endpoint.kind === 'procedure',
      timeout: endpoint.timeoutMs ?? defaultTimeout(context, isHostConnection),
      reader: writer,
      plan: call.plan,
      notice,
      done: (elapsed, changedSetting) => {
        if (changedSetting !== null) reportSetting(context, call.candidate, changedSetting);
        if (counter?.rows === 0) writer.failed(call.noRowProblem!);
        else writer.done();
        latency.record(elapsed, writer.bytesOut);
        context.onCallCompleted?.(request, endpoint, elapsed, writer.rows);
      },
      failed: (error) => writer.failed(error),
    };
    const handle = start(runner, databaseCall, { conversion, invalidate, isHostConnection });
    writer.attachCall(handle);
    if (onCancellable === undefined) request.onDisconnect(() => handle.cancel());
    else onCancellable(() => handle.cancel());
  });
}

interface ResultCallbacks {
  readonly resolve: (result: CallResult) => void;
  readonly reject: (error: Error) => void;
}

function responseEvents(
  { resolve, reject }: ResultCallbacks,
  head: Pick<CallResult, 'headerRow' | 'settingsRow'>,
  trial: TrialCall | null,
): ResponseEvents {
  return {
    whole: (body, rows, memory) => resolve({ kind: 'whole', body, rows, memory, cacheHeaders: null, ...head }),
    stream: (body) => {
      if (trial === null) resolve({ kind: 'stream', body, cacheHeaders: null, ...head });
      else refuseStream(body, reject);
    },
    failed: reject,
  };
}

function selectHoldLimit({ call, consistency = null, holdLimit }: ExecutionInput): SizeLimit | null {
  return holdLimit ?? (getsToken(call.candidate.endpoint, consistency) ? tokenHoldLimit : null);
}

/** Runs the call on a replica, and again on the primary if it fails before the first byte of the response. */
async function runOnReplica(
  replica: Replica,
  context: ExecutionContext,
  input: ExecutionInput,
  notice: NoticeListener,
): Promise<CallResult> {
  try {
    return await runPlanned(replica.database, context, input, notice);
  } catch (error) {
    if (!runsAgainOnPrimary(error, replica)) throw error;
    replica.handleFailure(error);
    const result = await runPlanned(context.database, context, input, notice);
    if (isRefusal(error)) {
      const { candidate } = input.call;
      candidate.keepOnPrimary();
      context.readRouting!.onReplicaRefused(candidate.endpoint, replica.name, error);
    }
    return result;
  }
}

/** Later calls of the endpoint get a connection of their own, which is reset after each call. */
function reportSetting(context: ExecutionContext, candidate: CompiledEndpoint, setting: string): void {
  candidate.markAltersSession();
  context.onSettingLeaked(candidate.endpoint, setting);
}

/** Null for pooled connections: their sessions have the default timeout already. */
function defaultTimeout({ timeout }: ExecutionContext, isHostConnection: boolean): number | null {
  return isHostConnection ? timeout : null;
}

type Invalidate = (() => void | Promise<void>) | null;

/** Invalidates cached responses before the call reports its success: the next request must not read an old one. */
function withInvalidation(call: Call, invalidate: Invalidate): Call {
  if (invalidate === null) return call;
  const done: Call['done'] = (elapsed, changedSetting) => {
    const pending = invalidate();
    if (pending === undefined) call.done(elapsed, changedSetting);
    else void pending.then(() => call.done(elapsed, changedSetting));
  };
  const failed: Call['failed'] = (error) => {
    // The call may have been committed.
    if (error instanceof OutcomeUnknown) void invalidate();
    call.failed(error);
  };
  return { ...call, done, failed };
}

interface StartOptions {
  /** Null: the call's own rows are the result. */
  readonly conversion: OutputConversion | null;
  readonly invalidate: Invalidate;
  readonly isHostConnection: boolean;
}

/** Starts the call, and after it the conversion of its output: with the same settings, in the rest of the time. */
function start(
  runner: Runner | ExclusiveRunner,
  call: Call,
  { conversion, invalidate, isHostConnection }: StartOptions,
): CallHandle {
  if (conversion === null) return runner.run(withInvalidation(call, invalidate));
  const { timeout } = call;
  const convert: Call['done'] = (elapsed, changedSetting) =>
    conversion.attach(
      runner.run({
        ...call,
        steps: buildSteps(conversion.call, {
          rows: conversion.sink,
          headerRow: null,
          settingsRow: null,
          isHostConnection,
          invalidation: null,
        }),
        timeout: timeout === null || timeout === 0 ? timeout : Math.max(1, timeout - elapsed),
        atomic: false,
        done: (conversionElapsed, other) => call.done(elapsed + conversionElapsed, changedSetting ?? other),
        failed: (error) => call.failed(toConversionError(error)),
      }),
    );
  const first = 'withoutRelease' in runner ? runner.withoutRelease : runner;
  conversion.attach(first.run(withInvalidation({ ...call, done: convert }, invalidate)));
  return conversion;
}
