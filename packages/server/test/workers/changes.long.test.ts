import { DatabaseError } from '@pgway/core/internal';
import { useDatabase } from '@pgway/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  asLines,
  column,
  queryOf,
  requestOf,
  startEngine,
  subscribe,
  type TestSubscriber,
} from '../../../core/test/changes/engine-support.ts';
import type { ChangeFeed, ChangeRequest } from '@pgway/core/internal';
import { ChangeRelay } from '../../src/workers/change-relay.ts';
import { workerChanges } from '../../src/workers/worker-changes.ts';
import { toPrimary } from '../../src/workers/topics.ts';
import { type ChannelPair, channelPair } from './channels.ts';

const database = useDatabase(`
  create table film (id integer primary key, title text);
  create publication pgway_changes for table film;
`);

beforeEach(() => database.query('delete from film'));

const film = queryOf('film', [column('id', 'number'), column('title', 'string')]);
const all = { sql: 'select "id", "title" from "film" order by "id"', values: [] };

interface TestWorker extends ChannelPair {
  readonly feed: ChangeFeed;
}

interface TestServer {
  /** The feed of the primary process. */
  readonly engine: ChangeFeed;
  readonly startWorker: (leads?: boolean) => TestWorker;
  readonly endWorker: (worker: TestWorker) => void;
}

/** Starts the changes of a server with workers, in one process. */
async function startServer(options: Parameters<typeof startEngine>[1] = {}): Promise<TestServer> {
  const { engine } = await startEngine(database, options);
  const relay = new ChangeRelay(() => Promise.resolve(engine));
  return {
    engine,
    startWorker: (leads = false) => {
      const pair = channelPair();
      relay.add(pair.primary);
      const feed = workerChanges(pair.worker, () => leads);
      onTestFinished(() => feed.close());
      return { ...pair, feed };
    },
    endWorker: ({ primary }) => {
      relay.remove(primary);
      primary.close();
    },
  };
}

function join(feed: ChangeFeed, more: Partial<ChangeRequest> = {}): Promise<TestSubscriber> {
  return subscribe(feed, requestOf(film, more));
}

/** The rows that a subscriber has, from its snapshot and the differences. */
function rowsOf({ messages }: TestSubscriber): Readonly<Record<string, string>> {
  const rows = new Map<number, string>();
  for (const message of messages) {
    if (message.kind === 'rows') {
      rows.clear();
      for (const row of message.rows) add(rows, row);
    }
    if (message.kind !== 'changes') continue;
    for (const { operation, record, old } of message.changes) {
      if (operation === 'delete') rows.delete((JSON.parse(text(old!)) as { id: number }).id);
      else add(rows, record!);
    }
  }
  return Object.fromEntries(rows);
}

