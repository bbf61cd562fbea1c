import { Problem } from '@pgway/core';
import {
  buildSelectList,
  type ChangeMessage,
  type ChangeQuery,
  type ChangeSubscription,
  documentSlice,
  readMembers,
  type RealtimeAccess,
  rowAlias,
  sliceToJson,
} from '@pgway/core/internal';
import { toResultColumn } from '../change-query.ts';
import type { PublishedTables } from '../published-tables.ts';
import type { MessageHub } from './message-hub.ts';

/** Milliseconds until another attempt to read the messages. */
const retryMs = 2_000;
/** Milliseconds between two deletions of old messages. */
const pruneIntervalMs = 60_000;
/** Messages that are deleted in one transaction. */
const pruneLimit = 5_000;

/** No row: the table is not installed. */
const canPrune = `select pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_function_privilege(p.oid, 'execute')
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'realtime' and p.proname = 'prune_messages' and pg_catalog.oidvectortypes(p.proargtypes) = 'integer'`;

/** Whether the function that reads messages has the rights of the owner of the table, to whom policies apply only if they are forced. */
const readsAsOwner = `select p.prosecdef and pg_catalog.pg_has_role(p.proowner, c.relowner, 'usage')
from pg_catalog.pg_proc p, pg_catalog.pg_class c
where p.oid = 'realtime.read_messages(uuid[])'::pg_catalog.regprocedure and c.oid = 'realtime.messages'::pg_catalog.regclass`;

const columnNames = ['id', 'topic', 'event', 'private', 'payload'] as const;

/** Delivers the messages of `realtime.send`, which the log of the database announces to each server. */
export class DatabaseMessages {
  readonly #access: RealtimeAccess;
  readonly #tables: PublishedTables;
  readonly #hub: MessageHub;
  #subscription: ChangeSubscription | null = null;
  #opening: Promise<void> | null = null;
  #triedAt = -Infinity;
  /** Whether the last attempt has failed: joins do not wait for the next one. */
  #hasFailed = false;
  #prunedAt = performance.now();
  #lastError = '';
  #isClosed = false;
  /** Messages that were read. */
  count = 0;

  constructor(access: RealtimeAccess, tables: PublishedTables, hub: MessageHub) {
    this.#access = access;
    this.#tables = tables;
    this.#hub = hub;
  }

  /** Begins to read, unless it was tried a moment ago. Resolves when later messages are delivered, or could not be read the last time. */
  open(): Promise<void> {
    if (this.#subscription !== null || this.#isClosed) return Promise.resolve();
    if (this.#opening === null && performance.now() - this.#triedAt >= retryMs) {
      this.#triedAt = performance.now();
      this.#opening = this.#attempt();
    }
    return this.#hasFailed ? Promise.resolve() : (this.#opening ?? Promise.resolve());
  }

  /** Opens again what has ended, and deletes old messages. Called every few seconds. */
  check(): void {
    if (!this.#hub.topics.isEmpty) void this.open();
    if (performance.now() - this.#prunedAt < pruneIntervalMs) return;
    this.#prunedAt = performance.now();
    this.#prune().catch((error: unknown) => this.#report(error));
  }

  close(): void {
    this.#isClosed = true;
    this.#subscription?.cancel();
  }

  async #attempt(): Promise<void> {
    try {
      await this.#subscribe();
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      this.#report(error);
    } finally {
      this.#opening = null;
    }
  }

  async #subscribe(): Promise<void> {
    const query = await this.#buildQuery();
    if (query === null) return;
    const subscription = await this.#access.feed().subscribe(
      {
        query,
        identity: this.#access.ownIdentity,
        operations: ['insert'],
        withOld: false,
        withUnchanged: false,
        route: null,
        gapOn: [],
        snapshot: null,
        lastEventId: null,
      },
      {
        message: (message) => this.#receive(message),
        ended: () => {
          this.#subscription = null;
          this.#tables.forget();
          this.#warn();
        },
      },
    );
    this.#lastError = '';
    if (this.#isClosed) return subscription.cancel();
    this.#subscription = subscription;
    // Channels that are open already have not waited: they have missed what was sent until now.
    this.#warn();
  }

  /** Returns null without the table, or if its changes are not published. */
  async #buildQuery(): Promise<ChangeQuery | null> {
    const tables = await this.#tables.list();
    const table = tables.find(({ schema, name }) => schema === 'realtime' && name === 'messages');
    const id = table?.columns.get('id');
    const columns = columnNames.flatMap((name) => table?.columns.get(name) ?? []).map(toResultColumn);
    if (id === undefined || columns.length < columnNames.length) return null;
    const keys = [toResultColumn(id)];
    const [row] = await this.#access.database.query(readsAsOwner);
    const list = [keys, columns].map((result) =>
      buildSelectList({ result: { kind: 'objects', columns: result }, raw: null }, rowAlias),
    );
    return {
      relation: { schema: 'realtime', name: 'messages' },
      keyColumns: ['id'],
      sql: `select "k"."n", ${list.join(', ')}
from rows from (pg_catalog.unnest($1::uuid[])) with ordinality as "k" ("id", "n")
join realtime.read_messages($1::uuid[]) as ${rowAlias} on ${rowAlias}."id" operator(pg_catalog.=) "k"."id"`,
      values: [],
      keys,
      columns,
      altersTransaction: false,
      altersSession: false,
      readsAsOwner: row![0] === 't',
    };
  }

  #receive(message: ChangeMessage): void {
    if (message.kind === 'gap') return this.#warn();
    if (message.kind !== 'changes') return;
    for (const { record } of message.changes) {
      if (record === null) continue;
      this.count++;
      const members = readMembers(documentSlice(Buffer.from(record).toString()));
      const read = (name: (typeof columnNames)[number]): unknown => JSON.parse(sliceToJson(members.get(name)!));
      const [name, event, isPrivate] = [read('topic') as string, read('event') as string, read('private') !== false];
      const payload = sliceToJson(members.get('payload')!);
      const id = members.get('id');
      this.#hub.deliver(
        { name, isPrivate },
        { event, payload, id: id === undefined ? null : (JSON.parse(sliceToJson(id)) as string) },
      );
    }
  }

  #warn(): void {
    if (!this.#isClosed) this.#hub.topics.warn('Messages of the database may be missing');
  }

  async #prune(): Promise<void> {
    const [allowed] = await this.#access.database.query(canPrune);
    if (allowed?.[0] !== 't') return;
    const [row] = await this.#access.database.query('select realtime.prune_messages($1::integer)', [
      String(pruneLimit),
    ]);
    // The others are deleted at the next checks.
    if (Number(row![0]) < pruneLimit) return;
    this.#prunedAt = -Infinity;
  }

  /** Reports a lasting error once. That the log cannot be read is reported by its reader. */
  #report(error: unknown): void {
    const text = String(error);
    if (error instanceof Problem || text === this.#lastError || this.#isClosed) return;
    this.#lastError = text;
    this.#access.report(error);
  }
}
