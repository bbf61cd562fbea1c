import { type PrimaryServer, type ReplicaServer, serverConnectionString, startPrimary } from '@pgway/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGateway, type ReplicaGateway, startRelay, untilReplica } from './support.ts';

const schema = `
  create function server() returns text language sql stable as
    $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end $$;
  comment on function server is 'HTTP GET';
  create table note (id int);
  insert into note values (1), (2);
  create function slow_on_replica() returns text language plpgsql stable as $$
  begin
    perform count(*) from note;
    if pg_is_in_recovery() then perform pg_sleep(60); end if;
    return server();
  end $$;
  comment on function slow_on_replica is 'HTTP GET';
  create function many() returns setof text language sql stable as
    $$ select repeat('x', 1000) from generate_series(1, 1000000) $$;
  comment on function many is 'HTTP GET';
`;

let primary: PrimaryServer;
let replica: ReplicaServer;
let second: ReplicaServer;

beforeAll(async () => {
  primary = await startPrimary();
  await primary.query(schema);
  replica = await primary.startReplica({ max_standby_streaming_delay: '0' });
  second = await primary.startReplica();
});
afterAll(() => primary.stop());

const options = (...replicas: readonly string[]) => ({
  connectionString: primary.connectionString,
  // No test here is about the lag, which a busy machine makes longer.
  readReplicas: { connectionStrings: replicas, maxLagSeconds: 60 },
});

/** Sends reads, eight at a time, until the function returns true. Returns the number of each response. */
async function readUntil(send: ReplicaGateway['send'], isDone: () => boolean): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const run = async (): Promise<void> => {
    while (!isDone()) {
      const { status, body } = await send('GET /api/server');
      const key = status === 200 ? body : `${status} ${body}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, run));
  return counts;
}

/** Waits until a call sleeps on the replica, on another connection than the given one. Returns the process ID of its backend. */
async function waitsOnReplica(other = 0): Promise<number> {
  const sleeping = `select pid from pg_stat_activity where wait_event = 'PgSleep' and pid <> ${other}`;
  await expect.poll(() => replica.query(sleeping)).toHaveLength(1);
  return (await replica.query(sleeping))[0]!['pid'] as number;
}

test('no read fails while a replica is killed and restarted, and it gets calls again', async () => {
  const relay = await startRelay(replica.connectionString);
  const { send, gateway, observations } = await openGateway(options(relay.through(replica.connectionString)));
  let isDone = false;
  const running = readUntil(send, () => isDone);
  await expect.poll(() => gateway.statistics().reads.replicas[0]!.calls).toBeGreaterThan(200);
  await replica.kill();
  await expect.poll(() => gateway.health().replicas[0]!.unusableReason).not.toBeNull();
  const { readsOnPrimary } = gateway.statistics().reads;
  await expect.poll(() => gateway.statistics().reads.readsOnPrimary).toBeGreaterThan(readsOnPrimary + 100);
  await replica.restart();
  relay.lead(replica.connectionString);
  await expect.poll(() => gateway.health().replicas[0]!.unusableReason).toBeNull();
  const { calls } = gateway.statistics().reads.replicas[0]!;
  await expect.poll(() => gateway.statistics().reads.replicas[0]!.calls).toBeGreaterThan(calls + 100);
  isDone = true;
  const counts = await running;
  expect(Object.keys(counts).toSorted()).toEqual(['primary', 'replica']);
  expect(observations.filter(({ kind }) => kind === 'request-failed')).toEqual([]);
});

test('reads alternate between replicas, and use the other one when one is unreachable', async () => {
  const relay = await startRelay(second.connectionString);
  const { send, gateway } = await openGateway(
    options(`${replica.connectionString}`, relay.through(second.connectionString)),
  );
  const calls = (): readonly number[] => gateway.statistics().reads.replicas.map((state) => state.calls);
  await expect.poll(() => gateway.health().replicas.map(({ unusableReason }) => unusableReason)).toEqual([null, null]);
  const before = calls();
  for (let count = 0; count < 20; count++) expect((await send('GET /api/server')).body).toBe('replica');
  expect(calls().map((count, index) => count - before[index]!)).toEqual([10, 10]);
  relay.freeze();
  await expect
    .poll(() => gateway.health().replicas.map(({ unusableReason }) => unusableReason === null))
    .toEqual([true, false]);
  for (let count = 0; count < 20; count++) expect((await send('GET /api/server')).body).toBe('replica');
});

test('a call that the recovery cancels runs again on the primary', async () => {
  const { send, gateway } = await openGateway(options(replica.connectionString));
  const answer = send('GET /api/slow-on-replica');
  await waitsOnReplica();
  // The replica cannot replay the lock while the call holds one.
  await primary.query('truncate note');
  expect(await answer).toMatchObject({ status: 200, body: 'primary' });
  expect(gateway.statistics().reads.replicas[0]).toMatchObject({ repeatedCalls: 1, unusableReason: null });
});

test('a call whose connections are terminated runs again', async () => {
  const { send } = await openGateway(options(replica.connectionString));
  const answer = send('GET /api/slow-on-replica');
  const terminate = (pid: number): Promise<unknown> => replica.query(`select pg_terminate_backend(${pid})`);
  // First on another connection of the replica, then on the primary.
  const first = await waitsOnReplica();
  await terminate(first);
  await terminate(await waitsOnReplica(first));
  expect(await answer).toMatchObject({ status: 200, body: 'primary' });
});

test('a response that has begun is not repeated', async () => {
  const { gateway } = await openGateway(options(replica.connectionString));
  const response = await gateway.fetch(new Request('http://localhost/api/many'));
  expect(response!.status).toBe(200);
  await replica.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where query like '%many%' and pid <> pg_backend_pid()`,
  );
  await expect(response!.text()).rejects.toThrow('the database connection was lost');
  expect(gateway.statistics().reads.replicas[0]).toMatchObject({ repeatedCalls: 0 });
});