function add(rows: Map<number, string>, row: Uint8Array): void {
  const { id, title } = JSON.parse(text(row)) as { id: number; title: string };
  rows.set(id, title);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

async function rowsOfTable(): Promise<Readonly<Record<string, string>>> {
  const rows = await database.query('select id, title from film order by id');
  return Object.fromEntries(rows.map(({ id, title }) => [id, title]));
}

describe('the changes of a server with workers', () => {
  test('reach the subscribers of all workers, once for each worker', async () => {
    const { startWorker, engine } = await startServer();
    const [first, second] = [startWorker(), startWorker()];
    const subscribers = await Promise.all([join(first.feed), join(first.feed), join(second.feed)]);
    await database.query(`insert into film values (1, 'One')`);
    for (const { messages } of subscribers) {
      await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":1,"title":"One"}']);
    }
    const [one, other] = subscribers.map(({ messages }) => messages.at(-1));
    expect(one).toBe(other);
    expect(engine.statistics()).toMatchObject({ groups: 1, subscribers: 3 });
    expect(subscribers[0]!.subscription.lastId).toBe(one!.id);
  });

  test('begin with a snapshot, and continue on another worker after the last event', async () => {
    const { startWorker, endWorker } = await startServer();
    await database.query(`insert into film values (1, 'One')`);
    const [first, second] = [startWorker(), startWorker()];
    const before = await join(first.feed, { snapshot: all });
    await expect.poll(() => asLines(before.messages)).toEqual(['rows {"id":1,"title":"One"}']);
    await database.query(`update film set title = 'First'`);
    await expect.poll(() => before.messages).toHaveLength(2);
    endWorker(first);
    await database.query(`insert into film values (2, 'Two')`);
    const after = await join(second.feed, { snapshot: all, lastEventId: before.subscription.lastId });
    await database.query(`delete from film where id = 1`);
    await expect.poll(() => asLines(after.messages)).toEqual(['insert {"id":2,"title":"Two"}', 'delete was {"id":1}']);
  });

  test('are complete after a worker did not read its messages', async () => {
    const { startWorker } = await startServer();
    const worker = startWorker();
    const other = startWorker();
    const subscriber = await join(worker.feed, { snapshot: all });
    const witness = await join(other.feed, { snapshot: all });
    worker.hold('primary');
    const filler = 'x'.repeat(1024 * 1024);
    while (worker.primary.tell('noise', filler, filler.length));
    for (let id = 1; id <= 20; id++) await database.query(`insert into film values (${id}, 'title ${id}')`);
    await database.query(`delete from film where id = 7`);
    await expect.poll(() => rowsOf(witness)).toEqual(await rowsOfTable());
    expect(rowsOf(subscriber)).toEqual({});
    worker.release('primary');
    await database.query(`update film set title = 'last' where id = 9`);
    await expect.poll(() => rowsOf(subscriber)).toEqual(await rowsOfTable());
    expect(asLines(subscriber.messages).filter((line) => line.startsWith('gap'))).toEqual([]);
    expect(subscriber.ends).toEqual([]);
  });

  test('end for subscribers that have left, and for a worker that has exited', async () => {
    const { startWorker, endWorker, engine } = await startServer();
    const [first, second] = [startWorker(), startWorker()];
    const [leaving] = [await join(first.feed), await join(first.feed), await join(second.feed)];
    expect(engine.statistics().subscribers).toBe(3);
    leaving.subscription.cancel();
    leaving.subscription.cancel();
    await expect.poll(() => engine.statistics().subscribers).toBe(2);
    endWorker(first);
    expect(engine.statistics().subscribers).toBe(1);
  });

  test('end with the reason of the primary process', async () => {
    const { startWorker, engine } = await startServer();
    const { ends } = await join(startWorker().feed);
    await engine.close();
    await expect.poll(() => ends).toEqual(['closing']);
  });

  test('arrive once for a subscription that was requested twice', async () => {
    const { startWorker, engine } = await startServer();
    const { worker } = startWorker();
    const question = { id: 900, request: requestOf(film) };
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await worker.ask(toPrimary.subscribeChanges, question, 10_000);
      expect(answer).toMatchObject({ ok: true });
    }
    expect(engine.statistics().subscribers).toBe(1);
  });

  test('end as forbidden only for privileges when they cannot be continued', async () => {
    const { startWorker, engine } = await startServer({ replay: { ageMs: 0, bytes: 1024 } });
    const worker = startWorker();
    const { ends } = await join(worker.feed);
    worker.hold('primary');
    while (worker.primary.tell('noise', null, 1024 * 1024));
    await database.query(`insert into film values (1, 'One')`);
    await expect.poll(() => engine.statistics()).toMatchObject({ groups: 0 });
    await database.query('alter table film rename column title to name');
    worker.release('primary');
    await expect.poll(() => ends).toEqual(['closing']);
    await database.query('alter table film rename column name to title');
  });

  test('are refused with the error of the primary process', async () => {
    const { startWorker } = await startServer();
    const { feed } = startWorker();
    const broken = { ...film, sql: 'select nothing from "film"' };
    const refused = subscribe(feed, requestOf(broken, { snapshot: { sql: 'select 1 / 0', values: [] } }));
    await expect(refused).rejects.toThrow(DatabaseError);
    // The phase tells a stale endpoint from an error of a function.
    const stale = { phase: 'parse', diagnostics: { code: '42703' } };
    await expect(subscribe(feed, requestOf(broken))).rejects.toMatchObject(stale);
    const unpublished = { ...film, relation: { schema: 'public', name: 'actor' } };
    await expect(subscribe(feed, requestOf(unpublished))).rejects.toMatchObject({
      code: 'changes-unavailable',
      status: 503,
      headers: ['retry-after', '5'],
      detail: expect.stringContaining('pgway install changes public.actor'),
    });
  });

  test('tell each worker which tables have changed', async () => {
    const { startWorker } = await startServer();
    const [one, two] = [startWorker(), startWorker()];
    const tables = [{ schema: 'public', name: 'film' }];
    const seen = new Map<string, unknown[]>();
    const watch = (name: string, { feed }: typeof one): (() => void) => {
      const own: unknown[] = [];
      seen.set(name, own);
      return feed.watchTables(tables, ({ changed, unknown }) => {
        if (changed?.length !== 0 || unknown.length > 0) own.push([changed, unknown]);
      });
    };
    watch('one', one);
    const stop = watch('two', two);
    const film = '["public","film"]';
    await expect.poll(() => [...seen.values()]).toEqual([[[null, []]], [[null, []]]]);
    await database.query(`insert into film values (1, 'One')`);
    await expect
      .poll(() => [...seen.values()])
      .toEqual([
        [
          [null, []],
          [[film], []],
        ],
        [
          [null, []],
          [[film], []],
        ],
      ]);
    stop();
    await database.query('alter publication pgway_changes drop table film');
    await expect.poll(() => seen.get('one')?.at(-1)).toEqual([[], [film]]);
    expect(seen.get('two')).toHaveLength(2);
    await database.query('alter publication pgway_changes add table film');
    await expect.poll(() => seen.get('one')?.at(-1), { timeout: 15_000 }).toEqual([[film], []]);
  });
});
