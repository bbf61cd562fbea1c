import { type ChangeIdentity, createTextRowSink, type Limiter, type RealtimeAccess } from '@pgway/core/internal';
import type { BroadcastMessage } from './broadcast-message.ts';
import { runAsCaller, setCallerSettings } from './run-as-caller.ts';

/** The earlier messages that a join asks for. */
export interface ReplayRequest {
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly limit: number;
}

/** As texts. The condition is that of the index. */
const readLatest = {
  name: '',
  sql: `select m.id, m.event, coalesce(m.payload::text, 'null') from realtime.messages as m
where m.topic operator(pg_catalog.=) $1::text and m.private and m.extension operator(pg_catalog.=) 'broadcast' and m.event is not null
  and m.inserted_at operator(pg_catalog.>=) pg_catalog.to_timestamp($2::double precision)
order by m.inserted_at desc, m.id desc limit $3::integer`,
};

/**
 * Reads earlier messages. Reads of one caller run one after the other, and all use a part of the connections that joins do not wait for.
 */
export class MessageHistory {
  readonly #database: RealtimeAccess['database'];
  readonly #limiter: Limiter;
  /** The last read of each caller that has one. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(database: RealtimeAccess['database'], limiter: Limiter) {
    this.#database = database;
    this.#limiter = limiter;
  }

  /**
   * @param caller what the limits of the caller count by
   * @throws DatabaseError, AcquireTimeout or ConnectionLost
   */
  async read(
    caller: string,
    identity: ChangeIdentity,
    topic: string,
    request: ReplayRequest,
  ): Promise<readonly BroadcastMessage[]> {
    const messages = this.#readAfter(this.#last.get(caller), identity, topic, request);
    this.#last.set(caller, messages);
    try {
      return await messages;
    } finally {
      if (this.#last.get(caller) === messages) this.#last.delete(caller);
    }
  }

  async #readAfter(
    before: Promise<unknown> | undefined,
    identity: ChangeIdentity,
    topic: string,
    request: ReplayRequest,
  ): Promise<readonly BroadcastMessage[]> {
    if (before !== undefined) await Promise.allSettled([before]);
    const leave = await this.#limiter.enter();
    try {
      return await readHistory(this.#database, identity, topic, request);
    } finally {
      leave();
    }
  }
}

/**
 * Reads messages of `realtime.send` to a private topic that were sent before a join, the latest ones in the order of their insertion. The
 * policies of `realtime.messages` decide on each of them, under role and claims of the caller.
 * @throws DatabaseError, AcquireTimeout or ConnectionLost
 */
async function readHistory(
  database: RealtimeAccess['database'],
  identity: ChangeIdentity,
  topic: string,
  { since, limit }: ReplayRequest,
): Promise<readonly BroadcastMessage[]> {
  const rows = createTextRowSink();
  await runAsCaller(database, identity.role, [
    setCallerSettings(identity, topic),
    { statement: readLatest, values: [topic, String(since / 1_000), String(limit)], rows },
  ]);
  return rows.rows
    .map(([id, event, payload]) => ({ event: event!, payload: payload!, id: id!, isReplayed: true }))
    .toReversed();
}
