import type { PgoutputSink, TupleChange } from './pgoutput-decoder.ts';
import type { RelationDefinition } from './relation-definition.ts';
import { ProtocolViolation } from '../message-parser.ts';

/** Changes of one (sub)transaction without others between them. Flat, because there are many of them. */
interface Segment {
  /** Of each change: the serial number of the definition, the operation and whether it has an old key; see `changeCode`. */
  readonly codes: number[];
  /** The values of the keys, each old key after its key. */
  readonly values: (string | null)[];
  readonly truncated: RelationDefinition[];
}

/** A committed transaction in the form in which threads exchange it. */
export interface CollectedTransaction {
  readonly xid: number;
  readonly commitLsn: bigint;
  /** Microseconds since 2000-01-01. */
  readonly commitTime: bigint;
  readonly codes: readonly number[];
  readonly values: readonly (string | null)[];
  readonly tooMany: boolean;
  /** Serial numbers of definitions. */
  readonly relations: readonly number[];
  readonly truncated: readonly number[];
  readonly redefined: readonly number[];
}

export const operations = ['insert', 'update', 'delete'] as const;

/** Returns the code of a change. */
function changeCode(serial: number, { operation, oldKey }: TupleChange): number {
  return serial * 8 + operations.indexOf(operation) * 2 + (oldKey === null ? 0 : 1);
}

/** Average bytes of a key that a transaction with the maximum number of keys may have. */
const maxAverageKeyBytes = 256;
/** How many times the limit of one transaction all open ones together may have. */
const sharedFactor = 4;

class OpenTransaction {
  readonly xid: number;
  readonly segments: Segment[] = [];
  readonly bySubtransaction: Map<number, Segment[]> = new Map();
  /** The definitions that the transaction has sent. They count when it commits. */
  readonly definitions: Map<number, RelationDefinition> = new Map();
  readonly touched: Set<RelationDefinition> = new Set();
  keys = 0;
  bytes = 0;
  tooMany = false;
  #current: { readonly xid: number; readonly segment: Segment } | null = null;

  constructor(xid: number) {
    this.xid = xid;
  }

