import {
  type Call,
  CallCancelled,
  DatabaseError,
  type ExclusiveRunner,
  OutcomeUnknown,
  type ProvidedRunner,
  type Step,
  type Transaction,
  type Value,
} from '../../postgres/port.ts';
import { createTextRowSink } from '../../postgres/query.ts';
import { Problem } from '../../http/problem.ts';
import type { Observer } from '../../ports/ports.ts';
import type { UploadContext, UploadTransaction } from '../../ports/upload-handler.ts';
import { type FormLimits, isMultipart, readForm } from '../../uploads/multipart.ts';
import { type ReceivedFile, receiveFile, type RequestHandler, uploadMetadata } from '../../uploads/receive-files.ts';
import type { UploadSlots } from '../../uploads/upload-slots.ts';
import type { BoundStatement, ExecutableCall } from '../build-query.ts';
import { selectDatabase, selectRole } from '../call-connection.ts';
import { transactionSteps } from '../call-steps.ts';
import { selectTraceparent } from '../trace-context.ts';
import { execute } from '../execute.ts';
import type { CallResult, ExecutionContext, ExecutionInput } from '../execution.ts';
import { createEventRaiser, createNoticeHandler } from '../notice-events.ts';
import { refuseCompressed } from '../parse/parse-input.ts';
import { UploadEffects } from './upload-effects.ts';

/** The options of uploads. */
export interface UploadExecution {
  readonly limits: FormLimits;
  readonly slots: UploadSlots;
  /** The setting that receives the metadata; null: none. */
  readonly metadataSetting: string | null;
  /** Whether the observer receives each file. */
  readonly logsFiles: boolean;
  /** The tenant whose files are stored; null: there are no tenants. */
  readonly tenant: string | null;
}

/** Everything that an upload and its call need. */
export interface UploadExecutionContext extends ExecutionContext {
  readonly uploads: UploadExecution;
  readonly observe: Observer;
}

/**
 * Receives the files of a request, and then runs its call: in one transaction when a handler writes to the database. When either fails, all
 * that was stored is removed.
 * @throws as `execute`; Problem 400, 408, 413 or 415 for the body; the errors of handlers
 */
export async function executeUpload(context: UploadExecutionContext, input: ExecutionInput): Promise<CallResult> {
  const upload = new Upload(context, input);
  try {
    const files = await upload.receive();
    upload.report(files);
    return await upload.call(files);
  } catch (error) {
    await upload.fail(error as Error);
    throw error;
  }
}

/** The upload of one request. */
class Upload {
  readonly #context: UploadExecutionContext;
  readonly #input: ExecutionInput;
  readonly #effects: UploadEffects;
  readonly #handlers: readonly RequestHandler[];
  readonly #abort = new AbortController();
  /** Begun by the first handler that needs it. */
  #transaction: Promise<Transaction> | null = null;
  /** That of the transaction, which the call does not set again. */
  #traceparent: string | null = null;
  #isHostConnection = false;
  #isReceiving = true;
  #freeSlot: (() => void) | null = null;

