import type { Duplex } from 'node:stream';
import { Cancelling, patience } from './cancelling.ts';
import { readDiagnostics, readNotification } from './diagnostics.ts';
import { Barrier, type Exchange, Preparation, Run } from './exchange.ts';
import { checkRow, Frames } from './frames.ts';
import { inManner, type Manner, own } from './manner.ts';
import { Outgoing } from './outgoing.ts';
import { type Call, ConnectionLost, type Notice, type Statement } from './port.ts';
import { Prepared } from './prepared.ts';
import { progress, unasked } from './progress.ts';
import { ReportedSettings } from './reported-settings.ts';

/** How a ReadyForQuery says that no transaction is open. */
const noTransaction = 0x49;

export interface SessionEvents {
  /** The session can take another call, or changed so that it may. */
  released(session: Session): void;
  closed(session: Session): void;
  /** A notice outside of any call. */
  notice(notice: Notice): void;
  /** On a connection that listens. */
  notification?(channel: string, payload: string): void;
  /** On a lent connection: every message but rows, whose bytes are gone afterwards. */
  passOn?(type: number, message: Buffer): void;
  /** Asks the server, on a connection of its own, to cancel what this session runs; resolves when it has been told. */
  cancel(): Promise<void>;
}

/**
 * The extended query protocol on a connection that is open and idle. Several calls may be in flight: each is one
 * exchange that ends with its own Sync, so that an error of one never touches the next.
 */
export class Session {
  readonly #socket: Duplex;
  readonly #events: SessionEvents;
  readonly #manner: Manner;
  readonly #frames: Frames;
  readonly #outgoing = new Outgoing();
  readonly #exchanges: Exchange[] = [];
  readonly #prepared = new Prepared(this.#outgoing);
  /** Calls that wait for their statements to be prepared. */
  #preparing = 0;
  #flushing = false;
  #paused = false;
  #closed: ConnectionLost | null = null;
  /** We said that we end the connection: nothing may be sent any more. */
  #ending = false;
  readonly #cancelling: Cancelling;
  #reported: ReportedSettings = new ReportedSettings();
  /** Why the server said that it ends the connection. */
  #farewell: string | null = null;

  constructor(socket: Duplex, events: SessionEvents, manner: Manner = own) {
    this.#socket = socket;
    this.#events = events;
    this.#manner = manner;
    this.#frames = new Frames((type, chunk, start, end) => this.#message(type, chunk, start, end));
    this.#cancelling = new Cancelling({
      exchanges: this.#exchanges,
      cancel: () => events.cancel(),
      barrier: (passed) => this.#push(new Barrier(passed)),
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
  readonly #again = (run: Run): void => this.#startAgain(run);

  /** From now on no call may leave one of these changed. */
  watch(reported: ReportedSettings): void {
    this.#reported = reported;
  }

  /** How many calls it has been given and not finished. */
  get load(): number {
    return this.#exchanges.length + this.#preparing;
  }

  /** Calls were given to it that have not left yet: one more of their kind travels in the same packet. */
  get gathering(): boolean {
    return this.#flushing;
  }

  get idle(): boolean {
    return this.load === 0 && this.#open;
  }

  /** Whether anything may be sent. */
  get #open(): boolean {
    return !this.#cancelling.underWay && !this.#ending && this.#closed === null;
  }

