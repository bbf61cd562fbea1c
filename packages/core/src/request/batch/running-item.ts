import type {
  Call,
  CallHandle,
  ChannelEvent,
  Database,
  PoolStatistics,
  QueryOptions,
  TextTable,
  Transaction,
  TransactionOptions,
  Value,
} from '../../postgres/port.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Caller } from '../../ports/ports.ts';
import type { ExecutableCall } from '../build-query.ts';
import type { CompiledEndpoint } from '../compiled-endpoint.ts';
import { runStages } from '../handle.ts';
import { noTimer } from '../server-timing.ts';
import { ResponseIsStored } from '../idempotency/authorize-repeated.ts';
import type { RequestPipeline } from '../pipeline.ts';
import type { LimitedRequest } from '../rate-limit/limited-request.ts';
import type { RouteMatch } from '../router.ts';
import type { FailedAttempt } from '../stale-endpoint.ts';
import type { BatchTransaction } from './batch-transaction.ts';
import { type ItemResult, readResult, type ResponseBudget } from './item-result.ts';

export interface FinishedItem {
  readonly kind: 'finished';
  readonly result: ItemResult;
  readonly caller: Caller | null;
  readonly call: ExecutableCall | null;
}

export type ItemOutcome = FinishedItem | { readonly kind: 'failed'; readonly failed: FailedAttempt };

export interface ItemInput {
  /** The position in the batch. */
  readonly index: number;
  readonly request: GatewayRequest;
  readonly route: RouteMatch<CompiledEndpoint>;
  readonly limited: LimitedRequest | null;
  readonly pipeline: RequestPipeline;
  readonly transaction: BatchTransaction;
  readonly budget: ResponseBudget;
}

/** The result of a request whose response is stored. */
const storedResult: ItemResult = { status: 200, headers: [], cookies: [], body: null, release: null };

/** A request of a batch on its way through the stages of every request. Its calls wait in the transaction of the batch. */
export class RunningItem {
  /** Null until the request has its response. */
  outcome: ItemOutcome | null = null;
  readonly index: number;
  #hasWaitingCall = false;
  #wake: () => void = () => undefined;

  constructor(input: ItemInput) {
    this.index = input.index;
    void this.#run(input).then((outcome) => {
      this.outcome = outcome;
      this.#wake();
    });
  }

  /** Resolves when the request has its response, or a call that waits to be sent. Null: it has. */
  progress(): Promise<void> | null {
    if (this.outcome !== null || this.#hasWaitingCall) return null;
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** The call that waits is about to be sent. */
  callSent(): void {
    this.#hasWaitingCall = false;
  }

  async #run({ request, route, limited, pipeline, transaction, budget, index }: ItemInput): Promise<ItemOutcome> {
    const database = new ItemDatabase(pipeline.database, (call) => {
      this.#hasWaitingCall = true;
      this.#wake();
      return transaction.enqueue(call, index);
    });
    const attempt = await runStages(request, { ...pipeline, database }, route, {
      limited,
      earlierInput: null,
      timer: noTimer,
    });
    if ('error' in attempt) {
      const { error, caller, call } = attempt;
      if (error instanceof ResponseIsStored) return { kind: 'finished', result: storedResult, caller, call };
      return { kind: 'failed', failed: attempt };
    }
    const { response, call, caller } = attempt;
    const isOwnJson = pipeline.hooks === null && call?.candidate.endpoint.contentType === null;
    try {
      const whole = limited === null ? response! : limited.finish(response)!;
      const read = readResult(whole, { budget, isOwnJson, refreshed: caller?.headers ?? [] });
      const result = read instanceof Promise ? await read : read;
      if (result.status >= 400) throw refusal(result);
      return { kind: 'finished', result, caller, call };
    } catch (error) {
      const { targets } = route;
      return { kind: 'failed', failed: { error, pipeline, targets, call, caller, input: null, mayRepeat: true } };
    }
  }
}

/** A hook, or the call itself through its response settings, has refused the request. */
function refusal({ status, body }: ItemResult): Problem {
  return new Problem('batch-failed', {
    status,
    ...(body === null ? {} : { members: { response: JSON.parse(body.toString()) as unknown } }),
  });
}

/** The database for a request of a batch: its calls run in the transaction of the batch. */
class ItemDatabase implements Database {
  readonly #database: Database;
  readonly run: (call: Call) => CallHandle;

  constructor(database: Database, run: (call: Call) => CallHandle) {
    this.#database = database;
    this.run = run;
  }

  get size(): number {
    return this.#database.size;
  }

  statistics(): PoolStatistics {
    return this.#database.statistics();
  }

  query(sql: string, values?: readonly Value[], options?: QueryOptions): Promise<TextTable> {
    return this.#database.query(sql, values, options);
  }

  begin(options: TransactionOptions): Promise<Transaction> {
    return this.#database.begin(options);
  }

  listen(channel: string, listener: (event: ChannelEvent) => void): () => void {
    return this.#database.listen(channel, listener);
  }

  disconnect(): void {
    this.#database.disconnect();
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
