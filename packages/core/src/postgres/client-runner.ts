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

const mode: ConnectionMode = { unnamed: true, settingsPerCall: null, isProvided: true, reset: 'none' };
const cancelTimeoutMs = 15_000;
const checkIntervalMs = 250;
const readyForQuery = 0x5a;
/** ParameterStatus and NotificationResponse: the client of the host has to receive them. */
const clientMessages: ReadonlySet<number> = new Set([0x53, 0x41]);

/** A query object of `pg`: it uses the connection from `submit` until the next ReadyForQuery. */
interface Submittable {
  callback?: (error: Error | null) => void;
  submit(): Error | undefined;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
}

/**
 * Creates a runner for calls on a `pg` client of the host, in the transaction that may be open there. `pg` gets one call at a
 * time, because it reports a deprecated use when queries queue in it: a call queues with the queries of the host, the next one
 * follows when it has ended. Calls complete after the client is available to the host again.
 * @param acquireTimeoutMs the maximum time that a call waits for the client
 * @throws ConnectionSetupError for an object that is not a connected `pg` client
 */
export function createClientRunner(client: HostClient, acquireTimeoutMs: number): Runner {
  const internals = toPgClient(client);
  let queue = queues.get(internals);
  if (queue === undefined) queues.set(internals, (queue = new CallQueue(client)));
  const calls = queue;
  return {
    run: (call) => {
      const clientCall: ClientCall = new ClientCall(call, internals, {
        acquireTimeoutMs,
        ended: () => calls.remove(clientCall),
      });
      calls.add(clientCall);
      return clientCall;
    },
  };
}

/** The calls on a client, of all requests for which the host provides it. The first one is submitted. */
class CallQueue {
  readonly #client: HostClient;
  readonly #calls: ClientCall[] = [];

  constructor(client: HostClient) {
    this.#client = client;
  }

  add(call: ClientCall): void {
    this.#calls.push(call);
    if (this.#calls.length === 1) this.#submit(call);
  }

  remove(call: ClientCall): void {
    const index = this.#calls.indexOf(call);
    this.#calls.splice(index, 1);
    const [first] = this.#calls;
    if (index === 0 && first !== undefined) this.#submit(first);
  }

  #submit(call: ClientCall): void {
    (this.#client as unknown as { query(query: Submittable): unknown }).query(call);
  }
}

const queues = new WeakMap<PgClient, CallQueue>();

class ClientCall implements Submittable, CallHandle {
  /** Set by `pg` when the host has configured `query_timeout`. */
  callback?: (error: Error | null) => void;
  readonly #call: Call;
  readonly #client: PgClient;
  #state: 'queued' | 'running' | 'done' = 'queued';
  #session: Session | null = null;
  #request: CallRequest | null = null;
  #readers: readonly DataListener[] = [];
  /** Messages for the client of the host, which does not read the socket during the call. */
  readonly #withheld: Buffer[] = [];
  /** The milliseconds that the call took, or its error. Null before its end. */
  #outcome: number | Error | null = null;
  #timer: NodeJS.Timeout;
  readonly #ended: () => void;

  /** @param ended invoked at the end of the call, before its result or error */
  constructor(
    call: Call,
    client: PgClient,
    { acquireTimeoutMs, ended }: { readonly acquireTimeoutMs: number; readonly ended: () => void },
  ) {
    this.#call = call;
    this.#client = client;
    this.#ended = ended;
    const message = `the host's connection did not become free within ${acquireTimeoutMs} ms`;
    this.#timer = setTimeout(() => this.#failQueued(new AcquireTimeout(message)), acquireTimeoutMs);
  }

  // — Submittable, invoked by `pg` —

  /** Starts the call. A returned error makes `pg` continue with the next query. */
  submit(): Error | undefined {
    if (this.#state === 'done') return new Error('the call was abandoned');
    clearTimeout(this.#timer);
    this.#state = 'running';
    const { stream } = this.#client.connection;
    this.#readers = stream.listeners('data') as DataListener[];
    stream.removeAllListeners('data');
    this.#client.on('error', ignore);
    const inTransaction = (this.#client._txStatus ?? 'I') !== 'I';
    const session: Session = new Session(stream, this.#events(), { ...mode, inTransaction });
    this.#session = session;
    this.#timer = setInterval(() => session.checkTimeouts(performance.now()), checkIntervalMs);
    this.#request = session.run({
      ...this.#call,
      done: (elapsed) => void (this.#outcome = elapsed),
      failed: (error) => void (this.#outcome = error),
    });
    return undefined;
  }

  /** Fails a queued call. A running call receives connection errors from its session. */
  handleError(error: Error): void {
    this.#failQueued(new ConnectionLost(`the host's connection: ${error.message}`, { cause: error }));
  }

  handleReadyForQuery(): void {
    this.callback?.(null);
  }

  // — CallHandle, invoked by the caller —

  resume(): void {
    if (this.#request !== null) this.#session!.resume(this.#request);
  }

  cancel(): void {
    if (this.#request !== null) this.#session!.abandon(this.#request);
    else this.#failQueued(new CallCancelled('the caller abandoned the call'));
  }

  #events(): ConstructorParameters<typeof Session>[1] {
    let ready = Buffer.alloc(0);
    return {
      // After the current chunk, so that all of its messages are forwarded.
      released: (session) => queueMicrotask(() => this.#returnClient(session, ready)),
      // The client of the host detects the loss and fails its later queries.
      closed: () => this.#end(),
      notice: () => undefined,
      forward: (type, message) => {
        if (type === readyForQuery) ready = Buffer.from(message);
        else if (clientMessages.has(type)) this.#withheld.push(Buffer.from(message));
      },
      cancel: () => sendCancelRequest(this.#client, cancelTimeoutMs),
    };
  }

  #returnClient(session: Session, ready: Buffer): void {
    if (!session.isIdle) return;
    const { stream } = this.#client.connection;
    const remainder = session.detach();
    for (const reader of this.#readers) stream.on('data', reader);
    this.#client.off('error', ignore);
    // The ReadyForQuery makes the client continue with its queued queries.
    const last = ready.length > 0 ? ready : createReadyForQuery(this.#client);
    for (const message of [...this.#withheld, last, remainder])
      for (const reader of this.#readers) reader.call(stream, message);
    this.#end();
  }

  #end(): void {
    if (this.#state === 'done') return;
    this.#state = 'done';
    clearInterval(this.#timer);
    this.#ended();
    if (typeof this.#outcome === 'number') this.#call.done(this.#outcome, null);
    else if (this.#outcome !== null) this.#call.failed(this.#outcome);
  }

  #failQueued(error: Error): void {
    if (this.#state !== 'queued') return;
    this.#state = 'done';
    clearTimeout(this.#timer);
    this.#ended();
    // Asynchronously: the caller has no handle before `run` returns.
    queueMicrotask(() => this.#call.failed(error));
  }
}

/** Creates a ReadyForQuery for a call that was never sent. */
function createReadyForQuery({ _txStatus: status }: PgClient): Buffer {
  return Buffer.from([readyForQuery, 0, 0, 0, 5, (status ?? 'I').charCodeAt(0)]);
}

function ignore(): void {
  // The session reports the error to the call.
}
