import {
  type Call,
  type CallHandle,
  type Database,
  type Notice,
  OutcomeUnknown,
  type RowSink,
  type Runner,
  type Step,
} from '../postgres/port.ts';
import type { ByteSource, HeaderList } from '../http/response.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { DatabaseRole } from '../auth/context.ts';
import { type NoticeEventContext, createNoticeListener } from './notice-events.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { Caller } from '../ports/ports.ts';
import { ResponseWriter, type SizeLimit } from '../response/response-writer.ts';
import { RowCounter } from '../response/rows.ts';
import type { Format } from '../response/format.ts';
import { HeaderRow } from '../response/response-headers.ts';
import { type HostRunner, toConversionError, OutputConversion } from './procedure-output-conversion.ts';
import { restoringSettings, settingsStep } from '../auth/settings.ts';

/**
 * What came of a call: all of it, or its beginning with more to come; the headers that its head has told; and what is to be said
 * of an answer that is kept.
 */
export type CallResult = {
  readonly headerRow: { readonly headers: HeaderList } | null;
  readonly cacheHeaders: CacheHeaders | null;
} & (
  | { readonly kind: 'whole'; readonly body: Buffer; readonly rows: number }
  | { readonly kind: 'stream'; readonly body: ByteSource }
);

export interface CacheHeaders {
  readonly headers: HeaderList;
  /** Whether the entity tag among them is the cache's own. */
  readonly validates: boolean;
}

/** What is to be done where a call makes kept answers void. */
export interface Invalidation {
  /** Tells other instances, in the transaction of the call; null: there is no channel for that. */
  step(endpoint: Endpoint): Step | null;
  /** The call has succeeded. Never rejects. */
  done(endpoint: Endpoint): void | Promise<void>;
}

export interface ExecutionContext extends NoticeEventContext {
  readonly database: Database;
  /** Those that an endpoint may name. */
  readonly namedDatabases: ReadonlyMap<string, Database>;
  /** Milliseconds, where the endpoint says nothing and the connection is the host's. */
  readonly timeout: number;
  /** Milliseconds that the reader of a stream may take nothing before it is cut off. */
  readonly slowClientTimeout: number;
  onNotice(endpoint: Endpoint, notice: Notice): void;
  /** A call of the endpoint has left a setting of its connection changed. */
  onSettingLeft(endpoint: Endpoint, setting: string): void;
  readonly invalidation: Invalidation;
  /** Null: calls run under the role of their connection. */
  readonly databaseRole: DatabaseRole | null;
  /** Gives a connection of the host's for a request, null for one of ours. Null: the host gives none at all. */
  readonly provideConnection: ((request: GatewayRequest, endpoint: Endpoint) => Promise<HostRunner | null>) | null;
}

/**
 * Runs the call: settings and routine in one round trip and one implicit transaction.
 * @throws DatabaseError, ConnectionLost, AcquireTimeout, CallTimeout, CallCancelled, ColumnMismatch
 */
export function execute(execution: ExecutionContext, task: ExecutionInput): Promise<CallResult> {
  const { endpoint } = task.call.candidate;
  const notice = noticeOf(execution, task);
  if (execution.provideConnection === null) return runOn(selectDatabase(execution, endpoint), execution, task, notice);
  return execution.provideConnection(task.request, endpoint).then((theirs) => {
    const runner = theirs ?? selectDatabase(execution, endpoint);
    return runOn(runner, execution, { ...task, isHostConnection: theirs !== null }, notice);
  });
}

type NoticeListener = (notice: Notice) => void;

/** Notices are told to the observer; of some endpoints they are events as well. */
function noticeOf(execution: ExecutionContext, { call, request, caller }: ExecutionInput): NoticeListener {
  const { endpoint } = call.candidate;
  const tell: NoticeListener = (notice) => execution.onNotice(endpoint, notice);
  if (endpoint.events === null) return tell;
  const raise = createNoticeListener(execution, endpoint, request, caller ?? null);
  return (notice) => {
    raise(notice);
    tell(notice);
  };
}

export interface ExecutionInput {
  readonly call: ExecutableCall;
  readonly format: Format;
  readonly request: GatewayRequest;
  /** Null: nobody who is known. */
  readonly caller?: Caller | null;
  /** Sees the rows on their way to the answer. */
  readonly tapRows?: (next: Required<RowSink>) => RowSink;
  /** The transaction may go on after the call. */
  readonly isHostConnection?: boolean;
  /** An answer up to this is wanted whole. */
  readonly holdLimit?: SizeLimit;
  /** Takes what ends the call, where its client's leaving alone is no reason to. */
  readonly onCancellable?: (cancel: () => void) => void;
}

