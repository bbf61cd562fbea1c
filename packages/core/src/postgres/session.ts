import type { Duplex } from 'node:stream';
import { Canceller, gracePeriodMs } from './canceller.ts';
import { receiveFrom, stopReceiving } from './database-socket.ts';
import {
  readDiagnostics,
  readNotification,
  handleResponseMessage,
  checkUnsolicitedMessage,
  idleStatus,
} from './backend-messages.ts';
import { type PipelinedRequest, MaintenanceRequest, Pipeline, SocketFlow, writeMessages } from './pipeline.ts';
import { MessageParser, ProtocolViolation } from './message-parser.ts';
import {
  adaptCall,
  adaptTransactionCall,
  type ConnectionMode,
  dedicatedConnection,
  discardSequences,
  rollbackSteps,
  transactionSteps,
  type TransactionSteps,
} from './connection-mode.ts';
import { type Call, ConnectionLost, type Notice, type Step } from './port.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { CallPreparation } from './call-preparation.ts';
import { selectPlanMode } from './plan-mode.ts';
import { settleLostRequests, requeueFollowers, type Requeue, requeueTainted } from './requeue.ts';
import { canAppendCall, CallRequest, findStalledCall } from './call-request.ts';
import { SessionState } from './session-state.ts';
import { toError } from '../to-error.ts';

/** The callbacks of a session to its owner: the pool, the listener or a host-provided connection. */
export interface SessionEvents {
  /** The session may be able to take another call. */
  released(session: Session): void;
  closed(session: Session): void;
  /** A notice that arrived outside any call. */
  notice(notice: Notice): void;
  /**
   * Runs a call on another connection. The call was not executed, or is idempotent.
   * @param hadStarted the connection was lost while the call ran
   * @returns false when no other connection can run the call
   */
  requeue?(request: CallRequest, hadStarted?: boolean): boolean;
  /** A NotificationResponse, on a connection that listens. */
  notification?(channel: string, payload: string): void;
  /** On a host-provided connection: every message except DataRow. The bytes are valid only during the call. */
  forward?(type: number, message: Buffer): void;
  /** Sends a CancelRequest on a separate connection; resolves when the server has closed that connection. */
  cancel(): Promise<void>;
}

/**
 * The extended query protocol on a connection that is open and idle. Each call in the pipeline ends with its own Sync,
 * so that an error of one call never affects the next.
 */
