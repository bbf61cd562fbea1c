/** The messages between a reader and its thread, as structured clones. */
import type { ConnectionOptions } from 'node:tls';
import type { ConnectionSettings } from '../connection-string.ts';
import type { Diagnostics } from '../diagnostics.ts';
import { ProtocolViolation } from '../message-parser.ts';
import { ConnectionLost, ConnectionSetupError, DatabaseError } from '../port.ts';
import type { ChangedRelation } from './committed-transaction.ts';
import type { RelationKey } from './relation-definition.ts';
import type { CollectedTransaction } from './transaction-collector.ts';
import { toError } from '../../to-error.ts';

/** What a thread needs to open its connection. */
export interface ReaderStart {
  readonly connection: ConnectionSettings;
  /** Whether TLS checks the chain of certificates and not the name of the host: functions cannot be cloned. */
  readonly ignoresHostName: boolean;
  readonly publication: string;
  readonly maxKeys: number;
  readonly keys: readonly RelationKey[];
}

export type ToThread =
  /** The position has to reach `lsn`. */
  | { readonly kind: 'reach'; readonly lsn: bigint }
  /** This many changes have been handled. */
  | { readonly kind: 'handled'; readonly weight: number }
  | { readonly kind: 'close' };

export type FromThread =
  | { readonly kind: 'opened'; readonly slot: string; readonly position: bigint; readonly walPageSize: number }
  | {
      readonly kind: 'changes';
      readonly transactions: readonly CollectedTransaction[];
      /** Definitions that occur for the first time. */
      readonly definitions: readonly { readonly serial: number; readonly relation: ChangedRelation }[];
      readonly position: bigint;
      readonly weight: number;
    }
  | { readonly kind: 'failed'; readonly error: PlainError }
  | { readonly kind: 'closed' };

/** An error without its class, which a clone does not keep. */
export type PlainError =
  | { readonly kind: 'database'; readonly diagnostics: Diagnostics }
  | { readonly kind: 'lost' | 'setup' | 'violation' | 'other'; readonly message: string };

export function toPlainError(error: unknown): PlainError {
  if (error instanceof DatabaseError) return { kind: 'database', diagnostics: error.diagnostics };
  const message = toError(error).message;
  if (error instanceof ConnectionSetupError) return { kind: 'setup', message };
  if (error instanceof ConnectionLost) return { kind: 'lost', message };
  if (error instanceof ProtocolViolation) return { kind: 'violation', message };
  return { kind: 'other', message };
}

export function fromPlainError(error: PlainError): Error {
  switch (error.kind) {
    case 'database':
      return new DatabaseError(error.diagnostics, 0, 'execute', null);
    case 'setup':
      return new ConnectionSetupError(error.message);
    case 'lost':
      return new ConnectionLost(error.message);
    case 'violation':
      return new ProtocolViolation(error.message);
    case 'other':
      return new Error(error.message);
  }
}

/** Returns the settings without functions. */
export function toCloneable({
  ssl,
  ...connection
}: ConnectionSettings): Pick<ReaderStart, 'connection' | 'ignoresHostName'> {
  if (typeof ssl === 'string') return { connection: { ...connection, ssl }, ignoresHostName: false };
  const { checkServerIdentity, ...options } = ssl;
  return { connection: { ...connection, ssl: options }, ignoresHostName: checkServerIdentity !== undefined };
}

export function fromCloneable({
  connection,
  ignoresHostName,
}: Pick<ReaderStart, 'connection' | 'ignoresHostName'>): ConnectionSettings {
  if (!ignoresHostName) return connection;
  const ssl = connection.ssl as ConnectionOptions;
  return { ...connection, ssl: { ...ssl, checkServerIdentity: () => undefined } };
}
