import type { Observation } from '@pgway/core';
import { type PrimaryServer, type ReplicaServer, startPrimary } from '@pgway/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openGateway, untilReplica } from './support.ts';

const schema = `
  create function server() returns text language sql stable as
    $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end $$;
  comment on function server is 'HTTP GET';
  create table note (text text);
  create function add_note(_text text) returns void language sql as $$ insert into note values (_text) $$;
  comment on function add_note is 'HTTP POST
invalidates notes, notes_for_a_time';
  create function notes() returns setof text language sql stable as $$ select text from note $$;
  comment on function notes is 'HTTP GET
cached';
`;

let primary: PrimaryServer;
let replica: ReplicaServer;

beforeAll(async () => {
  primary = await startPrimary();
  await primary.query(schema);
  replica = await primary.startReplica();
});
afterAll(() => primary.stop());

const options = (maxLagSeconds: number) => ({
  connectionString: primary.connectionString,
  readReplicas: { connectionStrings: [replica.connectionString], maxLagSeconds },
});

async function pauseReplay(): Promise<() => Promise<void>> {
  const resume = async (): Promise<void> => void (await replica.query('select pg_wal_replay_resume()'));
  await replica.query('select pg_wal_replay_pause()');
  await expect
    .poll(() => primary.query('select 1').then(() => replica.query('select pg_is_wal_replay_paused() as paused')))
    .toEqual([{ paused: true }]);
  onTestFinished(resume);
  return resume;
}

test('a replica beyond the lag bound gets no calls until it has caught up', async () => {
  const { send, gateway, observations } = await openGateway(options(0.5));
  const { host } = new URL(replica.connectionString);
  const states = (): readonly Observation[] => observations.filter(({ kind }) => kind.startsWith('replica-'));
  const reason = 'it lags by more than 0.5 s, or the primary does not answer';
  const resume = await pauseReplay();
  await primary.query(`insert into note values ('unseen')`);
  await expect.poll(() => states().at(-1)).toEqual({ kind: 'replica-unusable', replica: host, reason });
  // The lag of a replica that replays nothing does not shrink.
  await expect.poll(() => gateway.health().replicas[0]!.lagMs).toBeGreaterThan(1_000);
  expect(gateway.health().replicas[0]).toMatchObject({ replica: host, unusableReason: reason });
  const before = gateway.statistics().reads;
  expect((await send('GET /api/server')).body).toBe('primary');
  const after = gateway.statistics().reads;
  expect([after.readsOnPrimary - before.readsOnPrimary, after.replicas[0]!.calls]).toEqual([
    1,
    before.replicas[0]!.calls,
  ]);
  await resume();
  await untilReplica(send);
  await expect.poll(() => states().at(-1)).toEqual({ kind: 'replica-usable', replica: host });
  await expect.poll(() => gateway.health().replicas[0]!.lagMs).toBeLessThan(500);
});

test('the replica of an idle primary has no lag', async () => {
  // The next record would begin behind the header of a new segment.
  await primary.query('select pg_switch_wal()');
  const { send, gateway } = await openGateway(options(2));
  // Longer than the lag bound.
  await primary.query('select pg_sleep(3)');
  await untilReplica(send);
  await expect.poll(() => gateway.health().replicas[0]!.lagMs).toBeLessThan(1_000);
});

test('a response that is cached after an invalidation includes the write that caused it', async () => {
  const { send, gateway } = await openGateway(options(60));
  const first = JSON.parse((await send('GET /api/notes')).body) as string[];
  const resume = await pauseReplay();
  expect((await send('POST /api/add-note', {}, { text: 'cached' })).status).toBe(204);
  // From the primary, then from the cache.
  const expected = JSON.stringify([...first, 'cached']);
  expect((await send('GET /api/notes')).body).toBe(expected);
  expect((await send('GET /api/notes')).body).toBe(expected);
  expect(gateway.statistics().cache).toMatchObject({ hits: 1, misses: 2 });
  // Other reads still run on the replica.
  expect((await send('GET /api/server')).body).toBe('replica');
  await resume();
  await expect
    .poll(async () => {
      await gateway.refresh();
      await send('GET /api/notes');
      return gateway.statistics().reads.replicas[0]!.lagMs;
    })
    .toBeLessThan(1_000);
});
