import { createHash, randomUUID } from 'node:crypto';
import { Problem } from '@pgway/core';
import {
  type ChangeIdentity,
  createTextRowSink,
  DatabaseError,
  type Limiter,
  type RealtimeAccess,
} from '@pgway/core/internal';
import { Refusal } from '../refusal.ts';
import { runAsCaller, setCallerSettings } from './run-as-caller.ts';

/** What a caller may do in a topic. */
export interface Permissions {
  readonly receivesBroadcasts: boolean;
  readonly receivesPresence: boolean;
  readonly sendsBroadcasts: boolean;
  readonly sendsPresence: boolean;
}

/**
 * Asks the policies of `realtime.messages`. Joins of one caller to one topic share a question that has not begun, so that each gets the
 * policies of its time, and no two of their questions run at once. All use a part of the connections and leave the others to requests.
 */
export class Policies {
  readonly #database: RealtimeAccess['database'];
  readonly #limiter: Limiter;
  /** Questions that have not begun. */
  readonly #waiting = new Map<string, Promise<Permissions>>();
  readonly #running = new Map<string, Promise<Permissions>>();

  constructor(database: RealtimeAccess['database'], limiter: Limiter) {
    this.#database = database;
    this.#limiter = limiter;
  }

  /**
   * @throws Refusal without the table, or with a role that its policies do not apply to; DatabaseError of a policy; Problem 503
   */
  read(identity: ChangeIdentity, topic: string): Promise<Permissions> {
    const key = questionKey(identity, topic);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const permissions = this.#ask(key, identity, topic);
    this.#waiting.set(key, permissions);
    return permissions;
  }

  async #ask(key: string, identity: ChangeIdentity, topic: string): Promise<Permissions> {
    const before = this.#running.get(key);
    if (before !== undefined) await Promise.allSettled([before]);
    const leave = await this.#limiter.enter();
    this.#waiting.delete(key);
    const permissions = readPermissions(this.#database, identity, topic);
    this.#running.set(key, permissions);
    try {
      return await permissions;
    } finally {
      leave();
      if (this.#running.get(key) === permissions) this.#running.delete(key);
    }
  }
}

/** Claims may be long. */
function questionKey({ role, key }: ChangeIdentity, topic: string): string {
  return createHash('sha256')
    .update(JSON.stringify([role ?? null, key, topic]))
    .digest('base64');
}

const insertProbes = {
  name: '',
  sql: 'select realtime.insert_probes($1::uuid, $2::uuid, $3::text)',
};

/** Answers as texts, `t` and `f`. */
const checkPolicies = {
  name: '',
  sql: `select pg_catalog.array_to_string(realtime.check_policies($1::uuid, $2::uuid, $3::text), ',')`,
};

/**
 * Asks the policies of `realtime.messages` under role and claims of the caller: SELECT of a message decides what it receives, INSERT
 * what it sends. The transaction with these messages is rolled back.
 * @throws Refusal without the table, or with a role that its policies do not apply to; DatabaseError of a policy; Problem 503
 */
async function readPermissions(
  database: RealtimeAccess['database'],
  identity: ChangeIdentity,
  topic: string,
): Promise<Permissions> {
  const probes = [randomUUID(), randomUUID(), topic];
  const rows = createTextRowSink();
  try {
    await runAsCaller(database, identity.role, [
      { statement: insertProbes, values: probes },
      setCallerSettings(identity, topic),
      { statement: checkPolicies, values: probes, rows },
    ]);
  } catch (error) {
    throw toRefusal(error);
  }
  const [bypasses, ...answers] = rows.rows[0]![0]!.split(',').map((answer) => answer === 't');
  if (bypasses === true && (identity.role === null || identity.role === undefined))
    throw new Refusal(
      'Private channels need a role of callers that row level security applies to; set authentication.databaseRole',
    );
  const [receivesBroadcasts = false, receivesPresence = false, sendsBroadcasts = false, sendsPresence = false] =
    answers;
  return { receivesBroadcasts, receivesPresence, sendsBroadcasts, sendsPresence };
}

/** Schema, table or function does not exist. */
const missing: ReadonlySet<string | undefined> = new Set(['3F000', '42P01', '42883']);

const insufficientPrivilege = '42501';

function toRefusal(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error.diagnostics.severity === 'FATAL')
    return new Problem('database-unavailable', { cause: error });
  const { code, message } = error.diagnostics;
  if (missing.has(code) && message.includes('realtime'))
    return new Refusal('Private channels are not available; run pgway install realtime');
  if (code === insufficientPrivilege && error.step === 0)
    return new Refusal(
      'Private channels are not available: the role of the gateway may not use realtime.messages; run pgway install realtime with its name',
    );
  return error;
}