test('servers that are no replicas get no calls', async () => {
  const other = serverConnectionString();
  const otherDatabase = Object.assign(new URL(replica.connectionString), { pathname: '/template1' }).href;
  const unreachable = 'postgres://user@127.0.0.1:1/postgres';
  const { send, gateway, observations } = await openGateway(
    options(primary.connectionString, other, otherDatabase, unreachable),
    false,
  );
  await expect
    .poll(() => gateway.health().replicas.map(({ unusableReason }) => unusableReason))
    .toEqual([
      'it is not a standby: it was promoted, or is the primary itself',
      'it belongs to another database cluster than the primary',
      'it is the database "template1", and not "postgres" as the primary',
      'no connection to 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
    ]);
  expect((await send('GET /api/server')).body).toBe('primary');
  expect(observations.filter(({ kind }) => kind === 'replica-unusable')).toHaveLength(4);
});

test('a replica that was promoted gets no calls', async () => {
  const promoted = await primary.startReplica();
  const { send, gateway } = await openGateway(options(promoted.connectionString));
  await promoted.query('select pg_promote()');
  await expect
    .poll(() => gateway.health().replicas[0]!.unusableReason)
    .toBe('it is not a standby: it was promoted, or is the primary itself');
  expect((await send('GET /api/server')).body).toBe('primary');
});

test('after a failover, replicas get calls when they follow the new primary', async () => {
  // Without the privilege to see which timeline a replica receives.
  await primary.query(`create role app login password 'app'`);
  const heir = await primary.startReplica();
  const source = await startRelay(primary.connectionString);
  const { username, password } = new URL(primary.connectionString);
  const follower = await primary.startReplica({
    primary_conninfo: `host=127.0.0.1 port=${source.port} user=${username} password=${password}`,
  });
  const hostOf = (server: { readonly connectionString: string }): string => new URL(server.connectionString).host;
  const { send, gateway } = await openGateway({
    connectionString: `postgres://app:app@${hostOf(primary)},${hostOf(heir)}/postgres?target_session_attrs=read-write`,
    readReplicas: { connectionStrings: [`postgres://app:app@${hostOf(follower)}/postgres`], maxLagSeconds: 60 },
  });
  await primary.kill();
  await heir.query('select pg_promote()');
  await expect.poll(() => gateway.health().replicas[0]!.unusableReason).toBe('it is on timeline 1, the primary on 2');
  expect(await send('GET /api/server')).toMatchObject({ status: 200, body: 'primary' });
  source.lead(heir.connectionString);
  // A restart point writes the timeline to the control file.
  await heir.query('checkpoint');
  await expect
    .poll(() => follower.query('checkpoint').then(() => gateway.health().replicas[0]!.unusableReason))
    .toBeNull();
  await untilReplica(send);
});
