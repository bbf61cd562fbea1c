import { ProtocolViolation } from '../message-parser.ts';
import type { ChangedRelation } from './committed-transaction.ts';

/** The columns that identify a row of a relation whose replica identity is FULL: otherwise all of its columns do. */
export interface RelationKey {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
}

/** A relation, as a Relation message describes it. */
export interface RelationDefinition {
  /** Unique among the definitions of one reader. */
  readonly serial: number;
  readonly relation: ChangedRelation;
  /** The positions of the key columns in a tuple. */
  readonly keyPositions: readonly number[];
  /** The bytes of the message: equal definitions have equal ones. */
  readonly bytes: string;
}

const keyFlag = 1;
const fullIdentity = 0x66;

/** Creates definitions with ascending serial numbers. */
export class RelationReader {
  readonly #keys: ReadonlyMap<string, readonly string[]>;
  #serial = 0;

  constructor(keys: readonly RelationKey[]) {
    this.#keys = new Map(keys.map(({ schema, name, columns }) => [keyOf(schema, name), columns]));
  }

  /**
   * Reads a Relation message whose OID begins at `start`. PostgreSQL manual, "Logical Replication Message Formats".
   * @param known a definition of the same relation, which is returned if it is equal
   */
  read(chunk: Buffer, start: number, end: number, known: RelationDefinition | undefined): RelationDefinition {
    const bytes = chunk.toString('latin1', start, end);
    if (known !== undefined && known.bytes === bytes) return known;
    let position = start + 4;
    const text = (): string => {
      const zero = chunk.indexOf(0, position);
      if (zero === -1 || zero >= end) throw new ProtocolViolation('a Relation message without the end of a name');
      const value = chunk.toString('utf8', position, zero);
      position = zero + 1;
      return value;
    };
    // An empty name means pg_catalog.
    const schema = text() || 'pg_catalog';
    const name = text();
    const isFull = chunk[position] === fullIdentity;
    const count = chunk.readUInt16BE(position + 1);
    position += 3;
    const own = isFull ? this.#keys.get(keyOf(schema, name)) : undefined;
    const keys: { readonly column: string; readonly at: number }[] = [];
    for (let at = 0; at < count; at++) {
      const isKey = (chunk[position++]! & keyFlag) !== 0;
      const column = text();
      // The OID of the type and its modifier.
      position += 8;
      if (isKey && (own === undefined || own.includes(column))) keys.push({ column, at });
    }
    if (position !== end) throw new ProtocolViolation('a Relation message whose columns do not match its length');
    return {
      serial: ++this.#serial,
      relation: { id: chunk.readUInt32BE(start), schema, name, keyColumns: keys.map(({ column }) => column) },
      keyPositions: keys.map(({ at }) => at),
      bytes,
    };
  }
}

function keyOf(schema: string, name: string): string {
  return JSON.stringify([schema, name]);
}