  constructor(context: UploadExecutionContext, input: ExecutionInput) {
    this.#context = context;
    this.#input = input;
    const { endpoint, uploadHandlers } = input.call.candidate;
    this.#effects = new UploadEffects((error) => context.observe({ kind: 'upload-cleanup-failed', endpoint, error }));
    this.#handlers = uploadHandlers.map(({ name, handler, options, templates }) => {
      const handlerContext = this.#handlerContext({ handlerName: name, options: options(input.call), templates });
      return { name, handler, context: handlerContext };
    });
    input.request.onDisconnect(() => this.#abort.abort(new CallCancelled('the client disconnected')));
  }

  async receive(): Promise<readonly ReceivedFile[]> {
    const { request, call } = this.#input;
    const { limits } = this.#context.uploads;
    const contentType = request.header('content-type');
    refuseCompressed(request);
    if (!isMultipart(contentType)) {
      throw new Problem('unsupported-media-type', {
        title: 'The body must be multipart/form-data',
        detail: `The body is "${contentType ?? ''}"; send the files as multipart/form-data.`,
      });
    }
    checkLength(request.header('content-length'), limits.maxTotalSize);
    const files: ReceivedFile[] = [];
    await readForm(request.chunks(), {
      contentType,
      limits,
      abort: this.#abort,
      onFile: async (file) => void files.push(await receiveFile(file, this.#handlers)),
      onField: (name) => refuseParameter(name, call),
    });
    return files;
  }

  report(files: readonly ReceivedFile[]): void {
    if (!this.#context.uploads.logsFiles) return;
    const { call, request } = this.#input;
    const { endpoint } = call.candidate;
    for (const { fileName, contentType, size, results } of files) {
      for (const [index, { name: handler }] of this.#handlers.entries()) {
        const status = results[index]![0]?.status ?? 'Ok';
        this.#context.observe({ kind: 'upload', endpoint, request, handler, fileName, contentType, size, status });
      }
    }
  }

  /** Runs the call with the metadata of the files. */
  async call(files: readonly ReceivedFile[]): Promise<CallResult> {
    const transaction = await this.#transaction;
    this.#abort.signal.throwIfAborted();
    this.#isReceiving = false;
    const call = this.#withMetadata(uploadMetadata(files, this.#handlers), transaction !== null);
    const runner = transaction?.commit ?? (await this.#poolRunner());
    const context = this.#traceparent === null ? this.#context : { ...this.#context, traceparent: null };
    return execute(context, {
      ...this.#input,
      call,
      runner: this.#withEffects(runner, transaction !== null),
      isHostConnection: this.#isHostConnection,
    });
  }

  /** Removes what was stored. Does nothing when the call has ended. */
  async fail(error: Error): Promise<void> {
    this.#abort.abort(error);
    await this.#transaction?.then(
      (transaction) => transaction.rollback(),
      () => undefined,
    );
    this.#release();
    await this.#effects.rolledBack();
  }

  #handlerContext(ofHandler: Pick<UploadContext, 'handlerName' | 'options' | 'templates'>): UploadContext {
    const { call, request, caller = null } = this.#input;
    return {
      endpoint: call.candidate.endpoint,
      request,
      caller,
      tenant: this.#context.uploads.tenant,
      ...ofHandler,
      signal: this.#abort.signal,
      transaction: async () => toUploadTransaction(await (this.#transaction ??= this.#begin())),
      onRollback: (remove) => this.#effects.onRollback(remove),
      onCommit: (finish) => this.#effects.onCommit(finish),
    };
  }

  /** The connection of the host for this request; null for a pooled one. */
  async #provide(): Promise<ProvidedRunner | null> {
    const { provideConnection } = this.#context;
    const { call, request } = this.#input;
    const provided = provideConnection === null ? null : await provideConnection(request, call.candidate.endpoint);
    this.#isHostConnection = provided !== null;
    return provided;
  }

  async #begin(): Promise<Transaction> {
    const { call } = this.#input;
    const { endpoint } = call.candidate;
    const context = this.#context;
    const provided = await this.#provide();
    this.#traceparent = selectTraceparent(context.traceparent, call, this.#input.request);
    const { signal } = this.#abort;
    const database = selectDatabase(context, endpoint);
    // The connections of the host are its own affair.
    if (provided === null) this.#freeSlot = await context.uploads.slots.acquire(database, signal);
    const transaction = await (provided ?? database).begin({
      ...transactionSteps(call, this.#traceparent, this.#isHostConnection),
      role: selectRole(context, call),
      // Row commands and handlers of the host run any statement.
      altersSession: true,
      timeout: endpoint.timeoutMs,
      signal,
      notice: createNoticeHandler(context, endpoint, createEventRaiser(context, this.#input)),
    });
    // The call is cancelled otherwise: it may already be committing.
    const abort = (): void => {
      if (this.#isReceiving) void transaction.rollback();
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) void transaction.rollback();
    return transaction;
  }

  async #poolRunner(): Promise<ExclusiveRunner> {
    const provided = await this.#provide();
    const database = selectDatabase(this.#context, this.#input.call.candidate.endpoint);
    return provided ?? { run: (call) => database.run(call), withoutRelease: database };
  }

  /** The settings of a transaction were made at its beginning. */
  #withMetadata(metadata: string, isInTransaction: boolean): ExecutableCall {
    const { call } = this.#input;
    const { metadataSetting } = this.#context.uploads;
    const settings = isInTransaction ? [] : [...call.settings];
    if (metadataSetting !== null) settings.push([metadataSetting, metadata]);
    const position = call.candidate.endpoint.upload!.metadataParameter;
    const parameter = call.parameters.find((each) => each.position === position);
    if (parameter === undefined) return { ...call, settings };
    const replace = (values: readonly Value[], sources: BoundStatement['valueSources']): readonly Value[] =>
      values.map((value, index) => (sources[index]?.name === parameter.name ? metadata : value));
    const bind = <Bound extends BoundStatement>(bound: Bound): Bound => {
      const sources = bound.valueSources.length === 0 ? call.parameters : bound.valueSources;
      return { ...bound, arguments: replace(bound.arguments, sources) };
    };
    return { ...bind(call), settings, values: replace(call.values, call.parameters), earlier: call.earlier?.map(bind) };
  }

  /** The call decides over what was stored: before the client learns the outcome, it is kept or removed. */
  #withEffects(runner: ExclusiveRunner, isInTransaction: boolean): ExclusiveRunner {
    return {
      withoutRelease: { run: (call) => runner.withoutRelease.run(this.#withOutcome(call, !isInTransaction)) },
      run: (call) => runner.run(this.#withOutcome(call, true)),
    };
  }

  /** @param commits whether the end of the call is the end of its transaction */
  #withOutcome(call: Call, commits: boolean): Call {
    return {
      ...call,
      done: (elapsed, changedSetting) => {
        if (!commits) return call.done(elapsed, changedSetting);
        this.#release();
        void this.#effects.committed().then(() => call.done(elapsed, changedSetting));
      },
      failed: (error) => {
        this.#release();
        const cancelled = commits && error instanceof CallCancelled ? error.outcome : null;
        if (error instanceof OutcomeUnknown || cancelled === 'unknown') this.#effects.unknown();
        const ended = cancelled === 'executed' ? this.#effects.committed() : this.#effects.rolledBack();
        void ended.then(() => call.failed(error));
      },
    };
  }

  #release(): void {
    this.#freeSlot?.();
    this.#freeSlot = null;
  }
}

/** @throws Problem 413 before the body is read */
function checkLength(contentLength: string | undefined, limit: number): void {
  if (Number(contentLength ?? 0) <= limit) return;
  throw new Problem('body-too-large', { detail: `The limit of the whole form is ${limit} bytes.` });
}

/** A parameter in the form would be lost: parameters come from the query string. */
function refuseParameter(name: string, { candidate }: ExecutableCall): void {
  const parameter = candidate.endpoint.parameters.find((each) => each.key === name || each.name === name);
  if (parameter === undefined || parameter.position === candidate.endpoint.upload!.metadataParameter) return;
  throw new Problem('unknown-parameter', {
    detail: `The form has a field "${name}"; send this parameter in the query string.`,
    members: { unknown: [name] },
  });
}

function toUploadTransaction(transaction: Transaction): UploadTransaction {
  const run = (steps: readonly Step[]): Promise<void> => transaction.run(steps).catch(rethrowAsExecution);
  return {
    run,
    query: async (sql, values = []) => {
      const rows = createTextRowSink();
      await run([{ statement: { name: '', sql }, values, rows }]);
      return rows.rows;
    },
  };
}

/** The values of a handler's statement are not those of the client's parameters, and the endpoint is not stale. */
function rethrowAsExecution(error: unknown): never {
  throw error instanceof DatabaseError ? error.with({ phase: 'execute' }) : error;
}
