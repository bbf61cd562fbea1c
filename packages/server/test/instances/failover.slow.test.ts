/** Two servers in front of a cluster under Patroni, while its primary fails under load. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { build, part, pgbouncerVersion, startPgBouncer } from '@pgway/testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { bin, type Program, start } from '../support/program.ts';
import { Load, type Outcome } from './load.ts';
import { type ClusterNode, clusterUser, missingPackages, type PatroniCluster, startPatroniCluster } from './patroni.ts';

const missing = [...missingPackages(), ...((await pgbouncerVersion()) === null ? ['pgbouncer'] : [])];
if (missing.length > 0) console.warn(`SKIPPED: not on this machine: apt-get install ${missing.join(' ')}`);

const sql = `
  create table entry (id bigint, gateway text);
  create function add_entry(_id bigint, _gateway text) returns bigint language sql as
    $$ insert into entry values (_id, _gateway) returning id $$;
  comment on function add_entry is 'HTTP POST
    request_param_type query_string';
  create function has_entry(_id bigint, _gateway text) returns boolean language sql stable as
    $$ select exists (select from entry where id = _id and gateway = _gateway) $$;
  comment on function has_entry is 'HTTP GET';
  create function say(_text text) returns void language plpgsql as
    $$ begin raise info '%', _text using hint = 'all'; end $$;
  comment on function say is 'HTTP POST
    request_param_type query_string
    info_path';
`;

interface Server {
  readonly name: string;
  readonly port: number;
  readonly program: Program;
}

interface Failover {
  /** Milliseconds after which a direct connection could write again. */
  readonly cluster: number;
  readonly outcomes: ReadonlyMap<string, readonly Outcome[]>;
}

const isWrite = ({ id }: Outcome): boolean => id % 2 === 0;
const isOk = ({ status }: Outcome): boolean => status === 200;

