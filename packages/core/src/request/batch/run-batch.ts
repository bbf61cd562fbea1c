import {
  CallCancelled,
  ColumnMismatch,
  DatabaseError,
  type IsolationLevel,
  RoutineChanged,
} from '../../postgres/port.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { CompiledEndpoint } from '../compiled-endpoint.ts';
import { findRateLimit } from '../create-handle.ts';
import type { RequestPipeline } from '../pipeline.ts';
import { LimitedRequest } from '../rate-limit/limited-request.ts';
import type { RouteMatch } from '../router.ts';
import type { FailedAttempt } from '../stale-endpoint.ts';
import { toClaimError } from '../idempotency/key-problems.ts';
import { type BatchItem, ItemError } from './batch-items.ts';
import type { BatchKey } from './batch-key.ts';
import { BatchTransaction } from './batch-transaction.ts';
import { ItemRequests } from './item-request.ts';
import { ResponseBudget, resultsToJson } from './item-result.ts';
import { findItemRoute, isDecidedByDatabase, onlyReads } from './item-route.ts';
import { type FinishedItem, RunningItem } from './running-item.ts';
import { StoredBodies } from './stored-bodies.ts';

export interface BatchInput {
  readonly items: readonly BatchItem[];
  readonly request: GatewayRequest;
  readonly pipeline: RequestPipeline;
  /** Null: that of the session. */
  readonly isolation: IsolationLevel | null;
  /** Bytes of all responses together. */
  readonly maxResponseSize: number;
  /** Whether the columns of a result are known before its call runs. */
  readonly preparedStatements: boolean;
  /** The rate limits of the requests, by position. They are counted once, also when the batch runs again. */
  readonly limits: Map<number, LimitedRequest>;
  /** Null without an idempotency key. */
  readonly key: BatchKey | null;
}

export interface FailedBatch {
  readonly kind: 'failed';
  /** The position of the request that has failed; null: the transaction has failed. */
  readonly item: number | null;
  readonly failed: FailedAttempt;
  /** Whether changes may have been committed although the gateway cannot read a result. */
  readonly mayHaveCommitted: boolean;
}

export interface FinishedBatch {
  readonly kind: 'done';
  readonly items: readonly FinishedItem[];
  /** The body of the response. */
  readonly body: Buffer;
}

/** A batch with the same idempotency key has succeeded before. */
export interface RepeatedBatch {
  readonly kind: 'repeated';
  /** The stored response. */
  readonly body: string;
}

export type BatchOutcome = FinishedBatch | RepeatedBatch | FailedBatch;

/**
 * Runs the requests of a batch in one transaction. Each passes the stages that it would pass alone.
 * @throws ItemError for a request that cannot be part of a batch
 */
export async function runBatch(input: BatchInput): Promise<BatchOutcome> {
  const outcome = await start(input, null);
  if (outcome.kind !== 'stored') return outcome;
  const body = await input.key!.read(input.pipeline.database, outcome.role);
  // Before the key was found, the requests up to the first reference have been authorized, and no privilege was checked.
  const authorized = await start(input, new StoredBodies(body));
  return authorized.kind === 'failed' ? authorized : { kind: 'repeated', body };
}

/** The key of the batch exists: its requests have succeeded before. */
interface StoredBatch {
  readonly kind: 'stored';
  /** As in `Call`: the role that may read the stored response. */
  readonly role: string | null | undefined;
}

/** @param stored the responses of the requests, which are authorized and do not run; null: the requests run */
function start(input: BatchInput, stored: StoredBodies | null): Promise<FinishedBatch | StoredBatch | FailedBatch> {
  const batch = new Batch(input, stored);
  input.request.onDisconnect(() => batch.cancel());
  return batch.run();
}

type Route = RouteMatch<CompiledEndpoint>;

class Batch {
  readonly #input: BatchInput;
  readonly #stored: StoredBodies | null;
  readonly #pipeline: RequestPipeline;
  readonly #requests: ItemRequests;
  readonly #budget: ResponseBudget;
  readonly #transaction: BatchTransaction;
  /** Null for a path with a reference. */
  readonly #routes: readonly (Route | null)[];
  readonly #running: RunningItem[] = [];
  /** The endpoints whose calls make cached responses obsolete. */
  readonly #invalidated: Endpoint[] = [];
  /** Whether all calls can be sent with the commit: nothing has to be decided before it. */
  readonly #isOneRoundTrip: boolean;
  readonly #onlyReads: boolean;
  /** Null until all requests have their responses. */
  #body: Buffer | null = null;

