import type { Socket } from 'node:net';
import { readDiagnostics } from '../backend-messages.ts';
import type { ConnectionSettings } from '../connection-string.ts';
import { MessageParser, ProtocolViolation } from '../message-parser.ts';
import { detachSocket, type PgClient } from '../pg-client.ts';
import { ConnectionLost, DatabaseError, type TextTable } from '../port.ts';
import { openReplicationClient, sendCancelRequest } from '../session-opener.ts';

/** Receives what arrives after `START_REPLICATION`. */
export interface ReplicationEvents {
  /** Changes of the output plugin, from `start` to `end`. */
  data(chunk: Buffer, start: number, end: number): void;
  /** All that precedes the position has been sent. */
  keepalive(position: bigint, mustReply: boolean): void;
  /** All messages of a chunk have been passed on. */
  chunkEnd(): void;
  /** The connection has ended, with its error unless it was closed. */
  ended(error: Error | null): void;
}

interface PendingQuery {
  readonly rows: (string | null)[][];
  error: DatabaseError | null;
  readonly resolve: (rows: TextTable) => void;
  readonly reject: (error: Error) => void;
}

/** RowDescription, CommandComplete, ParameterStatus, NoticeResponse, NotificationResponse. */
const ignoredMessages: ReadonlySet<number> = new Set([0x54, 0x43, 0x53, 0x4e, 0x41]);

/** Milliseconds that the server has to answer the end of the connection. */
const closeTimeoutMs = 5_000;
const cancelTimeoutMs = 5_000;
/** Bytes of a Standby status update in its CopyData message. */
const feedbackLength = 1 + 4 + 34;
/** Microseconds from 1970-01-01 to 2000-01-01. */
const epoch = 946_684_800_000_000n;

/** A connection to a walsender: simple queries, then a stream of changes. PostgreSQL manual, "Streaming Replication Protocol". */
export class ReplicationConnection {
  readonly #client: PgClient;
  readonly #socket: Socket;
  readonly #events: ReplicationEvents;
  readonly #parser = new MessageParser((type, chunk, start, end) => this.#handle(type, chunk, start, end));
  #query: PendingQuery | null = null;
  #started: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #isStreaming = false;
  #isClosing = false;
  #error: Error | null = null;
  readonly #closed: Promise<void>;

  /** @throws as `openClient` */
  static async open(connection: ConnectionSettings, events: ReplicationEvents): Promise<ReplicationConnection> {
    return new ReplicationConnection(await openReplicationClient(connection), events);
  }

