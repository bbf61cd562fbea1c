import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type IsolationLevel, OutcomeUnknown } from '../../postgres/port.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { GatewayResponse } from '../../http/response.ts';
import { withCallerHeaders } from '../../auth/caller-headers.ts';
import type { Caller } from '../../ports/ports.ts';
import { addToken, getsToken, readConsistency } from '../consistency.ts';
import { handleError } from '../error-handler.ts';
import { readJsonDocument } from '../parse/parse-input.ts';
import { parseQueryString } from '../../http/query-string.ts';
import type { RequestPipeline } from '../pipeline.ts';
import type { LimitedRequest } from '../rate-limit/limited-request.ts';
import { checkUriLength } from '../route-lookup.ts';
import { maxStaleRepetitions, pipelineForRetry, type RefreshStaleEndpoint } from '../stale-endpoint.ts';
import type { BatchKeyStatements } from '../idempotency/compile-idempotency.ts';
import { replayHeaders } from '../idempotency/execute-once.ts';
import { unknownOutcome } from '../idempotency/key-problems.ts';
import { type BatchItem, ItemError, readBatch } from './batch-items.ts';
import { type BatchKey, readBatchKey } from './batch-key.ts';
import {
  type BatchInput,
  type BatchOutcome,
  type FailedBatch,
  type FinishedBatch,
  type RepeatedBatch,
  runBatch,
} from './run-batch.ts';
import type { FinishedItem } from './running-item.ts';

export interface BatchLimits {
  readonly maxBatchItems: number;
  /** Bytes of all responses together. */
  readonly maxBatchResponseSize: number;
  /** As in the options: otherwise, the columns of a result are known only when its call has run. */
  readonly preparedStatements: boolean;
}

const isolationLevels: Readonly<Record<string, IsolationLevel>> = {
  'read-committed': 'read committed',
  'repeatable-read': 'repeatable read',
  serializable: 'serializable',
};

/** Serialization failures and deadlocks, after which the same transaction may succeed (PostgreSQL manual, "Serialization Failure Handling"). */
const repeatableStates: ReadonlySet<string> = new Set(['40001', '40P01']);
const maxRepetitions = 4;
/** Milliseconds; a random part of it, doubled for each repetition, keeps concurrent batches apart. */
const firstPause = 10;
/** RFC 9110, section 9.2.2. */
const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY', 'PUT', 'DELETE']);

/** Answers batches: their requests run in one transaction, all or none. */
export class BatchHandler {
  readonly #currentPipeline: () => RequestPipeline;
  readonly #refreshStale: RefreshStaleEndpoint;
  readonly #limits: BatchLimits;
  readonly #keys: BatchKeyStatements;
  /** The callers of requests that observers are about to receive. */
  readonly #callers = new WeakMap<GatewayRequest, Caller>();

  constructor(
    currentPipeline: () => RequestPipeline,
    refreshStale: RefreshStaleEndpoint,
    limits: BatchLimits,
    keys: BatchKeyStatements,
  ) {
    this.#keys = keys;
    this.#currentPipeline = currentPipeline;
    this.#refreshStale = refreshStale;
    this.#limits = limits;
  }

  async handle(request: GatewayRequest): Promise<GatewayResponse> {
    const pipeline = this.#currentPipeline();
    const limits = new Map<number, LimitedRequest>();
    try {
      checkUriLength(request, pipeline.maxUriLength);
      const isolation = readIsolation(request.query);
      // An error after the commit would come too late.
      if (pipeline.readRouting !== null) readConsistency(request);
      const document = await readJsonDocument(request, pipeline.maxBodySize);
      const items = readBatch(document, this.#limits.maxBatchItems);
      const { maxBatchResponseSize: maxResponseSize, preparedStatements } = this.#limits;
      const key = await readBatchKey(request, document!, isolation, { pipeline, statements: this.#keys });
      const outcome = await this.#run({
        items,
        request,
        pipeline,
        isolation,
        maxResponseSize,
        preparedStatements,
        limits,
        key,
      });
      if (pipeline.observesRequests) this.#setCaller(request, outcome, key);
      if (outcome.kind === 'repeated') return await respondAgain(outcome, key!.caller, request, pipeline);
      if (outcome.kind === 'failed') return await respondToFailure(withKey(outcome, key), request);
      if (key !== null) pipeline.keyPruner?.afterCall(pipeline.database);
      return await respond(outcome, request, pipeline);
    } catch (error) {
      const [item, cause] = error instanceof ItemError ? [error.item, error.cause] : [null, error];
      const failed = { error: cause, pipeline, targets: [], call: null, caller: null, input: null, mayRepeat: false };
      return respondToFailure({ item, failed }, request);
    } finally {
      for (const limited of limits.values()) limited.release();
    }
  }

  /** Returns the caller of a batch that has been answered, if requests are observed. */
  callerOf(request: GatewayRequest): Caller | null {
    return this.#callers.get(request) ?? null;
  }

  #setCaller(request: GatewayRequest, outcome: BatchOutcome, key: BatchKey | null): void {
    const ofItems =
      outcome.kind === 'done' ? findCaller(outcome.items) : outcome.kind === 'failed' ? outcome.failed.caller : null;
    const caller = ofItems ?? key?.caller ?? null;
    if (caller !== null) this.#callers.set(request, caller);
  }

