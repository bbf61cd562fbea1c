import type { Duplex } from 'node:stream';
import { Canceller, gracePeriodMs } from './canceller.ts';
import {
  readDiagnostics,
  readNotification,
  handleResponseMessage,
  checkUnsolicitedMessage,
} from './backend-messages.ts';
import { type PipelinedRequest, MaintenanceRequest, Pipeline } from './pipeline.ts';
import { MessageParser, ProtocolViolation } from './message-parser.ts';
import { adaptCall, type ConnectionMode, dedicatedConnection, setRoleSteps, rollback } from './connection-mode.ts';
import { type Call, ConnectionLost, type Notice, type Statement, type Step } from './port.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { settleLostRequests, requeueFollowers, type Requeue, requeueTainted } from './requeue.ts';
import { mayBeFollowed, CallRequest } from './call-request.ts';
import { SessionState } from './session-state.ts';

/** What a session tells its owner, and asks of it. */
export interface SessionEvents {
  /** The session can take another call, or changed so that it may. */
  released(session: Session): void;
  closed(session: Session): void;
  /** A notice outside of any call. */
  notice(notice: Notice): void;
  /** Runs a call elsewhere that was not executed, or may be executed twice. False: nothing else can run it. */
  requeue?(run: CallRequest, begun?: boolean): boolean;
  /** On a connection that listens. */
  notification?(channel: string, payload: string): void;
  /** On a lent connection: every message but rows, whose bytes are gone afterwards. */
  forward?(type: number, message: Buffer): void;
  /** Asks the server, on a connection of its own, to cancel what this session runs; resolves when it has been told. */
  cancel(): Promise<void>;
}

/** How a ReadyForQuery says that no transaction is open. */
const noTransaction = 0x49;
/** Milliseconds after which calls behind it that may run elsewhere do so. */
const blockedHead = 100;

/**
 * The extended query protocol on a connection that is open and idle. Several calls may be in flight: each is one
 * exchange that ends with its own Sync, so that an error of one never touches the next.
 */