describe.skipIf(missing.length > 0)('a cluster under Patroni', () => {
  let cluster: PatroniCluster;

  beforeAll(async () => {
    await build();
    cluster = await startPatroniCluster();
    const client = await connect((await cluster.leader()).port);
    await client.query(sql);
    await client.end();
  });
  afterAll(() => cluster?.stop());

  function connectionString(ports: readonly number[], name: string): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    const parameters = `target_session_attrs=read-write&connect_timeout=2&application_name=${name}`;
    return `postgres://${clusterUser.name}:${clusterUser.password}@${hosts}/postgres?${parameters}`;
  }

  /** @param timeoutMs of the connection attempt and of each query; without it, a busy machine has all the time of the test */
  async function connect(port: number, timeoutMs = 0): Promise<Client> {
    const client = new Client({
      connectionString: `postgres://${clusterUser.name}:${clusterUser.password}@127.0.0.1:${port}/postgres`,
      connectionTimeoutMillis: timeoutMs,
      ...(timeoutMs === 0 ? {} : { query_timeout: timeoutMs }),
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Starts a server that lists all nodes, one behind HAProxy, and one behind PgBouncer and HAProxy. */
  async function serve(): Promise<readonly [Server, Server, Server]> {
    await cluster.untilReplicated(2);
    const client = await connect((await cluster.leader()).port);
    await client.query(`truncate entry; insert into entry values (-1, 'hosts'), (-1, 'haproxy'), (-1, 'pgbouncer')`);
    await client.end();
    const begin = async (name: string, connection: string, gateway: object = {}): Promise<Server> => {
      const configuration = {
        connectionString: connection,
        port: 0,
        gateway: { commandTimeout: 3, ...gateway },
        events: { broadcast: 'postgres' },
      };
      const program = start(await folderWith({ 'pgway.json': configuration }), [process.execPath, bin]);
      const [, port] = await program.until(/endpoints? at http:\/\/[^:]+:(\d+)/);
      return { name, port: Number(port), program };
    };
    const ports = cluster.nodes.map(({ port }) => port);
    const bouncer = await startPgBouncer(connectionString([cluster.proxyPort], 'pgbouncer'), {
      mode: 'transaction',
      size: 10,
    });
    onTestFinished(() => bouncer.stop());
    return [
      await begin('hosts', connectionString(ports, 'hosts')),
      await begin('haproxy', connectionString([cluster.proxyPort], 'haproxy')),
      await begin('pgbouncer', bouncer.connectionString, {
        pooler: 'transaction',
        preparedStatements: false,
        listenConnectionString: connectionString(ports, 'listener'),
      }),
    ];
  }

  /**
   * Writes, and reads of what was written before: these must be `true`. Rows have the name of their gateway from the request: behind PgBouncer,
   * `application_name` stays empty after a call that resets its session.
   */
  function startLoad({ name, port }: Server): Load {
    let acknowledged = -1;
    const load: Load = new Load({
      port,
      rate: 100,
      call: (id) => {
        if (id % 2 === 0) return { method: 'POST', path: `/api/add-entry?gateway=${name}&id=${id}` };
        acknowledged = load.outcomes.findLast((one) => isWrite(one) && isOk(one))?.id ?? acknowledged;
        return { method: 'GET', path: `/api/has-entry?gateway=${name}&id=${acknowledged}` };
      },
    });
    onTestFinished(async () => void (await load.stop()));
    return load;
  }

  /** Waits until a connection to one of the nodes can write, and returns the time of the attempt. */
  async function untilWritable(nodes: readonly ClusterNode[]): Promise<number> {
    const attempt = async ({ port }: ClusterNode): Promise<number> => {
      const begun = performance.now();
      const client = await connect(port, 500);
      try {
        await client.query('insert into entry values (-1)');
        return begun;
      } finally {
        await client.end().catch(() => undefined);
      }
    };
    let found: number | null = null;
    await expect
      .poll(async () => (found = await Promise.any(nodes.map(attempt)).catch(() => null)), {
        timeout: 180_000,
        interval: 20,
      })
      .not.toBe(null);
    return found!;
  }

  /** Runs both servers under load while the primary fails, and until they have written again for some time. */
  async function failOver(servers: readonly Server[], fail: (leader: ClusterNode) => Promise<void>): Promise<Failover> {
    const leader = await cluster.leader();
    const loads = new Map(servers.map((server) => [server.name, startLoad(server)]));
    const writes = (load: Load): number => load.outcomes.filter((one) => isWrite(one) && isOk(one)).length;
    for (const load of loads.values()) await expect.poll(() => writes(load)).toBeGreaterThan(50);
    const failed = performance.now();
    await fail(leader);
    const writable = await untilWritable(cluster.nodes.filter((node) => node !== leader));
    for (const load of loads.values()) {
      const before = writes(load);
      await expect.poll(() => writes(load)).toBeGreaterThan(before + 50);
    }
    const outcomes = new Map<string, readonly Outcome[]>();
    for (const [name, load] of loads) outcomes.set(name, await load.stop());
    for (const [name, all] of outcomes) {
      const first = all.filter((one) => isWrite(one) && isOk(one) && one.ended >= writable).map(({ ended }) => ended);
      const refused = all.filter((one) => !isOk(one)).length;
      const slowest = Math.max(...all.map(({ begun, ended }) => ended - begun));
      console.log(
        `${name}: the cluster wrote after ${Math.round(writable - failed)} ms, the gateway ${Math.round(Math.min(...first) - writable)} ms later; ` +
          `${refused} of ${all.length} requests failed, the slowest took ${Math.round(slowest)} ms; statuses ${JSON.stringify(count(all))}`,
      );
    }
    return { cluster: writable - failed, outcomes };
  }

  function count(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { status, text } of outcomes) {
      const type = /urn:[^"]*problem:([^"]*)/.exec(text)?.[1] ?? '';
      counts[`${status} ${type}`] = (counts[`${status} ${type}`] ?? 0) + 1;
    }
    return counts;
  }

  /** Returns what went wrong: lost, repeated or half-failed writes, wrong reads, and unclear errors. */
  async function faultsOf({ outcomes }: Failover): Promise<readonly (readonly [fault: string, Outcome])[]> {
    const client = await connect((await cluster.leader()).port);
    const { rows } = await client.query<{ key: string; times: number }>(
      `select gateway || ' ' || id as key, count(*)::int as times from entry group by 1`,
    );
    await client.end();
    const times = new Map(rows.map(({ key, times: count }) => [key, count]));
    return [...outcomes].flatMap(([gateway, all]) =>
      all.flatMap((one) => {
        const fault = faultOf(one, times.get(`${gateway} ${one.id}`) ?? 0);
        return fault === null ? [] : [[fault, one] as const];
      }),
    );
  }

  /** Asserts that an event of one server reaches the stream of the other. */
  async function expectEvents(
    [one, other]: readonly [Server, Server, ...Server[]],
    stream: EventStream,
  ): Promise<void> {
    await expect
      .poll(async () => {
        const said = await fetch(`http://127.0.0.1:${one.port}/api/say?text=hello`, { method: 'POST' });
        return [said.status, stream.text.includes('data: hello')];
      })
      .toEqual([204, true]);
    expect(other.program.child.exitCode).toBe(null);
  }

  /** Failures of the primary, and functions that return the faults of requests meanwhile. */
  const failures: readonly (readonly [string, () => Promise<readonly unknown[]>])[] = [
    [
      'the primary is killed: writes resume, none is lost or repeated, reads are right, events arrive again',
      async () => {
        const servers = await serve();
        const stream = await openStream(servers[1]);
        let killed: ClusterNode | undefined;
        const failover = await failOver(servers, async (leader) => {
          killed = leader;
          await leader.kill();
        });
        const faults = await faultsOf(failover);
        await expectEvents(servers, stream);
        // The former primary becomes a replica.
        killed!.start();
        await cluster.untilReplicated(2);
        return faults;
      },
    ],
    [
      'the primary moves to another server',
      async () => {
        const servers = await serve();
        return faultsOf(await failOver(servers, () => cluster.switchover()));
      },
    ],
    [
      'the primary no longer answers, and is back later',
      async () => {
        const servers = await serve();
        const stream = await openStream(servers[1]);
        let paused: ClusterNode | undefined;
        const failover = await failOver(servers, async (leader) => {
          paused = leader;
          await leader.pause();
        });
        const faults = await faultsOf(failover);
        await expectEvents(servers, stream);
        paused!.resume();
        // The paused server has lost the role of the primary, if it had it.
        const leader = await cluster.leader();
        expect(leader).not.toBe(paused);
        return faults;
      },
    ],
  ];

  // Each takes more than a minute.
  test.each(part(failures))('%s', async (_, causeFailure) => {
    expect(await causeFailure()).toEqual([]);
  });
});

/** @param done how often the write was done */
function faultOf(one: Outcome, done: number): string | null {
  if (isOk(one) && !isWrite(one)) return one.text === 'true' ? null : 'wrong read';
  if (isOk(one)) return done === 1 ? null : `acknowledged, done ${done} times`;
  if (one.status !== 503 && one.status !== 504) return 'unclear error';
  const mayBeDone = isWrite(one) && (one.status === 504 || one.text.includes('outcome-unknown'));
  return done > (mayBeDone ? 1 : 0) ? `failed, done ${done} times` : null;
}

interface EventStream {
  /** The stream so far. */
  readonly text: string;
}

async function openStream({ port }: Server): Promise<EventStream> {
  const stream = { text: '' };
  const sent = request({ host: '127.0.0.1', port, path: '/api/say/info' });
  onTestFinished(() => void sent.destroy());
  sent.on('error', () => undefined).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.setEncoding('utf8').on('data', (chunk: string) => (stream.text += chunk));
  return stream;
}
