import {
  type Call,
  type CallHandle,
  type ExclusiveRunner,
  OutcomeUnknown,
  type RowSink,
  type Runner,
} from '../postgres/port.ts';
import {
  type ResponseEvents,
  ResponseWriter,
  type ResponseWriterOptions,
  type SizeLimit,
} from '../response/response-writer.ts';
import { documentTitle } from '../response/document.ts';
import { RowCounter } from '../response/rows.ts';
import { HeaderRow } from '../response/response-headers.ts';
import { createSettingsRow } from '../response/response-settings.ts';
import { selectRole, selectTimeout } from './call-connection.ts';
import { clientKey } from './client-key.ts';
import { buildSteps, isReadOnlyCall, mayRunTwice } from './call-steps.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import { getsToken, tokenHoldLimit } from './consistency.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from './execution.ts';
import { createNoticeHandler } from './notice-events.ts';
import { refuseStream } from './plans/plan-trial.ts';
import { OutputConversion, toConversionError } from './procedure-output-conversion.ts';
import { createRun, type Run } from './run.ts';

/** Runs the call on a connection: all of its steps in one round trip and one transaction. */
export function sendCall(
  runner: Runner | ExclusiveRunner,
  context: ExecutionContext,
  input: ExecutionInput,
  run: Run,
): Promise<CallResult> {
  const { call, format, request, tapRows } = input;
  const isHostConnection = input.isHostConnection ?? context.transactionContinues;
  const { endpoint, latency, sessionUse } = call.candidate;
  const isTrial = run.trial !== null;
  const invalidate = endpoint.invalidates.length === 0 ? null : () => context.invalidation.done(endpoint);
  const invalidation = invalidate === null ? null : context.invalidation.step(endpoint);
  return new Promise((resolve, reject) => {
    const headerRow = call.headerQuery === null ? null : new HeaderRow(call.headerQuery.names);
    const settingsRow = createSettingsRow(endpoint);
    const writer = new ResponseWriter(
      format,
      writerOptions(context, input),
      responseEvents({ resolve, reject }, { headerRow, settingsRow }, isTrial),
    );
    const counter = call.noRowProblem === null ? null : new RowCounter(writer);
    const rows: RowSink = counter ?? tapRows?.(writer) ?? writer;
    const conversion = call.candidate.convertsOutput ? new OutputConversion(call, rows) : null;
    const databaseCall: Call = {
      steps: buildSteps(call, run, {
        rows: conversion ?? rows,
        headerRow,
        settingsRow,
        isHostConnection,
        invalidation,
      }),
      mayShare: !isTrial && latency.isFast && !sessionUse.alters,
      expectedMs: latency.expectedMs,
      mayBlock: sessionUse.mayBlock,
      altersSession: sessionUse.alters,
      mayPrepare: sessionUse.mayPrepare === true,
      discardsSequences: sessionUse.readsSequences === true,
      idempotent: mayRunTwice(call, run),
      isReadOnly: isReadOnlyCall(call),
      role: selectRole(context, call),
      // A COMMIT inside a procedure would end the settings of the call, its role among them.
      atomic: endpoint.kind === 'procedure',
      timeout: selectTimeout(context, endpoint, isHostConnection),
      reader: writer,
      client: clientKey(request),
      plan: run.plan,
      notice: createNoticeHandler(context, endpoint, run.raiseEvent),
      done: (elapsed, changedSetting) => {
        if (changedSetting !== null) reportSetting(context, call.candidate, changedSetting);
        if (counter?.rows === 0) writer.failed(call.noRowProblem!);
        else writer.done();
        latency.record(elapsed, writer.bytesOut + (rows.heldBytes ?? 0));
        context.onCallCompleted?.(request, endpoint, elapsed, writer.rows);
      },
      failed: (error) => writer.failed(error),
    };
    const handle = sendSteps(runner, databaseCall, { run, conversion, invalidate, isHostConnection });
    writer.attachCall(handle);
    makeCancellable(handle, input);
  });
}

/** Without `onCancellable`, the call is cancelled when its client disconnects. */
function makeCancellable(handle: CallHandle, { request, onCancellable }: ExecutionInput): void {
  if (onCancellable === undefined) request.onDisconnect(() => handle.cancel());
  else onCancellable(() => handle.cancel());
}

interface ResultCallbacks {
  readonly resolve: (result: CallResult) => void;
  readonly reject: (error: Error) => void;
}

function responseEvents(
  { resolve, reject }: ResultCallbacks,
  head: Pick<CallResult, 'headerRow' | 'settingsRow'>,
  isTrial: boolean,
): ResponseEvents {
  return {
    whole: (body, rows, memory) => resolve({ kind: 'whole', body, rows, memory, cacheHeaders: null, ...head }),
    stream: (body) => {
      if (isTrial) refuseStream(body, reject);
      else resolve({ kind: 'stream', body, cacheHeaders: null, ...head });
    },
    failed: reject,
  };
}

function writerOptions({ slowClientTimeout }: ExecutionContext, input: ExecutionInput): ResponseWriterOptions {
  const { call, format } = input;
  const { endpoint, latency } = call.candidate;
  return {
    bufferRows: endpoint.bufferRows,
    sizeHint: latency.sizeHint,
    slowClientTimeout,
    holdLimit: selectHoldLimit(input),
    ...(format.begin === undefined ? {} : { title: documentTitle(endpoint, call) }),
  };
}

function selectHoldLimit({ call, consistency = null, holdLimit }: ExecutionInput): SizeLimit | null {
  return holdLimit ?? (getsToken(call.candidate.endpoint, consistency) ? tokenHoldLimit : null);
}

/** Later calls of the endpoint get a connection of their own, which is reset after each call. */
function reportSetting(context: ExecutionContext, candidate: CompiledEndpoint, setting: string): void {
  candidate.markAltersSession();
  context.onSettingLeaked(candidate.endpoint, setting);
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
  readonly run: Run;
  /** Null: the call's own rows are the result. */
  readonly conversion: OutputConversion | null;
  readonly invalidate: Invalidate;
  readonly isHostConnection: boolean;
}

/** Starts the call, and after it the conversion of its output: with the same settings, in the rest of the time. */
function sendSteps(
  runner: Runner | ExclusiveRunner,
  call: Call,
  { run, conversion, invalidate, isHostConnection }: StartOptions,
): CallHandle {
  if (conversion === null) return runner.run(withInvalidation(call, invalidate));
  const { timeout } = call;
  const convert: Call['done'] = (elapsed, changedSetting) =>
    conversion.attach(
      runner.run({
        ...call,
        steps: buildSteps(conversion.call, createRun(run.traceparent, null, null), {
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