export class Session {
  readonly #socket: Duplex;
  readonly #events: SessionEvents;
  readonly #manner: ConnectionMode;
  readonly #frames: MessageParser;
  readonly #queue = new Pipeline((bytes) => {
    if (this.#closed === null) this.#socket.write(bytes);
  });
  readonly #outgoing = this.#queue.writer;
  readonly #exchanges = this.#queue.requests;
  readonly #prepared = new PreparedStatements(this.#outgoing);
  /** Calls that wait for their statements to be prepared. */
  #preparing = 0;
  readonly #flow: SocketFlow;
  #closed: ConnectionLost | null = null;
  /** We said that we end the connection: nothing may be sent any more. */
  #ending = false;
  readonly #cancelling: Canceller;
  readonly state: SessionState;
  /** The FATAL error with which the server ended the connection. */
  #fatal: Notice | null = null;

  constructor(socket: Duplex, events: SessionEvents, manner: ConnectionMode = dedicatedConnection) {
    this.#socket = socket;
    this.#events = events;
    this.#manner = manner;
    this.state = new SessionState(manner);
    this.#flow = new SocketFlow(socket);
    this.#frames = new MessageParser((type, chunk, start, end) => this.#message(type, chunk, start, end));
    this.#cancelling = new Canceller({
      exchanges: this.#exchanges,
      cancel: () => events.cancel(),
      barrier: (passed) => this.#maintain([], () => passed()),
      lose: (reason) => this.#lose(reason),
    });
    socket.on('data', this.#onData);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  readonly #onData = (chunk: Buffer): void => this.#receive(chunk);
  readonly #onError = (error: Error): void => this.#lose(error.message);
  readonly #onClose = (): void => this.#lose('the connection was closed');
  /**
   * One for all calls: V8 puts a function that is assigned to a property straight among its old objects, where one of each call
   * would keep all of that call until the next full collection.
   */
  readonly #retry = (run: CallRequest): void => this.#startAgain(run);
  readonly #elsewhere: Requeue = (run, begun) => this.#events.requeue?.(run, begun) === true;

  /** How many calls it has been given and not finished. */
  get load(): number {
    return this.#exchanges.length + this.#preparing;
  }

  /** Calls were given to it that have not left yet: one more of their kind travels in the same packet. */
  get isBatching(): boolean {
    return this.#queue.isBatching;
  }

  /** A call that may block is among those in flight. */
  get mayBlock(): boolean {
    return this.#exchanges.some(({ pending: run }) => run?.call.mayBlock === true);
  }

  get isIdle(): boolean {
    return this.load === 0 && this.#open;
  }

  /** Whether anything may be sent. */
  get #open(): boolean {
    return !this.#cancelling.isPending && !this.#ending && this.state.taintedBy === null && this.#closed === null;
  }

  /**
   * Whether a short call with these statements may go behind those that are in flight.
   * @param now `performance.now()`: a head that runs for long may be waiting for a lock, with everything behind it
   */
  canShare(call: Call, now: number): boolean {
    if (!this.#open || this.#flow.stopped || this.#preparing > 0 || this.state.changed !== null) return false;
    if (!mayBeFollowed(this.#exchanges, now) || this.state.switchesRole(call)) return false;
    return this.#manner.unnamed || this.#prepared.missing(call.steps).length === 0;
  }

  /** Sends a call; statements that this connection does not know yet are prepared first. Returns its exchange. */
  run(call: Call): CallRequest {
    const switchesRole = this.state.switchesRole(call);
    const run = new CallRequest(call, adaptCall(call, this.#manner, switchesRole), {
      switchesRole,
      timeout: call.timeout ?? this.state.statementTimeout,
      retry: this.#retry,
    });
    this.#start(run);
    return run;
  }

  resume(run: CallRequest): void {
    run.stalled = false;
    // One that has ended, or whose turn is still to come, has no say in the flow of another.
    if (this.#exchanges[0] === run) this.#flow.go();
  }

  /** Nobody waits for the call any more. */
  abandon(run: CallRequest): void {
    if (!run.abandon()) return;
    this.resume(run);
    this.#cancelling.cancelIfAlone();
  }

  /** Looks after the call that runs: called from time to time with `performance.now()`. */
  checkTimeouts(now: number): void {
    const head = this.#exchanges[0];
    if (head !== undefined && now - head.startedAt > blockedHead) requeueFollowers(this.#exchanges, this.#elsewhere);
    // A reset or a rollback has no timeout of its own.
    const late = head?.pending === null ? now - head.startedAt - gracePeriodMs : this.#cancelling.cancelExpired(now);
    if (late > gracePeriodMs) this.destroy('the server did not answer');
  }

  /** Ends the connection after what is in flight; an idle one at once. */
  end(): void {
    if (this.#closed !== null || this.#ending) return;
    this.#ending = true;
    this.#outgoing.terminate();
    this.#queue.flush();
    this.#socket.end();
    setTimeout(() => this.#lose('the server did not end the connection'), gracePeriodMs).unref();
  }

  /** Ends the connection at once; what it runs is cancelled as well as that can be done. */
  destroy(reason: string): void {
    if (this.#exchanges.length > 0 && this.#closed === null) this.#events.cancel().catch(() => undefined);
    this.#lose(reason);
  }

  /** Leaves a lent connection to its owner. Returns the beginning of a message whose rest is still to come. */
  detach(): Buffer {
    this.#closed ??= new ConnectionLost('the connection was given back');
    this.#socket.off('data', this.#onData);
    this.#socket.off('error', this.#onError);
    this.#socket.off('close', this.#onClose);
    return this.#frames.rest();
  }

  #start(run: CallRequest): void {
    const missing = this.#prepared.missing(run.steps);
    if (missing.length === 0) this.#send(run);
    else this.#prepare(run, missing);
  }

  /** Statements are parsed under the role of the call: what it may not use is refused here. */
  #prepare(run: CallRequest, missing: readonly Statement[]): void {
    const setRole = setRoleSteps(run.call.role, run.switchesRole);
    this.#outgoing.writeSteps(setRole);
    this.#preparing++;
    const preparation = this.#prepared.prepare(run, { missing, before: setRole.length }, (error) => {
      this.#preparing--;
      if (error instanceof ConnectionLost && run.isUndelivered && this.#elsewhere(run)) return;
      // Another call may have found one of its statements stale meanwhile.
      if (error === null && !run.isObsolete) this.#start(run);
      else run.prepareFailed(error, preparation.startedAt);
    });
    this.#push(preparation);
  }

  #send(run: CallRequest): void {
    try {
      this.#outgoing.writeSteps(run.steps);
    } catch (error) {
      return queueMicrotask(() => {
        run.call.failed(error as Error);
        this.#events.released(this);
      });
    }
    this.state.recordRole(run.call.role);
    this.#push(run);
  }

  /** A prepared statement was gone or stale: once more, from its preparation. */
  #startAgain(run: CallRequest): void {
    this.#prepared.forget(run.steps);
    this.#start(run);
  }

  /** Brings the session back to how it began. */
  #reset(): void {
    this.#prepared.clear();
    for (const steps of this.state.resetSteps) this.#maintain(steps, (error) => this.#wasReset(error));
  }

  #maintain(steps: readonly Step[], done: (error: Error | null) => void): void {
    this.#outgoing.writeSteps(steps);
    this.#push(new MaintenanceRequest(steps.length, done));
  }

  #wasReset(error: Error | null): void {
    const changed = this.#exchanges.length === 0 ? this.state.changed : null;
    const reason = error?.message ?? (changed === null ? null : `${changed} is not as it was`);
    if (reason !== null) this.#lose(`the session could not be reset: ${reason}`);
  }

  #push(exchange: PipelinedRequest): void {
    if (this.#closed === null) this.#queue.push(exchange);
    else exchange.connectionLost(this.#closed, 'not begun');
  }

  #receive(chunk: Buffer): void {
    if (this.#closed !== null) return;
    try {
      this.#frames.push(chunk);
      this.#chunkEnd();
    } catch (error) {
      // A broken stream, or a reader that failed in the middle of a row: either way nothing after it can be trusted.
      this.#lose(error instanceof Error ? error.message : String(error));
    }
  }

  /** All that had arrived was handed over: the sink may write it on, and the flow stops if its reader is slow. */
  #chunkEnd(): void {
    const head = this.#exchanges[0];
    if (!(head instanceof CallRequest)) return;
    if (head.rows?.chunkEnd?.() === false) head.stalled = true;
    // A stalled call never holds up others: with some behind it, the flow goes on and its sink has to bear it.
    if (head.stalled && this.#exchanges.length === 1) this.#flow.stop();
  }

  #message(type: number, chunk: Buffer, start: number, end: number): void {
    const head = this.#exchanges[0];
    if (type === 0x44 && head !== undefined) return head.row(chunk, start, end);
    this.#events.forward?.(type, chunk.subarray(start - 5, end));
    if (type === 0x4e || type === 0x45) return this.#told(type === 0x45, readDiagnostics(chunk, start, end));
    if (type === 0x41) return this.#events.notification?.(...readNotification(chunk, start));
    // ParameterStatus comes at any time; what counts is how things are when a call has ended.
    if (type === 0x53) return this.state.updateParameter(chunk, start);
    if (head === undefined) return checkUnsolicitedMessage(type);
    if (type === 0x5a) this.#ready(head, chunk[start]!);
    else handleResponseMessage(head, type, chunk, start);
  }

  #told(isError: boolean, diagnostics: Notice): void {
    const head = this.#exchanges[0];
    if (!isError && head instanceof CallRequest) head.notice(diagnostics);
    else if (!isError) this.#events.notice(diagnostics);
    // A FATAL error ends the connection, whichever statement is running: the calls are lost, not refused.
    else if (diagnostics.severity === 'FATAL' || diagnostics.severity === 'PANIC') this.#ended(diagnostics);
    else head?.errorResponse(diagnostics);
  }

  /** The end of the connection follows; on an idle one it must not find a call that was given to it meanwhile. */
  #ended(fatal: Notice): void {
    this.#fatal = fatal;
    if (this.#queue.sent === 0) this.#lose(fatal.message);
  }

  #ready(head: PipelinedRequest, transaction: number): void {
    if (!head.isComplete) throw new ProtocolViolation('a ReadyForQuery before every statement was answered');
    const now = performance.now();
    this.#exchanges.shift();
    const next = this.#exchanges[0];
    if (next !== undefined) next.startedAt = now;
    this.#flow.go();
    this.#settle(head, now, transaction !== noTransaction);
    this.#cancelling.cancelIfAlone();
    if (this.#closed === null) this.#events.released(this);
  }

  /** Tells a call how it ended, and sees to what it has left in the session: before anything else can run there. */
  #settle(head: PipelinedRequest, now: number, open: boolean): void {
    if (open && head.opensTransaction) this.#maintain([rollback], () => undefined);
    const left = this.state.settingLeftBy(head);
    if (left !== null) this.#spoil(left);
    if (!requeueTainted(head, this.#elsewhere)) head.readyForQuery(now, left);
    // A statement that left a transaction open would hand it to the next caller.
    if (open && !head.opensTransaction && !this.#manner.isProvided) this.#lose('a statement left its transaction open');
    if (head instanceof CallRequest && this.#closed === null) this.#clean(head);
  }

  #clean(run: CallRequest): void {
    const [{ call }, { reset }] = [run, this.#manner];
    if (run.isPreparingAgain) return void (run.isPreparingAgain = false);
    if (this.state.taintedBy !== null && this.#exchanges.length === 0) this.end();
    if (call.altersSession !== true || this.#ending) return;
    if (reset === 'discard') this.#reset();
    if (reset === 'close') this.end();
  }

  /** The calls that were sent behind the one that left a setting changed run with it: their rows may not be what they should be. */
  #spoil(setting: string): void {
    this.state.taintedBy = setting;
    for (const exchange of this.#exchanges) if (exchange instanceof CallRequest) exchange.taintedBy = setting;
  }

  #lose(reason: string): void {
    if (this.#closed !== null) return;
    const error = new ConnectionLost(`the database connection was lost: ${this.#fatal?.message ?? reason}`);
    this.#closed = error;
    this.#socket.destroy();
    const { sent } = this.#queue;
    // A pooler says FATAL for itself too, without knowing what became of the statement.
    const fatal = this.#manner.settingsPerCall === null ? this.#fatal : null;
    settleLostRequests(this.#exchanges.splice(0), { error, sent, fatal }, this.#elsewhere);
    this.#events.closed(this);
  }
}

/** Back-pressure on the server: while the reader of rows takes no more, the socket is not read. */
export class SocketFlow {
  readonly #socket: Duplex;
  stopped = false;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.#socket.pause();
  }

  go(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.#socket.resume();
  }
}