export class Session {
  readonly #socket: Duplex;
  readonly #events: SessionEvents;
  readonly #mode: ConnectionMode;
  readonly #parser: MessageParser;
  readonly #pipeline = new Pipeline((bytes) => {
    if (this.#closed === null) writeMessages(this.#socket, bytes);
  });
  readonly #writer = this.#pipeline.writer;
  readonly #requests = this.#pipeline.requests;
  readonly #statements = new PreparedStatements(this.#writer);
  readonly #preparation: CallPreparation;
  readonly #flow: SocketFlow;
  #closed: ConnectionLost | null = null;
  /** A Terminate message was sent: no further message may follow. */
  #ending = false;
  readonly #canceller: Canceller;
  readonly state: SessionState;
  /** Whether the session belongs to a transaction with several calls. */
  isReserved = false;
  /** The transaction status of the last ReadyForQuery. */
  inTransaction = false;
  /** The FATAL error with which the server ended the connection. */
  #fatal: Notice | null = null;

  constructor(socket: Duplex, events: SessionEvents, mode: ConnectionMode = dedicatedConnection) {
    this.#socket = socket;
    this.#events = events;
    this.#mode = mode;
    this.#writer.routines = mode.routines ?? null;
    this.#preparation = new CallPreparation(this.#statements, this.#writer, {
      enqueue: (request) => this.#enqueue(request),
      send: (request) => this.#send(request),
      requeue: (request) => this.#requeue(request),
    });
    this.state = new SessionState(mode);
    this.#flow = new SocketFlow(socket);
    this.#parser = new MessageParser(this.#handleMessage, this.#handleRows);
    this.#canceller = new Canceller({
      requests: this.#requests,
      isTransaction: () => this.isReserved,
      sendCancelRequest: () => events.cancel(),
      afterPending: (onDone) => this.#sendMaintenance([], () => onDone()),
      disconnect: (reason) => this.#disconnect(reason),
    });
    receiveFrom(socket, this.#onData);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  readonly #handleRows = (messages: Buffer): number => this.#requests[0]?.rowMessages(messages) ?? 0;
  readonly #onError = (error: Error): void => this.#disconnect(error.message);
  readonly #onClose = (): void => this.#disconnect('the connection was closed');
  /** One function for all calls: V8 keeps a closure of each call, and with it the call, until a full garbage collection. */
  readonly #retry = (request: CallRequest): void => this.#preparation.startAgain(request);
  readonly #requeue: Requeue = (request, hadStarted) => this.#events.requeue?.(request, hadStarted) === true;

  /** The number of unfinished calls. */
  get load(): number {
    return this.#requests.length + this.#preparation.waiting;
  }

  /** Whether calls wait to be sent at the end of this event loop turn; another call joins their packet. */
  get isBatching(): boolean {
    return this.#pipeline.isBatching;
  }

  /** Whether a call in the pipeline may block. */
  get mayBlock(): boolean {
    return this.isReserved || this.#requests.some(({ pending }) => pending?.call.mayBlock === true);
  }

  get stalledCall(): CallRequest | null {
    return findStalledCall(this.#requests);
  }

  get isIdle(): boolean {
    return this.load === 0 && this.#open && !this.isReserved;
  }

  /** Whether a call waits for its statements. A call that is sent now would run before it. */
  get isPreparing(): boolean {
    return this.#preparation.waiting > 0;
  }

  /** Whether a call may be sent. */
  get #open(): boolean {
    return !this.#canceller.isPending && !this.#ending && this.state.taintedBy === null && this.#closed === null;
  }

  /**
   * Returns whether a short call may join the pipeline.
   * @param now `performance.now()`: a first request that runs for long may wait for a lock and block the calls behind it
   */
  canShare(call: Call, now: number): boolean {
    if (!this.#open || this.isReserved || this.#flow.isPaused || this.state.isRetired) return false;
    if (this.#preparation.waiting > 0 || this.state.changedSetting !== null) return false;
    if (!canAppendCall(this.#requests, now) || this.state.switchesRole(call)) return false;
    return this.#mode.unnamed || this.#statements.missing(call.steps).length === 0;
  }

  /** Sends a call. Statements that are not prepared on this connection are prepared first. */
  run(call: Call): CallRequest {
    const isReserved = this.isReserved;
    const switchesRole = !isReserved && this.state.switchesRole(call);
    const adapted = isReserved
      ? adaptTransactionCall(call, this.#mode)
      : adaptCall(call, this.#mode, { switchesRole, applicationName: this.state.applicationName });
    const request = new CallRequest(call, adapted, {
      switchesRole,
      timeout: call.timeout ?? this.state.statementTimeout,
      mustAcceptWrites: !isReserved && this.state.mustAcceptWrites,
      // An error aborts the transaction of several calls.
      retry: isReserved ? null : this.#retry,
    });
    this.#preparation.start(request);
    return request;
  }

  /** Reserves an idle session for a transaction with several calls, and returns the steps that begin and end it. */
  reserve(options: Pick<Call, 'role' | 'altersSession' | 'isolation'>): TransactionSteps {
    this.isReserved = true;
    selectPlanMode(this.state, this.#pipeline, {});
    const { applicationName } = this.state;
    return transactionSteps(options, this.#mode, { switchesRole: this.state.switchesRole(options), applicationName });
  }

  /** Ends the reservation. The owner of the session learns of it when the last call is complete. */
  release(): void {
    this.isReserved = false;
    this.#statements.closeTemporary();
  }

  resume(request: CallRequest): void {
    request.isStalled = false;
    // Only the first request of the pipeline controls the flow.
    if (this.#requests[0] === request) this.#flow.resume();
  }

  /** Abandons a call; its statement is cancelled when no other call shares the connection. */
  abandon(request: CallRequest): void {
    if (!request.abandon()) return;
    this.resume(request);
    this.#canceller.cancelIfAlone();
  }

  /**
   * Enforces the timeouts of the running call; the owner calls it periodically.
   * @param now `performance.now()`
   */
  checkTimeouts(now: number): void {
    const first = this.#requests[0];
    requeueFollowers(this.#requests, now, this.#requeue);
    // Maintenance requests (reset, rollback) have no timeout of their own.
    const late = first?.pending === null ? now - first.startedAt - gracePeriodMs : this.#canceller.cancelExpired(now);
    if (late > gracePeriodMs) this.destroy('the server did not answer');
  }

  /** Closes the connection once the pipeline is empty. */
  end(): void {
    if (this.#closed !== null || this.#ending) return;
    this.#ending = true;
    this.#writer.terminate();
    this.#pipeline.flush();
    this.#socket.end();
    setTimeout(() => this.#disconnect('the server did not close the connection'), gracePeriodMs).unref();
  }

  /** Closes the connection at once and sends a cancel request for the running statement. */
  destroy(reason: string): void {
    if (this.#requests.length > 0 && this.#closed === null) this.#events.cancel().catch(() => undefined);
    this.#disconnect(reason);
  }

  /** Returns a host-provided connection to its owner, with the first bytes of an incomplete message. */
  detach(): Buffer {
    this.#closed ??= new ConnectionLost('the connection was returned to the host');
    stopReceiving(this.#socket, this.#onData);
    this.#socket.off('error', this.#onError);
    this.#socket.off('close', this.#onClose);
    return this.#parser.remainder();
  }

  #send(request: CallRequest): void {
    if (!this.isReserved) request.hasGenericPlan = selectPlanMode(this.state, this.#pipeline, request.call);
    if (request.call.discardsSequences === true) this.#discardSequences();
    try {
      this.#writer.writeSteps(request.steps);
    } catch (error) {
      return queueMicrotask(() => {
        request.call.failed(error as Error);
        this.#events.released(this);
      });
    }
    this.state.recordRole(request.call.role);
    this.#enqueue(request);
  }

  /** Ends the transaction of a failed request. */
  #rollBack({ pending }: PipelinedRequest): void {
    const { applicationName } = this.state;
    const steps = rollbackSteps(pending?.call ?? {}, this.#mode, { switchesRole: false, applicationName });
    this.#sendMaintenance(steps, (error) => {
      if (error !== null) this.#disconnect(`the session could not be reset: ${error.message}`);
    });
  }

  /** Restores the initial state of the session. */
  #reset(): void {
    this.#statements.clear();
    for (const steps of this.state.resetSteps) this.#sendMaintenance(steps, (error) => this.#handleReset(error));
  }

  #discardSequences(): void {
    if ((this.#mode.settingsPerCall === null || this.isReserved) && !this.#mode.isProvided)
      this.#sendMaintenance([discardSequences], () => undefined);
  }

  #sendMaintenance(steps: readonly Step[], done: (error: Error | null) => void): void {
    this.#writer.writeSteps(steps);
    this.#enqueue(new MaintenanceRequest(steps.length, done));
  }

  #handleReset(error: Error | null): void {
    const changed = this.#requests.length === 0 ? this.state.changedSetting : null;
    const reason = error?.message ?? (changed === null ? null : `${changed} still differs from its initial value`);
    if (reason !== null) this.#disconnect(`the session could not be reset: ${reason}`);
  }

  #enqueue(request: PipelinedRequest): void {
    if (this.#closed === null) this.#pipeline.push(request);
    else request.connectionLost(this.#closed, 'not started');
  }

  readonly #onData = (chunk: Buffer, headroom?: number): void => {
    if (this.#closed !== null) return;
    try {
      this.#parser.push(chunk, headroom);
      this.#chunkEnd();
    } catch (error) {
      // After a protocol violation, or a sink that threw inside a row, the position in the stream is unreliable.
      this.#disconnect(toError(error).message);
    }
  };

  /** Passes the end of a chunk to the sink, and pauses the socket when the sink applies back-pressure. */
  #chunkEnd(): void {
    const first = this.#requests[0];
    if (!(first instanceof CallRequest)) return;
    if (first.rows?.chunkEnd?.() === false) first.isStalled = true;
    // A stalled call must not block calls behind it: then the socket is not paused, and the sink has to buffer.
    if (first.isStalled && this.#requests.length === 1) this.#flow.pause();
  }

  readonly #handleMessage = (type: number, chunk: Buffer, start: number, end: number): void => {
    const first = this.#requests[0];
    if (type === 0x44 && first !== undefined) return first.row(chunk, start, end);
    this.#events.forward?.(type, chunk.subarray(start - 5, end));
    if (type === 0x4e || type === 0x45)
      return this.#handleNoticeOrError(type === 0x45, readDiagnostics(chunk, start, end));
    if (type === 0x41) return this.#events.notification?.(...readNotification(chunk, start));
    // ParameterStatus may arrive at any time. The value counts when a call ends.
    if (type === 0x53) return this.state.updateParameter(chunk, start);
    if (first === undefined) return checkUnsolicitedMessage(type);
    if (type === 0x5a) this.#handleReadyForQuery(first, chunk[start]!);
    else handleResponseMessage(first, type, chunk, start);
  };

  #handleNoticeOrError(isError: boolean, diagnostics: Notice): void {
    const first = this.#requests[0];
    if (!isError && first instanceof CallRequest) first.notice(diagnostics);
    else if (!isError) this.#events.notice(diagnostics);
    // A FATAL error ends the connection, whichever statement runs: the calls are lost.
    else if (diagnostics.severity === 'FATAL' || diagnostics.severity === 'PANIC') this.#handleFatalError(diagnostics);
    else first?.errorResponse(diagnostics);
  }

  /** Records a FATAL error. An idle connection is closed at once, so that it takes no further call. */
  #handleFatalError(fatal: Notice): void {
    this.#fatal = fatal;
    if (this.#pipeline.sent === 0) this.#disconnect(fatal.message);
  }

  #handleReadyForQuery(request: PipelinedRequest, status: number): void {
    if (!request.isComplete) throw new ProtocolViolation('a ReadyForQuery before the responses to every statement');
    const now = performance.now();
    this.#requests.shift();
    const next = this.#requests[0];
    if (next !== undefined) next.startedAt = now;
    this.#flow.resume();
    this.inTransaction = status !== idleStatus;
    this.#finish(request, now);
    this.#canceller.cancelIfAlone();
    if (this.#closed === null) this.#events.released(this);
  }

  /** Completes a request and cleans up its session state before the next call can run. */
  #finish(request: PipelinedRequest, now: number): void {
    const { inTransaction } = this;
    // The settings of the transaction end with it.
    if (this.isReserved && inTransaction) return this.#finishWithin(request, now);
    if (inTransaction && request.opensTransaction) this.#rollBack(request);
    const left = this.state.settingLeftBy(request);
    if (left !== null) this.state.taint(left, this.#requests);
    if (!requeueTainted(request, this.#requeue)) request.readyForQuery(now, left);
    // An open transaction would continue in the next call.
    if (inTransaction && !request.opensTransaction && !this.#mode.isProvided)
      this.#disconnect('a statement left its transaction open');
    if (this.#closed === null) this.#resetAfter(request);
  }

  /** Completes a call of a transaction that continues. A stale statement is prepared again by the next transaction. */
  #finishWithin(request: PipelinedRequest, now: number): void {
    if (request instanceof CallRequest && request.hasStaleStatement) this.#statements.forget(request.steps);
    request.readyForQuery(now, null);
  }

  #resetAfter(request: PipelinedRequest): void {
    if (this.state.taintedBy !== null && this.#requests.length === 0) this.end();
    if (!(request instanceof CallRequest)) return;
    const [{ call }, { reset }] = [request, this.#mode];
    if (request.isPreparingAgain) return void (request.isPreparingAgain = false);
    // The call was not retried, because a step before had returned rows: the next one prepares the statements again.
    if (request.hasStaleStatement) this.#statements.forget(request.steps);
    if (request.isOnReadOnlyServer) this.state.isRetired = true;
    if (call.altersSession !== true || this.#ending) return;
    if (reset === 'discard') this.#reset();
    if (reset === 'close') this.end();
  }

  #disconnect(reason: string): void {
    if (this.#closed !== null) return;
    const error = new ConnectionLost(`the database connection was lost: ${this.#fatal?.message ?? reason}`);
    this.#closed = error;
    this.#socket.destroy();
    const { sent } = this.#pipeline;
    // A pooler may raise a FATAL error of its own, which says nothing about the statement.
    const fatal = this.#mode.settingsPerCall === null ? this.#fatal : null;
    settleLostRequests(this.#requests.splice(0), { error, sent, fatal }, this.#requeue);
    this.#events.closed(this);
  }
}