  /** Runs the batch, and again after a serialization failure or with a stale endpoint, if it had no effect. */
  async #run(input: BatchInput): Promise<BatchOutcome> {
    let outcome = await runBatch(input);
    let current = input;
    for (let repetition = 0; repetition < maxStaleRepetitions; repetition++) {
      if (outcome.kind !== 'failed') return outcome;
      const failed = { ...outcome.failed, pipeline: current.pipeline };
      const refreshed = failed.mayRepeat ? await pipelineForRetry(failed, this.#refreshStale) : null;
      if (refreshed === null || outcome.mayHaveCommitted) break;
      current = { ...current, pipeline: refreshed };
      outcome = await runBatch(current);
    }
    const isConflict = outcome.kind === 'failed' && isSerializationFailure(outcome.failed.error);
    return isConflict && input.items.every(isIdempotent) ? this.#repeat(current) : outcome;
  }

  async #repeat(input: BatchInput): Promise<BatchOutcome> {
    let outcome = await runBatch(input);
    for (let repetition = 1; repetition < maxRepetitions; repetition++) {
      if (outcome.kind !== 'failed' || !isSerializationFailure(outcome.failed.error)) return outcome;
      // One after the other.
      await delay(Math.random() * firstPause * 2 ** repetition);
      outcome = await runBatch(input);
    }
    return outcome;
  }
}

function isSerializationFailure(error: unknown): boolean {
  return error instanceof DatabaseError && repeatableStates.has(error.diagnostics.code);
}

function isIdempotent({ method }: BatchItem): boolean {
  return idempotentMethods.has(method);
}

/** @throws Problem 400 */
function readIsolation(query: string): IsolationLevel | null {
  const values = parseQueryString(query);
  const [unknown] = [...values.keys()].filter((key) => key !== 'isolation');
  const [name, ...others] = values.get('isolation') ?? [];
  if (unknown === undefined && name === undefined) return null;
  const level = name !== undefined && Object.hasOwn(isolationLevels, name) ? isolationLevels[name]! : null;
  if (unknown === undefined && level !== null && others.length === 0) return level;
  throw new Problem('invalid-batch', {
    detail: `The query of a batch may have "isolation" only, once: ${Object.keys(isolationLevels).join(', ')}.`,
  });
}

async function respond(
  { items, body }: FinishedBatch,
  request: GatewayRequest,
  { readRouting }: RequestPipeline,
): Promise<GatewayResponse> {
  const cookies = items.flatMap(({ result }) => result.cookies.flatMap((cookie) => ['set-cookie', cookie]));
  const headers = cookies.length === 0 ? jsonHeaders : [...jsonHeaders, ...cookies];
  const response = withCallerHeaders({ kind: 'whole', status: 200, headers, body }, findCaller(items));
  if (readRouting === null) return response;
  const consistency = readConsistency(request);
  const writes = items.some(({ call }) => call !== null && getsToken(call.candidate.endpoint, consistency));
  return writes ? addToken(response, readRouting.replicas) : response;
}

const jsonHeaders: readonly string[] = ['content-type', 'application/json'];

/** Returns the response of the earlier batch with the same idempotency key. */
function respondAgain(
  { body }: RepeatedBatch,
  caller: Caller | null,
  request: GatewayRequest,
  { readRouting }: RequestPipeline,
): GatewayResponse | Promise<GatewayResponse> {
  const headers = [...jsonHeaders, ...replayHeaders.headers];
  const response = withCallerHeaders({ kind: 'whole', status: 200, headers, body }, caller);
  const isWrite = getsToken({ volatility: 'volatile', connection: null }, readConsistency(request));
  return readRouting !== null && isWrite ? addToken(response, readRouting.replicas) : response;
}

type Failure = Pick<FailedBatch, 'item' | 'failed'>;

/** A batch with a key can be sent again when its outcome is unknown. */
function withKey({ item, failed }: FailedBatch, key: BatchKey | null): Failure {
  const { error } = failed;
  if (key === null || !(error instanceof OutcomeUnknown)) return { item, failed };
  return { item: null, failed: { ...failed, error: unknownOutcome(error) } };
}

/** The caller of the first request with refreshed credentials, which are the same for all; else any caller. */
function findCaller(items: readonly FinishedItem[]): Caller | null {
  const callers = items.map(({ caller }) => caller).filter((caller) => caller !== null);
  return callers.find(({ headers }) => headers !== undefined) ?? callers[0] ?? null;
}

async function respondToFailure({ item, failed }: Failure, request: GatewayRequest): Promise<GatewayResponse> {
  const pointer = item === null ? null : `/${item}`;
  const response = await handleError(failed.error, request, { ...failed, pointer }, failed.pipeline);
  return withCallerHeaders(response, failed.caller);
}