  /** Whether a short call with these statements may go behind those that are in flight. */
  canShare(call: Call): boolean {
    if (!this.#open || this.#paused || this.#preparing > 0 || this.#reported.changed !== null) return false;
    for (const exchange of this.#exchanges) {
      if (!(exchange instanceof Run) || !exchange.call.mayShare || exchange.unwanted || exchange.stalled) return false;
    }
    return this.#manner.unnamed || this.#prepared.missing(call).length === 0;
  }

  /** Sends a call; statements that this connection does not know yet are prepared first. Returns its exchange. */
  run(call: Call): Run {
    const run = new Run(inManner(call, this.#manner), this.#again);
    this.#start(run);
    return run;
  }

  resume(run: Run): void {
    run.stalled = false;
    // One that has ended, or whose turn is still to come, has no say in the flow of another.
    if (this.#exchanges[0] === run) this.#flow();
  }

  /** Nobody waits for the call any more. */
  abandon(run: Run): void {
    if (run.abandoned) return;
    run.abandoned = true;
    this.resume(run);
    this.#cancelling.whenAlone();
  }

  /** Looks after the call that runs: called from time to time with `performance.now()`. */
  sweep(now: number): void {
    const head = this.#exchanges[0];
    const run = head?.run;
    if (head === undefined || !run || run.call.timeout === 0 || run.stalled) return;
    // The server's own statement_timeout comes first; this one is for a server that does not answer.
    const late = now - head.startedAt - run.call.timeout;
    if (late < Math.min(1_000, run.call.timeout)) return;
    run.timedOut = true;
    this.#cancelling.whenAlone();
    if (late > patience) this.destroy('the server did not answer');
  }

  /** Ends the connection after what is in flight; an idle one at once. */
  end(): void {
    if (this.#closed !== null || this.#ending) return;
    this.#ending = true;
    this.#outgoing.terminate();
    this.#flush();
    this.#socket.end();
    setTimeout(() => this.#lose('the server did not end the connection'), patience).unref();
  }

  /** Ends the connection at once; what it runs is cancelled as well as that can be done. */
  destroy(reason: string): void {
    if (this.#exchanges.length > 0 && this.#closed === null) this.#events.cancel().catch(() => undefined);
    this.#lose(reason);
  }

  /** Leaves a lent connection to its owner. Returns the beginning of a message whose rest is still to come. */
  leave(): Buffer {
    this.#closed ??= new ConnectionLost('the connection was given back');
    this.#socket.off('data', this.#onData);
    this.#socket.off('error', this.#onError);
    this.#socket.off('close', this.#onClose);
    return this.#frames.rest();
  }

  #start(run: Run): void {
    const missing = this.#prepared.missing(run.call);
    if (missing.length === 0) this.#send(run);
    else this.#prepare(run, missing);
  }

  #prepare(run: Run, missing: readonly Statement[]): void {
    for (const statement of missing) {
      this.#outgoing.parse(statement.name, statement.sql, statement.types);
      this.#outgoing.describe(statement.name);
    }
    this.#preparing++;
    const settled = (ready: readonly Statement[], error: Error | null): void => {
      this.#preparing--;
      this.#prepared.add(ready);
      if (error === null && !run.unwanted) this.#send(run);
      else run.unprepared(error, preparation.startedAt);
      // What was parsed but refused afterwards is of no use under its name.
      if (error !== null) for (const statement of missing) this.#prepared.forget(statement);
      this.#prepared.makeRoom();
    };
    const preparation = new Preparation(run, missing, settled);
    this.#push(preparation);
  }

  #send(run: Run): void {
    try {
      this.#outgoing.steps(run.call.steps);
    } catch (error) {
      return queueMicrotask(() => {
        run.call.failed(error as Error);
        this.#events.released(this);
      });
    }
    this.#push(run);
  }

  /** A prepared statement was gone or stale: once more, from its preparation. */
  #startAgain(run: Run): void {
    for (const { statement } of run.call.steps) if (statement.name !== '') this.#prepared.forget(statement);
    this.#start(run);
  }

  #push(exchange: Exchange): void {
    if (this.#closed !== null) return exchange.lost(this.#closed);
    this.#outgoing.sync();
    if (this.#exchanges.length === 0) exchange.startedAt = performance.now();
    this.#exchanges.push(exchange);
    if (this.#flushing) return;
    this.#flushing = true;
    // After the current round of the event loop: calls that arrived together leave in one packet.
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#closed === null && this.#outgoing.length > 0) this.#socket.write(this.#outgoing.take());
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
    if (!(head instanceof Run)) return;
    if (head.rows?.chunkEnd?.() === false) head.stalled = true;
    // A stalled call never holds up others: with some behind it, the flow goes on and its sink has to bear it.
    if (!head.stalled || this.#exchanges.length > 1 || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  #flow(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  #message(type: number, chunk: Buffer, start: number, end: number): void {
    const head = this.#exchanges[0];
    if (type === 0x44 && head !== undefined) return this.#row(head, chunk, start, end);
    this.#events.passOn?.(type, chunk.subarray(start - 5, end));
    if (type === 0x4e || type === 0x45) return this.#told(type === 0x45, readDiagnostics(chunk, start, end));
    if (type === 0x41) return this.#events.notification?.(...readNotification(chunk, start));
    // ParameterStatus comes at any time; what counts is how things are when a call has ended.
    if (type === 0x53) return this.#reported.tell(chunk, start);
    if (head === undefined) return unasked(type);
    if (type === 0x5a) this.#ready(head, chunk[start]!);
    else progress(head, type, chunk, start);
  }

  #row(head: Exchange, chunk: Buffer, start: number, end: number): void {
    const sink = head.rows;
    if (sink === null) return;
    const fields = chunk.readUInt16BE(start);
    checkRow(chunk, start + 2, end, fields);
    if (!sink.row(chunk, start + 2, fields)) (head as Run).stalled = true;
  }

  #told(isError: boolean, diagnostics: Notice): void {
    const head = this.#exchanges[0];
    if (!isError && head instanceof Run) head.notice(diagnostics);
    else if (!isError) this.#events.notice(diagnostics);
    // A FATAL error is the server's farewell, whoever's statement is running: the calls are lost, not refused.
    else if (diagnostics.severity === 'FATAL' || diagnostics.severity === 'PANIC') this.#farewell = diagnostics.message;
    else head?.refused(diagnostics);
  }

  #ready(head: Exchange, transaction: number): void {
    const now = performance.now();
    this.#exchanges.shift();
    const next = this.#exchanges[0];
    if (next !== undefined) next.startedAt = now;
    this.#flow();
    const open = transaction !== noTransaction;
    const ours = head instanceof Run && head.call.atomic === true;
    // Before its end is told: nobody may come between.
    if (open && ours) this.#rollBack();
    const left = this.#reported.changed;
    head.finished(now, left);
    if (left !== null) return this.#discard(left);
    // A statement that left a transaction open would hand it to the next caller.
    if (open && !ours && !this.#manner.lent) return this.#lose('a statement left its transaction open');
    this.#cancelling.whenAlone();
    if (this.#closed === null) this.#events.released(this);
  }

  /** Ends the transaction that was begun for a call which has failed. */
  #rollBack(): void {
    this.#outgoing.steps([{ statement: { name: '', sql: 'rollback' }, values: [] }]);
    this.#push(new Barrier(() => undefined));
  }

  /** The calls behind the one that left a setting changed are lost: their answers would not be what they should. */
  #discard(setting: string): void {
    if (this.#exchanges.length === 0) this.end();
    else this.destroy(`a routine has left ${setting} changed`);
  }

  #lose(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = new ConnectionLost(`the database connection was lost: ${this.#farewell ?? reason}`);
    this.#socket.destroy();
    for (const exchange of this.#exchanges.splice(0)) exchange.lost(this.#closed);
    this.#events.closed(this);
  }
}