function runOn(
  runner: Runner | HostRunner,
  execution: ExecutionContext,
  {
    call,
    format,
    request,
    isHostConnection: lasting = false,
    tapRows: watch,
    holdLimit: hold,
    onCancellable: endWith,
  }: ExecutionInput,
  notice: NoticeListener,
): Promise<CallResult> {
  const { endpoint, latency: pace, sessionUse } = call.candidate;
  const { slowClientTimeout, invalidation } = execution;
  const settled = endpoint.invalidates.length === 0 ? null : () => invalidation.done(endpoint);
  const last = settled === null ? null : invalidation.step(endpoint);
  return new Promise((resolve, reject) => {
    const told = call.headerQuery === null ? null : new HeaderRow(call.headerQuery.names);
    const answering = new ResponseWriter(
      format,
      { bufferRows: endpoint.bufferRows, sizeHint: pace.sizeHint, slowClientTimeout, hold: hold ?? null },
      {
        whole: (body, rows) => resolve({ kind: 'whole', body, rows, headerRow: told, cacheHeaders: null }),
        stream: (body) => resolve({ kind: 'stream', body, headerRow: told, cacheHeaders: null }),
        failed: reject,
      },
    );
    const counting = call.noRowProblem === null ? null : new RowCounter(answering);
    const rows = counting ?? watch?.(answering) ?? answering;
    const half = call.candidate.convertsOutput ? new OutputConversion(call, rows) : null;
    const made: Call = {
      steps: stepsOf(call, { rows: half ?? rows, told, lasting, last }),
      mayShare: pace.isFast && !sessionUse.alters,
      expectedMs: pace.expectedMs,
      mayBlock: sessionUse.mayBlock,
      altersSession: sessionUse.alters,
      idempotent: endpoint.volatility !== 'volatile',
      role: roleOf(execution, call),
      // A procedure that could commit would go on without its settings, and so without its role.
      atomic: endpoint.kind === 'procedure',
      timeout: endpoint.timeoutMs ?? timeoutOf(execution, lasting),
      notice,
      done: (elapsed, left) => {
        if (left !== null) settingLeft(execution, call.candidate, left);
        if (counting?.rows === 0) answering.failed(call.noRowProblem!);
        else answering.done();
        pace.record(elapsed, answering.bytesOut);
      },
      failed: (error) => answering.failed(error),
    };
    const handle = start(runner, made, { half, settled, lasting });
    answering.attachCall(handle);
    if (endWith === undefined) request.onDisconnect(() => handle.cancel());
    else endWith(() => handle.cancel());
  });
}

/** The calls of the endpoint have their connection to themselves from now on, and it is reset after each of them. */
function settingLeft(execution: ExecutionContext, operation: CompiledEndpoint, setting: string): void {
  operation.markAltersSession();
  execution.onSettingLeft(operation.endpoint, setting);
}

/** On a connection of our own, the session knows. */
function timeoutOf({ timeout }: ExecutionContext, lasting: boolean): number | null {
  return lasting ? timeout : null;
}

/** The role that one of the call's settings sets; with a role context, callers without one have that of the connection. */
function roleOf({ databaseRole }: ExecutionContext, { settings }: ExecutableCall): string | null | undefined {
  const set = settings.findLast(([name]) => name.toLowerCase() === 'role');
  return set?.[1] ?? (databaseRole === null ? undefined : null);
}

/** What the success of a call brings about before anybody hears of it. Never rejects. */
type Settled = (() => void | Promise<void>) | null;

/** Whoever has the answer to a write, or its end, finds nothing kept of before. */
function settling(call: Call, settled: Settled): Call {
  if (settled === null) return call;
  const done: Call['done'] = (elapsed, left) => {
    const first = settled();
    if (first === undefined) call.done(elapsed, left);
    else void first.then(() => call.done(elapsed, left));
  };
  const failed: Call['failed'] = (error) => {
    // It may have been committed: nothing that was kept before may outlive it.
    if (error instanceof OutcomeUnknown) void settled();
    call.failed(error);
  };
  return { ...call, done, failed };
}

interface Start {
  /** Null: the call's own rows are the answer. */
  readonly half: OutputConversion | null;
  readonly settled: Settled;
  readonly lasting: boolean;
}

/** Runs the call; where its row is to be converted, then the one that does it: with the same settings, in what is left of the time. */
function start(runner: Runner | HostRunner, call: Call, { half, settled, lasting }: Start): CallHandle {
  if (half === null) return runner.run(settling(call, settled));
  const { timeout } = call;
  const convert: Call['done'] = (elapsed, left) =>
    half.follow(
      runner.run({
        ...call,
        steps: stepsOf(half.call, { rows: half.sink, told: null, lasting, last: null }),
        timeout: timeout === null || timeout === 0 ? timeout : Math.max(1, timeout - elapsed),
        atomic: false,
        done: (more, alsoLeft) => call.done(elapsed + more, left ?? alsoLeft),
        failed: (error) => call.failed(toConversionError(error)),
      }),
    );
  const before = 'withoutRelease' in runner ? runner.withoutRelease : runner;
  half.follow(before.run(settling({ ...call, done: convert }, settled)));
  return half;
}

interface Readers {
  readonly rows: RowSink;
  readonly told: RowSink | null;
  /** The transaction may go on after the call. */
  readonly lasting: boolean;
  /** Behind all else. */
  readonly last: Step | null;
}

/** Settings, head and statement, in this order; most calls are the statement alone. */
function stepsOf(call: ExecutableCall, { rows, told, lasting, last }: Readers): readonly Step[] {
  const step: Step = { statement: call.statement, values: call.arguments, rows };
  const { settings, headerQuery: head } = call;
  if (settings.length === 0 && head === null && last === null) return [step];
  const steps = [
    ...(head === null ? [] : [{ statement: head.statement, values: head.arguments, rows: told! }]),
    step,
    ...(last === null ? [] : [last]),
  ];
  if (settings.length === 0) return steps;
  if (!lasting) return [settingsStep(settings), ...steps];
  const { before, after } = restoringSettings(settings);
  return [before, ...steps, after];
}

/** The database that runs an endpoint's routine. */
export function selectDatabase({ database, namedDatabases }: ExecutionContext, { connection }: Endpoint): Database {
  return connection === null ? database : namedDatabases.get(connection)!;
}
