/** Two servers behind HAProxy, with PgBouncer in transaction mode and Redis, while one of them ends under load. */
import { chmod } from 'node:fs/promises';
import {
  build,
  freePort,
  pgbouncerVersion,
  redisVersion,
  startPgBouncer,
  startRedis,
  useDatabase,
} from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isInstalled, type Proxy, startProxy } from '../deploy/proxy.ts';
import { folderWith } from '../support/folder.ts';
import { bin, type Program, start } from '../support/program.ts';
import { Load, type Outcome } from './load.ts';

const programs = {
  haproxy: isInstalled('haproxy', '-v'),
  pgbouncer: (await pgbouncerVersion()) !== null,
  redis: (await redisVersion()) !== null,
};
const missing = Object.entries(programs).flatMap(([name, isThere]) => (isThere ? [] : [name]));
if (missing.length > 0)
  console.warn(`SKIPPED: not on this machine: ${missing.join(', ')} (apt-get install haproxy pgbouncer redis-server)`);

/** The time for a busy machine, which has a fraction of the rate. */
const rate = Number(process.env.PGWAY_TEST_RATE ?? 1_000);

const database = useDatabase(`
  create table entry (id bigint);
  create function add_entry(_id bigint) returns bigint language sql as
    $$ insert into entry values (_id) returning id $$;
  comment on function add_entry is 'HTTP POST
    request_param_type query_string
    rate_limit many';
  create function count_entries() returns bigint language sql stable as $$ select count(*) from entry $$;
  comment on function count_entries is 'HTTP GET
    cached
    cache_expires_in 1s';
  create function twice(_id bigint) returns bigint language sql stable as $$ select 2 * _id $$;
  comment on function twice is 'HTTP GET';
`);

beforeAll(build);

interface Server {
  readonly program: Program;
  /** Starts it again on its port. */
  readonly restart: () => Promise<Server>;
}

interface Setting {
  readonly proxy: Proxy;
  readonly servers: readonly [Server, Server];
}

async function startServer(configuration: object, port: number): Promise<Server> {
  const folder = await folderWith({ 'pgway.json': { ...configuration, port } });
  const program = start(folder, [process.execPath, bin]);
  await program.until(/endpoints? at http:\/\//);
  return { program, restart: () => startServer(configuration, port) };
}

async function serve(): Promise<Setting> {
  await database.query('truncate entry');
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const bouncer = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 10 });
  onTestFinished(() => bouncer.stop());
  const keys = await folderWith();
  await chmod(keys, 0o700);
  const configuration = {
    connectionString: bouncer.connectionString,
    workers: 1,
    shutdownDelay: 5,
    authentication: { production: true, trustedProxies: ['127.0.0.1'] },
    dataProtection: { folder: keys, secret: 'a secret of sixteen characters' },
    gateway: {
      pooler: 'transaction',
      // PgBouncer keeps prepared statements from version 1.21 on.
      preparedStatements: false,
      listenConnectionString: database.connectionString,
    },
    redisCache: { url: redis.url },
    redisRateLimits: { url: redis.url },
    rateLimits: { policies: { many: { type: 'fixed-window', limit: 1_000_000, window: 3600 } } },
    events: { broadcast: 'redis', redisUrl: redis.url },
  };
  const ports = [await freePort(), await freePort()] as const;
  const servers = await Promise.all([startServer(configuration, ports[0]), startServer(configuration, ports[1])]);
  const proxy = await startProxy('haproxy', [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`]);
  return { proxy, servers };
}

function startLoad({ httpsPort: port, certificate }: Proxy): Load {
  const load = new Load({
    port,
    certificate,
    rate,
    // One write to three reads.
    call: (id) =>
      id % 4 === 0
        ? { method: 'POST', path: `/api/add-entry?id=${id}` }
        : { method: 'GET', path: id % 4 === 1 ? '/api/count-entries' : `/api/twice?id=${id}` },
  });
  onTestFinished(async () => void (await load.stop()));
  return load;
}

const isWrite = ({ id }: Outcome): boolean => id % 4 === 0;
const isOk = ({ status }: Outcome): boolean => status === 200;

/** Asserts that each acknowledged write was done once, each failed one at most once, and that each response is correct. */
async function expectExactness(outcomes: readonly Outcome[]): Promise<void> {
  const rows = await database.query('select id::text from entry');
  const times = new Map<number, number>();
  for (const { id } of rows as { id: string }[]) times.set(Number(id), (times.get(Number(id)) ?? 0) + 1);
  const writes = outcomes.filter(isWrite);
  expect(writes.filter((one) => isOk(one) && times.get(one.id) !== 1)).toEqual([]);
  expect(writes.filter(({ id }) => (times.get(id) ?? 0) > 1)).toEqual([]);
  const wrong = outcomes.filter(
    (one) =>
      isOk(one) &&
      one.text !== (one.id % 4 === 1 ? /^\d+$/.exec(one.text)?.[0] : String(isWrite(one) ? one.id : 2 * one.id)),
  );
  expect(wrong).toEqual([]);
}

describe.skipIf(missing.length > 0)('two servers behind HAProxy, PgBouncer and Redis', () => {
  test('one is killed: only requests in flight on it fail, and no write is lost or done twice', async () => {
    const { proxy, servers } = await serve();
    const load = startLoad(proxy);
    const [{ program: killed }] = servers;
    await expect.poll(() => load.outcomes.filter(isOk).length).toBeGreaterThan(rate);
    const inFlight = load.inFlight;
    killed.child.kill('SIGKILL');
    const before = load.sent;
    await killed.ended;
    const after = load.sent;
    await expect.poll(() => proxy.program.text.stdout).toContain('Server pgway/one is DOWN');
    const down = load.sent;
    await expect.poll(() => load.sent).toBeGreaterThan(down + rate);
    const outcomes = await load.stop();

    const failed = outcomes.filter((one) => !isOk(one));
    report(
      'killed',
      outcomes,
      `in flight ${inFlight}, failed ${failed.length}, of them writes ${failed.filter(isWrite).length}`,
    );
    // HAProxy sends 502 or closes the connection. It repeats reads; requests that come later go to the other server.
    expect(failed.filter((one) => ![502, null].includes(one.status) || one.id >= after || !isWrite(one))).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(inFlight + after - before);
    await expectExactness(outcomes);
  });

  test('both are restarted in turn: no request fails', async () => {
    const { proxy, servers } = await serve();
    const load = startLoad(proxy);
    const isUp = (name: string): number => proxy.program.text.stdout.split(`Server pgway/${name} is UP`).length - 1;
    for (const [index, name] of ['one', 'two'].entries()) {
      const { program, restart } = servers[index]!;
      program.child.kill('SIGTERM');
      // One after the other.
      expect(await program.ended).toBe(0);
      const before = isUp(name);
      await restart();
      await expect.poll(() => isUp(name)).toBeGreaterThan(before);
    }
    const { sent } = load;
    await expect.poll(() => load.sent).toBeGreaterThan(sent + rate);
    const outcomes = await load.stop();
    report('restarted', outcomes, '');
    expect(outcomes.filter((one) => !isOk(one))).toEqual([]);
    await expectExactness(outcomes);
  });
});

/** Prints the figures: machines differ in the rate that they reach. */
function report(what: string, outcomes: readonly Outcome[], rest: string): void {
  const seconds = (outcomes.at(-1)!.ended - outcomes[0]!.begun) / 1_000;
  console.log(`${what}: ${outcomes.length} requests, ${Math.round(outcomes.length / seconds)} a second; ${rest}`);
}