  private constructor(client: PgClient, events: ReplicationEvents) {
    this.#client = client;
    this.#events = events;
    this.#socket = detachSocket(client);
    this.#closed = new Promise((resolve) => {
      this.#socket.once('close', () => {
        this.#end(this.#error ?? new ConnectionLost('the server closed the connection'));
        resolve();
      });
    });
    this.#socket.on('error', (error) => (this.#error ??= new ConnectionLost(error.message, { cause: error })));
    this.#socket.on('end', () => this.#socket.destroy());
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** Runs one statement with the simple query protocol. */
  query(sql: string): Promise<TextTable> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) return reject(this.#error);
      this.#query = { rows: [], error: null, resolve, reject };
      this.#socket.write(queryMessage(sql));
    });
  }

  /** Starts the stream of changes. The connection runs no queries afterwards. */
  start(command: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) return reject(this.#error);
      this.#started = { resolve, reject };
      this.#socket.write(queryMessage(command));
    });
  }

  /**
   * Confirms everything up to a position, so that the server can remove its log.
   * @param asks whether the server sends a keepalive at once
   */
  sendFeedback(position: bigint, asks: boolean): void {
    if (!this.#isStreaming || this.#isClosing) return;
    const message = Buffer.alloc(feedbackLength);
    message[0] = 0x64; // CopyData
    message.writeInt32BE(feedbackLength - 1, 1);
    message[5] = 0x72; // Standby status update: written, flushed, applied, time, reply requested
    message.writeBigUInt64BE(position, 6);
    message.writeBigUInt64BE(position, 14);
    message.writeBigUInt64BE(position, 22);
    message.writeBigInt64BE(BigInt(Date.now()) * 1000n - epoch, 30);
    message[38] = asks ? 1 : 0;
    this.#socket.write(message);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends the connection because of an error. */
  fail(error: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** Ends the connection; cancels a running query. Resolves when the server has closed it. */
  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#socket.resume();
      if (this.#query !== null) await sendCancelRequest(this.#client, cancelTimeoutMs).catch(() => undefined);
      // CopyDone, Terminate
      if (this.#isStreaming) this.#socket.write(Buffer.of(0x63, 0, 0, 0, 4));
      this.#socket.write(Buffer.of(0x58, 0, 0, 0, 4));
      setTimeout(() => this.#socket.destroy(), closeTimeoutMs).unref();
    }
    await this.#closed;
  }

  #receive(chunk: Buffer): void {
    try {
      this.#parser.push(chunk);
      if (this.#isStreaming) this.#events.chunkEnd();
    } catch (error) {
      this.fail(error instanceof RangeError ? new ProtocolViolation('a message that is too short') : (error as Error));
    }
  }

  #handle(type: number, chunk: Buffer, start: number, end: number): void {
    if (this.#isClosing) return;
    switch (type) {
      case 0x64: // CopyData
        return this.#handleCopyData(chunk, start, end);
      case 0x45: // ErrorResponse
        return this.#handleError(new DatabaseError(readDiagnostics(chunk, start, end), 0, 'execute', null));
      case 0x44: // DataRow
        return void this.#query?.rows.push(readRow(chunk, start));
      case 0x5a: // ReadyForQuery
        return this.#finishQuery();
      case 0x57: // CopyBothResponse
        this.#isStreaming = true;
        this.#started?.resolve();
        this.#started = null;
        return;
      case 0x63: // CopyDone
        return this.fail(new ConnectionLost('the server ended the stream of changes'));
      default:
        if (!ignoredMessages.has(type)) throw new ProtocolViolation(`an unexpected message of type ${type}`);
    }
  }

  #handleCopyData(chunk: Buffer, start: number, end: number): void {
    switch (chunk[start]) {
      case 0x77: // XLogData: start and end of the log, time (8 bytes each)
        return this.#events.data(chunk, start + 25, end);
      case 0x6b: // Primary keepalive: end of the log, time (8 bytes each), reply requested
        return this.#events.keepalive(chunk.readBigUInt64BE(start + 1), chunk[start + 17] === 1);
      default:
        throw new ProtocolViolation(`an unexpected replication message of type ${chunk[start]}`);
    }
  }

  /** After an error of decoding, the server would leave the connection open and silent. */
  #handleError(error: DatabaseError): void {
    const isFatal = error.diagnostics.severity !== 'ERROR';
    if (this.#query === null || isFatal) return this.fail(error);
    this.#query.error = error;
  }

  #finishQuery(): void {
    const query = this.#query;
    this.#query = null;
    if (query === null) return;
    if (query.error === null) query.resolve(query.rows);
    else query.reject(query.error);
  }

  #end(error: Error): void {
    this.#error = error;
    this.#query?.reject(error);
    this.#started?.reject(error);
    this.#query = null;
    this.#started = null;
    this.#events.ended(this.#isClosing ? null : error);
  }
}

function queryMessage(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`);
  const header = Buffer.alloc(5);
  header[0] = 0x51;
  header.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([header, text]);
}

function readRow(chunk: Buffer, start: number): (string | null)[] {
  let position = start + 2;
  return Array.from({ length: chunk.readUInt16BE(start) }, () => {
    const length = chunk.readInt32BE(position);
    position += 4;
    if (length === -1) return null;
    position += length;
    return chunk.toString('utf8', position - length, position);
  });
}
