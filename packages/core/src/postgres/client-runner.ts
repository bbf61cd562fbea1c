import { type PgClient, type DataListener, toPgClient } from './pg-client.ts';
import type { CallRequest } from './call-request.ts';
import type { ConnectionMode } from './connection-mode.ts';
import { sendCancelRequest } from './session-opener.ts';
import {
  AcquireTimeout,
  type Call,
  type CallHandle,
  CallCancelled,
  ConnectionLost,
  type HostClient,
  type Runner,
} from './port.ts';
import { Session } from './session.ts';

const manner: ConnectionMode = { unnamed: true, settingsPerCall: null, isProvided: true, reset: 'none' };
const cancelWithin = 15_000;
const sweepInterval = 250;
const readyForQuery = 0x5a;
/** ParameterStatus and NotificationResponse. */
const ownersBusiness: ReadonlySet<number> = new Set([0x53, 0x41]);

/** What `pg` takes for a query: it speaks on the connection from `submit` until the next ReadyForQuery. */
interface Submittable {
  callback?: (error: Error | null) => void;
  submit(): Error | undefined;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
}

/**
 * Makes calls on a client that stays the host's, in the transaction that may be open there. A call takes its turn among the host's
 * own queries, and is told how it ended once the client is the host's again.
 * @param patience milliseconds that a call waits for its turn
 * @throws ConnectionSetupError for what is no client of `pg`
 */
export function createClientRunner(client: HostClient, patience: number): Runner {
  const internals = toPgClient(client);
  const submit = (query: Submittable): void => {
    (client as unknown as { query(query: Submittable): unknown }).query(query);
  };
  return {
    run: (call) => {
      const borrowed = new ClientCall(call, internals, patience);
      submit(borrowed);
      return borrowed;
    },
  };
}

class ClientCall implements Submittable, CallHandle {
  /** Set by `pg`, where the host has limited the time of queries. */
  callback?: (error: Error | null) => void;
  readonly #call: Call;
  readonly #client: PgClient;
  #state: 'waiting' | 'running' | 'over' = 'waiting';
  #session: Session | null = null;
  #run: CallRequest | null = null;
  #readers: readonly DataListener[] = [];
  /** What the host's client has to hear when it reads again. */
  readonly #missed: Buffer[] = [];
  /** How the call ended: the milliseconds that it took, or why it failed. Null: its connection has ended before. */
  #outcome: number | Error | null = null;
  #timer: NodeJS.Timeout;

  constructor(call: Call, client: PgClient, patience: number) {
    this.#call = call;
    this.#client = client;
    const late = `the host's connection did not become free within ${patience} ms`;
    this.#timer = setTimeout(() => this.#giveUp(new AcquireTimeout(late)), patience);
  }

  // — what `pg` asks —

  /** It is our turn. An error sends `pg` on to the next query. */
  submit(): Error | undefined {
    if (this.#state === 'over') return new Error('nobody waits for this call any more');
    clearTimeout(this.#timer);
    this.#state = 'running';
    const { stream } = this.#client.connection;
    this.#readers = stream.listeners('data') as DataListener[];
    stream.removeAllListeners('data');
    this.#client.on('error', ignore);
    const open = (this.#client._txStatus ?? 'I') !== 'I';
    const session: Session = new Session(stream, this.#events(), { ...manner, inTransaction: open });
    this.#session = session;
    this.#timer = setInterval(() => session.checkTimeouts(performance.now()), sweepInterval);
    this.#run = session.run({
      ...this.#call,
      done: (elapsed) => void (this.#outcome = elapsed),
      failed: (error) => void (this.#outcome = error),
    });
    return undefined;
  }

  /** Its turn never came. While the call runs, its session hears by itself what happens to the connection. */
  handleError(error: Error): void {
    this.#giveUp(new ConnectionLost(`the host's connection: ${error.message}`, { cause: error }));
  }

  handleReadyForQuery(): void {
    this.callback?.(null);
  }

  // — what the caller asks —

  resume(): void {
    if (this.#run !== null) this.#session!.resume(this.#run);
  }

  cancel(): void {
    if (this.#run !== null) this.#session!.abandon(this.#run);
    else this.#giveUp(new CallCancelled('the caller went away'));
  }

  // —

  #events(): ConstructorParameters<typeof Session>[1] {
    let ready = Buffer.alloc(0);
    return {
      // Behind the message that is being read, so that all that came with it is passed on.
      released: (session) => queueMicrotask(() => this.#giveBack(session, ready)),
      // Its owner hears of it from its client, which fails whatever is asked of it from now on.
      closed: () => this.#end(),
      notice: () => undefined,
      forward: (type, message) => {
        if (type === readyForQuery) ready = Buffer.from(message);
        else if (ownersBusiness.has(type)) this.#missed.push(Buffer.from(message));
      },
      cancel: () => sendCancelRequest(this.#client, cancelWithin),
    };
  }

  #giveBack(session: Session, ready: Buffer): void {
    if (!session.isIdle) return;
    const { stream } = this.#client.connection;
    const rest = session.detach();
    for (const reader of this.#readers) stream.on('data', reader);
    this.#client.off('error', ignore);
    // With the last message the client goes on with what was asked of it meanwhile.
    const last = ready.length > 0 ? ready : readyAs(this.#client);
    for (const message of [...this.#missed, last, rest])
      for (const reader of this.#readers) reader.call(stream, message);
    this.#end();
  }

  #end(): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    clearInterval(this.#timer);
    if (typeof this.#outcome === 'number') this.#call.done(this.#outcome, null);
    else if (this.#outcome !== null) this.#call.failed(this.#outcome);
  }

  #giveUp(error: Error): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'over';
    clearTimeout(this.#timer);
    // Never before `run` has returned: its caller would not know the handle yet.
    queueMicrotask(() => this.#call.failed(error));
  }
}

/** A ReadyForQuery for a call that never left. */
function readyAs({ _txStatus: status }: PgClient): Buffer {
  return Buffer.from([readyForQuery, 0, 0, 0, 5, (status ?? 'I').charCodeAt(0)]);
}

function ignore(): void {
  // The call hears of it from its session.
}