  constructor(input: BatchInput, stored: StoredBodies | null) {
    const { items, pipeline, request, isolation, maxResponseSize, preparedStatements, key } = input;
    this.#input = input;
    this.#stored = stored;
    this.#requests = new ItemRequests(request, pipeline.maxBodySize);
    this.#budget = new ResponseBudget(maxResponseSize);
    this.#pipeline = this.#createPipeline();
    this.#routes = items.map((item, index) => forItem(index, () => findStaticRoute(item, pipeline)));
    const routes = this.#routes.map((route) => route?.targets ?? null);
    this.#onlyReads = routes.every((targets) => targets !== null && onlyReads(targets));
    // Otherwise, the columns of a changed endpoint could be noticed after the commit.
    const isDecided = preparedStatements && routes.every((targets) => targets !== null && isDecidedByDatabase(targets));
    // A host may run its own statements in the callback of a request, which must see the results of those before it. With a key, the response is
    // stored before the commit.
    this.#isOneRoundTrip = (this.#onlyReads || isDecided) && !this.#isStepwise && key === null;
    const uses = routes.map((targets) => targets?.map(({ sessionUse }) => sessionUse) ?? null);
    const altersSession = uses.some((each) => each === null || each.some(({ alters }) => alters));
    const altersTransaction = uses.some((each) => each === null || each.some((use) => use.altersTransaction));
    this.#transaction = new BatchTransaction(pipeline.database, {
      isolation,
      timeout: pipeline.timeout,
      altersSession,
      // The last request has none behind it, except the step that stores the response.
      altersTransaction: altersTransaction && (items.length > 1 || key !== null),
      claim: stored === null ? (key?.claim ?? null) : null,
    });
  }

  get #isStepwise(): boolean {
    return (this.#input.pipeline.hooks?.commandCallback ?? null) !== null;
  }

  cancel(): void {
    this.#transaction.cancel();
  }

  async run(): Promise<FinishedBatch | StoredBatch | FailedBatch> {
    try {
      await this.#start();
      if (this.#failure() === null && !this.#isOneRoundTrip) await this.#settle(this.#running);
      if (this.#failure() === null && this.#stored === null) await this.#commit();
    } finally {
      await this.#transaction.rollback();
      const culprit = this.#transaction.failure?.item ?? null;
      if (culprit !== null) await this.#running[culprit]!.progress();
      // Also after an error: the outcome of a commit may be unknown.
      for (const endpoint of this.#invalidated) {
        // In order; without a cache elsewhere, nothing is waited for.
        await this.#input.pipeline.invalidation.done(endpoint);
      }
    }
    const { isRepeated, role } = this.#transaction;
    if (isRepeated) return { kind: 'stored', role };
    return this.#failure() ?? { kind: 'done', items: this.#finished(), body: this.#body ?? this.#createBody() };
  }

  #finished(): readonly FinishedItem[] {
    return this.#running.map(({ outcome }) => outcome as FinishedItem);
  }

  #createBody(): Buffer {
    return resultsToJson(this.#finished().map(({ result }) => result));
  }

  /** Returns the pipeline of the requests, which differs from that of requests that come alone. */
  #createPipeline(): RequestPipeline {
    const { pipeline, key } = this.#input;
    const { invalidation } = pipeline;
    return {
      ...pipeline,
      // The transaction needs the primary, and values that no cache has.
      readRouting: null,
      responseCache: null,
      plans: null,
      transactionContinues: true,
      hasClaimedKey: key !== null,
      authorizesRepeated: this.#stored !== null,
      invalidation: {
        step: (endpoint) => invalidation.step(endpoint),
        // Before the commit, another request would cache the old response again.
        done: (endpoint) => void this.#invalidated.push(endpoint),
      },
    };
  }

  /** Starts the requests in order, until one fails. A request with references waits for those that it refers to. */
  async #start(): Promise<void> {
    for (const [index, item] of this.#input.items.entries()) {
      const waits =
        this.#stored === null &&
        this.#running.some((earlier) => earlier.index <= item.lastReference && earlier.outcome === null);
      // In order: the calls run in the order in which they are made.
      if (waits) await this.#settle(this.#running);
      if (this.#failure() !== null) return;
      const running = forItem(index, () => this.#startItem(item, index));
      this.#running.push(running);
      const progress = this.#isStepwise ? this.#settle([running]) : running.progress();
      if (progress !== null) await progress;
    }
  }

  #startItem(item: BatchItem, index: number): RunningItem {
    const request = this.#requests.create(item, (earlier) => this.#bodyOf(earlier));
    const route = this.#routes[index] ?? findItemRoute(request, this.#pipeline);
    const { limits } = this.#input;
    const rateLimit = findRateLimit({ kind: 'match', ...route }, this.#pipeline);
    if (rateLimit !== null && !limits.has(index)) limits.set(index, new LimitedRequest(rateLimit, request));
    return new RunningItem({
      index,
      request,
      route,
      limited: limits.get(index) ?? null,
      pipeline: this.#pipeline,
      transaction: this.#transaction,
      budget: this.#budget,
    });
  }

  #bodyOf(index: number): string | null {
    if (this.#stored !== null) return this.#stored.at(index);
    const outcome = this.#running[index]!.outcome as FinishedItem;
    return outcome.result.body?.toString() ?? null;
  }

  /** Sends calls that wait, without the commit, until all of these requests have their responses, or one has failed. */
  async #settle(items: readonly RunningItem[]): Promise<void> {
    while (this.#failure() === null && items.some(({ outcome }) => outcome === null)) {
      for (const item of this.#running) item.callSent();
      // One round trip after the other.
      await this.#transaction.flush();
      if (this.#transaction.failure !== null) return;
      await progressOf(items);
    }
  }

  async #commit(): Promise<void> {
    // A commit with changes cannot be undone because of the size of its response.
    this.#budget.isOff = this.#isOneRoundTrip && !this.#onlyReads;
    for (const item of this.#running) item.callSent();
    const { key } = this.#input;
    this.#body = key === null ? null : this.#createBody();
    await this.#transaction.commit(key === null ? null : key.save(this.#body!));
    if (this.#transaction.failure === null) await progressOf(this.#running);
  }

  /** Returns the first failure; null while there is none. */
  #failure(): FailedBatch | null {
    const { failure, claimError } = this.#transaction;
    if (failure === null && this.#running.every(({ outcome }) => outcome?.kind !== 'failed')) return null;
    const failedItems = this.#running.filter(({ outcome }) => outcome?.kind === 'failed');
    const culprit = failedItems.find(({ index }) => index === failure?.item) ?? failedItems.find(isOwnFailure);
    if (failure !== null && (failure.item === null || culprit === undefined)) {
      const attempt = { pipeline: this.#input.pipeline, targets: [], call: null, caller: null, input: null };
      const error = claimError === null ? failure.error : toClaimError(claimError);
      return this.#toFailedBatch(failure.item, { ...attempt, error, mayRepeat: true });
    }
    if (culprit?.outcome?.kind !== 'failed') return null;
    return this.#toFailedBatch(culprit.index, culprit.outcome.failed);
  }

  /**
   * PostgreSQL does not commit after an error of its own, such as that of a routine that was created anew. Where the columns of a statement differ
   * when it is prepared, nothing was sent that commits.
   */
  #toFailedBatch(item: number | null, failed: FailedAttempt): FailedBatch {
    const { error } = failed;
    const isUnsent = error instanceof ColumnMismatch && !error.hasRun;
    const isRolledBack = isUnsent || error instanceof DatabaseError || error instanceof RoutineChanged;
    const mayHaveCommitted = this.#transaction.hasSentCommit && !this.#onlyReads && !isRolledBack;
    return { kind: 'failed', item, failed, mayHaveCommitted };
  }
}

/** Resolves when each of the requests has its response, or a call that waits to be sent. */
async function progressOf(items: readonly RunningItem[]): Promise<void> {
  await Promise.all(items.map((item) => item.progress()).filter((progress) => progress !== null));
}

/** Whether the request has failed by itself, and not because another one has. */
function isOwnFailure({ outcome }: RunningItem): boolean {
  return outcome?.kind === 'failed' && !(outcome.failed.error instanceof CallCancelled);
}

/** Returns the route of a request whose path has no reference; null for another one. */
function findStaticRoute({ method, path }: BatchItem, pipeline: RequestPipeline): Route | null {
  let uri = '';
  for (const piece of path) {
    if (typeof piece !== 'string') return null;
    uri += piece;
  }
  const mark = uri.indexOf('?');
  return findItemRoute({ method, path: mark === -1 ? uri : uri.slice(0, mark) }, pipeline);
}

/** @throws ItemError with the error of `act` */
function forItem<Product>(item: number, act: () => Product): Product {
  try {
    return act();
  } catch (error) {
    throw new ItemError(item, error);
  }
}