  segmentOf(xid: number): Segment {
    if (this.#current?.xid === xid) return this.#current.segment;
    const segment: Segment = { codes: [], values: [], truncated: [] };
    this.segments.push(segment);
    const others = this.bySubtransaction.get(xid);
    if (others === undefined) this.bySubtransaction.set(xid, [segment]);
    else others.push(segment);
    this.#current = { xid, segment };
    return segment;
  }

  /** Drops the changes of a subtransaction. */
  abort(xid: number): void {
    for (const segment of this.bySubtransaction.get(xid) ?? []) {
      this.keys -= segment.codes.length;
      segment.codes.length = 0;
      segment.values.length = 0;
      segment.truncated.length = 0;
    }
    this.bySubtransaction.delete(xid);
    if (this.#current?.xid === xid) this.#current = null;
  }

  /** Drops all keys and collects no more. */
  dropKeys(): void {
    for (const { codes, values } of this.segments) {
      codes.length = 0;
      values.length = 0;
    }
    this.keys = 0;
    this.bytes = 0;
    this.tooMany = true;
  }
}

/** Receives what was committed, in order. */
export interface CommitReceiver {
  /** @param definitions those that the transaction names */
  deliver(transaction: CollectedTransaction, definitions: readonly RelationDefinition[]): void;
  /** A transaction has committed without a published change: PostgreSQL before 15 sends it, too. */
  skip(commitLsn: bigint): void;
}

/** Collects the changes of transactions until they commit, with bounded memory. */
export class TransactionCollector implements PgoutputSink {
  readonly #maxKeys: number;
  readonly #receiver: CommitReceiver;
  /** The definitions of committed transactions, by OID. */
  readonly #definitions = new Map<number, RelationDefinition>();
  readonly #streamed = new Map<number, OpenTransaction>();
  /** The transaction whose messages arrive. */
  #current: OpenTransaction | null = null;
  /** The keys of all streamed transactions. */
  #streamedKeys = 0;

  constructor(maxKeys: number, receiver: CommitReceiver) {
    this.#maxKeys = maxKeys;
    this.#receiver = receiver;
  }

  begin(xid: number): void {
    this.#current = new OpenTransaction(xid);
  }

  commit(endLsn: bigint, time: bigint): void {
    const transaction = this.#transaction();
    this.#current = null;
    this.#finish(transaction, endLsn, time);
  }

  streamStart(xid: number): void {
    const known = this.#streamed.get(xid);
    this.#current = known ?? new OpenTransaction(xid);
    if (known === undefined) this.#streamed.set(xid, this.#current);
  }

  streamStop(): void {
    this.#current = null;
  }

  streamCommit(xid: number, endLsn: bigint, time: bigint): void {
    const transaction = this.#removeStreamed(xid);
    if (transaction === undefined) throw new ProtocolViolation(`the commit of the unknown transaction ${xid}`);
    this.#finish(transaction, endLsn, time);
  }

  streamAbort(xid: number, subtransaction: number): void {
    if (xid === subtransaction) {
      this.#removeStreamed(xid);
      return;
    }
    const transaction = this.#streamed.get(xid);
    if (transaction === undefined) return;
    const before = transaction.keys;
    transaction.abort(subtransaction);
    this.#streamedKeys -= before - transaction.keys;
  }

  definitionOf(relation: number): RelationDefinition | undefined {
    return this.#current?.definitions.get(relation) ?? this.#definitions.get(relation);
  }

  define(definition: RelationDefinition): void {
    this.#transaction().definitions.set(definition.relation.id, definition);
  }

  touch(definition: RelationDefinition): boolean {
    const transaction = this.#transaction();
    transaction.touched.add(definition);
    return !transaction.tooMany;
  }

  change(xid: number | null, definition: RelationDefinition, change: TupleChange): void {
    const transaction = this.#transaction();
    const { codes, values } = transaction.segmentOf(xid ?? transaction.xid);
    codes.push(changeCode(definition.serial, change));
    for (const value of change.key) values.push(value);
    if (change.oldKey !== null) for (const value of change.oldKey) values.push(value);
    transaction.keys++;
    transaction.bytes += change.bytes;
    if (xid !== null) this.#streamedKeys++;
    if (transaction.keys > this.#maxKeys || transaction.bytes > this.#maxKeys * maxAverageKeyBytes) {
      this.#dropKeys(transaction);
    } else if (this.#streamedKeys > this.#maxKeys * sharedFactor) {
      this.#dropKeys(this.#largestStreamed());
    }
  }

  truncate(xid: number | null, definitions: readonly RelationDefinition[]): void {
    const transaction = this.#transaction();
    const { truncated } = transaction.segmentOf(xid ?? transaction.xid);
    for (const definition of definitions) {
      transaction.touched.add(definition);
      if (!truncated.includes(definition)) truncated.push(definition);
    }
  }

  #transaction(): OpenTransaction {
    if (this.#current !== null) return this.#current;
    throw new ProtocolViolation('a change outside of a transaction');
  }

  #removeStreamed(xid: number): OpenTransaction | undefined {
    const transaction = this.#streamed.get(xid);
    if (transaction === undefined) return undefined;
    this.#streamed.delete(xid);
    this.#streamedKeys -= transaction.keys;
    return transaction;
  }

  #dropKeys(transaction: OpenTransaction): void {
    if (this.#streamed.has(transaction.xid)) this.#streamedKeys -= transaction.keys;
    transaction.dropKeys();
  }

  #largestStreamed(): OpenTransaction {
    return [...this.#streamed.values()].reduce((largest, other) => (other.keys > largest.keys ? other : largest));
  }

  #finish(transaction: OpenTransaction, endLsn: bigint, time: bigint): void {
    const { segments, tooMany, touched } = transaction;
    const redefined = this.#keepDefinitions(transaction);
    const truncated = new Set(segments.flatMap((segment) => segment.truncated));
    const isEmpty = transaction.keys === 0 && !tooMany && truncated.size === 0 && redefined.length === 0;
    if (isEmpty) return this.#receiver.skip(endLsn);
    const [first] = segments;
    const isOneSegment = segments.length === 1;
    const collected = {
      xid: transaction.xid,
      commitLsn: endLsn,
      commitTime: time,
      codes: isOneSegment ? first!.codes : segments.flatMap(({ codes }) => codes),
      values: isOneSegment ? first!.values : segments.flatMap(({ values }) => values),
      tooMany,
      relations: serials(touched),
      truncated: serials(truncated),
      redefined: serials(redefined),
    };
    this.#receiver.deliver(collected, [...new Set([...touched, ...truncated, ...redefined])]);
  }

  /** Keeps the definitions of a committed transaction. Returns those that replace a different one. */
  #keepDefinitions({ definitions }: OpenTransaction): readonly RelationDefinition[] {
    const redefined: RelationDefinition[] = [];
    for (const [id, definition] of definitions) {
      const known = this.#definitions.get(id);
      if (known !== undefined && known.bytes !== definition.bytes) redefined.push(definition);
      this.#definitions.set(id, definition);
    }
    return redefined;
  }
}

function serials(definitions: Iterable<RelationDefinition>): readonly number[] {
  return Array.from(definitions, ({ serial }) => serial);
}
