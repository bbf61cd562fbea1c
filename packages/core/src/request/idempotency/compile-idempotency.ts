import { createHash } from 'node:crypto';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { wrapGuard } from '../../endpoints/routine-guard.ts';
import { buildReadStatement, buildStoringStatement, type RowStorage } from '../../endpoints/stored-rows.ts';
import type { Statement, Step } from '../../postgres/port.ts';
import { responseSettingNames } from '../../response/response-settings.ts';

/** The table of idempotency keys. */
export interface IdempotencyStore extends RowStorage {
  /** The quoted functions: `(bytea, bytea, bytea, double precision)`, `(bytea) returns boolean`, `(integer) returns integer`. */
  readonly claim: string;
  readonly saveSettings: string;
  readonly prune: string;
  /** Milliseconds. */
  readonly keyLifetimeMs: number;
  /** Milliseconds between two removals of expired keys. */
  readonly pruneIntervalMs: number;
}

/** The statements of an endpoint whose requests may have an idempotency key. */
export interface CompiledIdempotency {
  readonly isRequired: boolean;
  /** The columns of the result, as the text of a `bytea`. Rows with other columns cannot be sent. */
  readonly shape: string;
  readonly lifetime: string;
  /** Inserts the key. Parameters: id, fingerprint, shape, milliseconds. */
  readonly claim: Statement;
  /** Returns the stored rows. Parameters: id, shape. */
  readonly read: Statement;
  /** Reads the response settings of the call, and saves them. Parameter: id. */
  readonly settings: Statement;
  /** Returns a statement that also saves its rows, by the id in a further parameter; unchanged for calls without rows. */
  storing(statement: Statement, parameters: number): Statement;
}

/** A step in the transaction of a call that decides whether the call runs. */
export interface CallGuard {
  /** Run before the call. An error of one prevents the call. */
  readonly steps: readonly Step[];
  /** Replaces the query of the response settings; null: that query. */
  readonly settings: Step | null;
  /** Whether the statement of the call is replaced by one that reads its stored response. */
  readonly isOfReplay: boolean;
}

/** The claim of a key: inserts it before the call, and saves the response settings after it. */
export interface KeyClaim extends CallGuard {
  /** The text of a `bytea`. */
  readonly id: string;
}

let count = 0;

/** Returns null for an endpoint without keys, and without a store. */
export function compileIdempotency(endpoint: Endpoint, store: IdempotencyStore | null): CompiledIdempotency | null {
  if (endpoint.idempotency === undefined || store === null) return null;
  const shared = storeStatements(store);
  const hasRows = endpoint.result.kind !== 'nothing';
  const storing = new WeakMap<Statement, Statement>();
  return {
    isRequired: endpoint.idempotency === 'required',
    shape: `\\x${createHash('sha256')
      .update(JSON.stringify([endpoint.result, endpoint.raw]))
      .digest('hex')}`,
    lifetime: String(store.keyLifetimeMs),
    ...shared,
    read: named('pgway_stored', buildReadStatement(endpoint, store)),
    storing(statement, parameters) {
      if (!hasRows) return statement;
      const known = storing.get(statement);
      if (known !== undefined) return known;
      const { mainStart = 0 } = statement;
      const wrap = (call: string): string => buildStoringStatement(endpoint, { call, mainStart, parameters }, store);
      const made = {
        ...named('pgway_once', wrap(statement.sql)),
        ...(statement.columns ? { columns: statement.columns } : {}),
        ...(statement.guard === undefined ? {} : { guard: wrapGuard(statement.guard, wrap) }),
      };
      storing.set(statement, made);
      return made;
    },
  };
}

/** The statements for the keys of batches. */
export interface BatchKeyStatements extends Pick<CompiledIdempotency, 'shape' | 'lifetime' | 'claim'> {
  /** Bytes. A larger response is not stored. */
  readonly maxBytes: number;
  /** Saves a response. Parameters: id, one row with one value as JSON. */
  readonly save: Statement;
  /** Returns the stored response as one text. Parameters: id, shape. */
  readonly read: Statement;
}

export function compileBatchKeys(store: IdempotencyStore): BatchKeyStatements {
  const { claim, saveBody, readBody } = storeStatements(store);
  return {
    shape: `\\x${createHash('sha256').update('batch').digest('hex')}`,
    lifetime: String(store.keyLifetimeMs),
    maxBytes: store.maxBytes,
    claim,
    save: saveBody,
    read: readBody,
  };
}

interface StoreStatements extends Pick<CompiledIdempotency, 'claim' | 'settings'> {
  readonly saveBody: Statement;
  readonly readBody: Statement;
}

const statementsByStore = new Map<string, StoreStatements>();

/** Returns the statements that all endpoints of a store share. */
function storeStatements({ claim, saveSettings, save, read }: IdempotencyStore): StoreStatements {
  const known = statementsByStore.get(claim);
  if (known !== undefined) return known;
  const settings = responseSettingNames.map((name) => `pg_catalog.current_setting('${name}', true)`);
  const made = {
    claim: named(
      'pgway_claim',
      `select ${claim}($1::pg_catalog.bytea, $2::pg_catalog.bytea, $3::pg_catalog.bytea, $4::pg_catalog.float8)`,
    ),
    settings: named('pgway_once_settings', `select ${settings.join(', ')}, ${saveSettings}($1::pg_catalog.bytea)`),
    saveBody: named('pgway_save', `select ${save}($1::pg_catalog.bytea, $2::pg_catalog.text)`),
    readBody: named(
      'pgway_saved',
      `select ${read}($1::pg_catalog.bytea, $2::pg_catalog.bytea) operator(pg_catalog.->) 0 operator(pg_catalog.->>) 0`,
    ),
  };
  statementsByStore.set(claim, made);
  return made;
}

function named(prefix: string, sql: string): Statement {
  return { name: `${prefix}_${++count}`, sql };
}
