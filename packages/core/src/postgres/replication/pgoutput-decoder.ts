import { ProtocolViolation } from '../message-parser.ts';
import { type RelationDefinition, type RelationKey, RelationReader } from './relation-definition.ts';

export type Operation = 'insert' | 'update' | 'delete';
export type Key = (string | null)[];

/** Receives what the messages of `pgoutput` say. `xid` is that of the subtransaction in a streamed block, and null elsewhere. */
export interface PgoutputSink {
  begin(xid: number): void;
  /** @param time microseconds since 2000-01-01 */
  commit(endLsn: bigint, time: bigint): void;
  streamStart(xid: number): void;
  streamStop(): void;
  streamCommit(xid: number, endLsn: bigint, time: bigint): void;
  streamAbort(xid: number, subtransaction: number): void;
  /** Returns the definition that tuples of the current transaction have. */
  definitionOf(relation: number): RelationDefinition | undefined;
  define(definition: RelationDefinition): void;
  /** Notes a change of a relation. Returns whether its keys are needed. */
  touch(definition: RelationDefinition): boolean;
  change(xid: number | null, definition: RelationDefinition, change: TupleChange): void;
  truncate(xid: number | null, definitions: readonly RelationDefinition[]): void;
}

export interface TupleChange {
  readonly operation: Operation;
  readonly key: Key;
  /** The key before an update that has changed it. */
  readonly oldKey: Key | null;
  /** The size of the values. */
  readonly bytes: number;
}

/** Decodes the messages of the output plugin `pgoutput`, of protocols 1 and 2. PostgreSQL manual, "Logical Replication Message Formats". */
export class PgoutputDecoder {
  readonly #sink: PgoutputSink;
  readonly #relations: RelationReader;
  #isStreamed = false;
  /** The end of the tuple that was read last. */
  #tupleEnd = 0;
  /** The bytes of the values that were read. */
  #bytes = 0;

  constructor(sink: PgoutputSink, keys: readonly RelationKey[] = []) {
    this.#sink = sink;
    this.#relations = new RelationReader(keys);
  }

  /**
   * Decodes the message from `start` to `end`.
   * @throws ProtocolViolation for an unknown or invalid message
   */
  decode(chunk: Buffer, start: number, end: number): void {
    const type = chunk[start];
    switch (type) {
      case 0x42: // Begin: the position of the commit (8 bytes), its time (8), the transaction (4)
        return this.#sink.begin(chunk.readUInt32BE(start + 17));
      case 0x43: // Commit: flags (1 byte), the position of the record (8), its end (8), the time (8)
        return this.#sink.commit(chunk.readBigUInt64BE(start + 10), chunk.readBigInt64BE(start + 18));
      case 0x53: // Stream Start
        this.#isStreamed = true;
        return this.#sink.streamStart(chunk.readUInt32BE(start + 1));
      case 0x45: // Stream Stop
        this.#isStreamed = false;
        return this.#sink.streamStop();
      case 0x63: // Stream Commit: as Commit, after the transaction
        return this.#sink.streamCommit(
          chunk.readUInt32BE(start + 1),
          chunk.readBigUInt64BE(start + 14),
          chunk.readBigInt64BE(start + 22),
        );
      case 0x41: // Stream Abort
        return this.#sink.streamAbort(chunk.readUInt32BE(start + 1), chunk.readUInt32BE(start + 5));
      case 0x4d: // Message
      case 0x4f: // Origin
      case 0x59: // Type
        return;
      default:
        return this.#decodeContent(type, chunk, start + 1, end);
    }
  }

  /** Decodes a message that has the transaction in front in a streamed block. */
  #decodeContent(type: number | undefined, chunk: Buffer, start: number, end: number): void {
    const xid = this.#isStreamed ? chunk.readUInt32BE(start) : null;
    const body = this.#isStreamed ? start + 4 : start;
    switch (type) {
      case 0x52: // Relation
        return this.#sink.define(
          this.#relations.read(chunk, body, end, this.#sink.definitionOf(chunk.readUInt32BE(body))),
        );
      case 0x49: // Insert
        return this.#change(xid, 'insert', chunk, body);
      case 0x55: // Update
        return this.#change(xid, 'update', chunk, body);
      case 0x44: // Delete
        return this.#change(xid, 'delete', chunk, body);
      case 0x54: // Truncate
        return this.#truncate(xid, chunk, body);
      default:
        throw new ProtocolViolation(`an unexpected message of type ${type} of the output plugin`);
    }
  }

  #change(xid: number | null, operation: Operation, chunk: Buffer, start: number): void {
    const definition = this.#definition(chunk.readUInt32BE(start));
    if (!this.#sink.touch(definition)) return;
    const { keyPositions } = definition;
    this.#bytes = 0;
    let position = start + 4;
    let before: Key | null = null;
    // "K": the key before; "O": the row before. Other columns than those of the key are null in "K".
    if (chunk[position] === 0x4b || chunk[position] === 0x4f) {
      before = this.#readKey(chunk, position + 1, keyPositions, null);
      position = this.#tupleEnd;
    }
    if (operation === 'delete') {
      if (before === null) throw new ProtocolViolation('a Delete message without a key');
      return this.#sink.change(xid, definition, { operation, key: before, oldKey: null, bytes: this.#bytes });
    }
    if (chunk[position] !== 0x4e) throw new ProtocolViolation('a change without a new tuple');
    const key = this.#readKey(chunk, position + 1, keyPositions, before);
    const hasChanged = before?.some((value, index) => value !== key[index]) ?? false;
    this.#sink.change(xid, definition, {
      operation,
      key,
      oldKey: hasChanged ? before : null,
      bytes: this.#bytes,
    });
  }

  /** @param before the values of columns that are stored outside of the tuple and have not changed */
  #readKey(chunk: Buffer, start: number, positions: readonly number[], before: Key | null): Key {
    const key: Key = [];
    const columns = chunk.readUInt16BE(start);
    let position = start + 2;
    for (let column = 0; column < columns; column++) {
      const isKey = positions[key.length] === column;
      const kind = chunk[position++];
      switch (kind) {
        case 0x74: {
          // "t": the length and the text of the value
          const length = chunk.readUInt32BE(position);
          position += 4;
          if (isKey) {
            key.push(chunk.toString('utf8', position, position + length));
            this.#bytes += length;
          }
          position += length;
          break;
        }
        case 0x6e: // "n": null
          if (isKey) key.push(null);
          break;
        case 0x75: // "u": an unchanged value
          if (isKey) key.push(unchangedValue(before, key.length));
          break;
        default:
          throw new ProtocolViolation(`an unexpected column of type ${kind}`);
      }
    }
    if (key.length !== positions.length) throw new ProtocolViolation('a tuple without all columns of its key');
    this.#tupleEnd = position;
    return key;
  }

  #truncate(xid: number | null, chunk: Buffer, start: number): void {
    // After the number of relations: the options (1 byte).
    const relations = Array.from({ length: chunk.readUInt32BE(start) }, (_, index) =>
      chunk.readUInt32BE(start + 5 + index * 4),
    );
    this.#sink.truncate(
      xid,
      relations.map((relation) => this.#definition(relation)),
    );
  }

  #definition(relation: number): RelationDefinition {
    const definition = this.#sink.definitionOf(relation);
    if (definition !== undefined) return definition;
    throw new ProtocolViolation(`a change of the relation ${relation}, which was not described`);
  }
}

function unchangedValue(before: Key | null, index: number): string | null {
  if (before !== null) return before[index]!;
  throw new ProtocolViolation('an unchanged value of a key without its old tuple');
}
