/** A cluster of PostgreSQL servers under Patroni, with etcd and HAProxy, on ports of 127.0.0.1. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, processesOn, untilNone } from '@pgway/testing';
import { vi } from 'vitest';
import { isInstalled } from '../deploy/proxy.ts';

/** A server of the cluster with its Patroni. */
export interface ClusterNode {
  readonly name: string;
  readonly port: number;
  /** Starts Patroni, which starts PostgreSQL. */
  start(): void;
  /** Kills PostgreSQL and Patroni at once, as a machine that loses its power does. */
  kill(): Promise<void>;
  /** Freezes all processes: connections stay open, and nothing answers. */
  pause(): Promise<void>;
  resume(): void;
}

export interface PatroniCluster {
  readonly nodes: readonly ClusterNode[];
  /** The port of HAProxy, which connects to the primary. */
  readonly proxyPort: number;
  /** Waits for the primary, as Patroni says. */
  leader(): Promise<ClusterNode>;
  /** Waits until so many replicas follow the primary, one of them synchronously. */
  untilReplicated(replicas: number): Promise<void>;
  /** Moves the primary to another node, and resolves when Patroni has done so. */
  switchover(): Promise<void>;
  stop(): Promise<void>;
}

export const clusterUser = { name: 'postgres', password: 'cluster' } as const;

/** Debian's folder with the programs of PostgreSQL; undefined without one. */
const binaries = [18, 17, 16, 15, 14, 13]
  .map((major) => `/usr/lib/postgresql/${major}/bin`)
  .find((path) => existsSync(`${path}/pg_basebackup`));

/** The Debian packages that are not installed. */
export function missingPackages(): readonly string[] {
  const programs = [
    ['patroni', isInstalled('patroni', '--version')],
    ['etcd-server', isInstalled('etcd', '--version')],
    ['haproxy', isInstalled('haproxy', '-v')],
    ['postgresql', binaries !== undefined],
  ] as const;
  return programs.flatMap(([name, isThere]) => (isThere ? [] : [name]));
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then all programs run as the user of Debian's package. */
function chooseUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const id = (option: string): number => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** A folder, and the user that runs programs in it. */
class Workplace {
  readonly directory: string;
  readonly #user: User | null;

  constructor(directory: string, user: User | null) {
    this.directory = directory;
    this.#user = user;
    if (user !== null) chownSync(directory, user.uid, user.gid);
  }

  folder(name: string): Workplace {
    const path = join(this.directory, name);
    mkdirSync(path, { mode: 0o700 });
    return new Workplace(path, this.#user);
  }

  launch(...[file, ...rest]: readonly [string, ...string[]]): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: this.directory, LC_ALL: 'C.UTF-8' };
    return spawn(file, rest, { cwd: this.directory, env, stdio: 'ignore', ...this.#user });
  }

  /** The processes in the folder. */
  async signal(name: NodeJS.Signals): Promise<void> {
    for (const { pid } of await processesOn(this.directory)) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended.
      }
    }
  }
}

class PatroniNode implements ClusterNode {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly #place: Workplace;

  constructor(name: string, [port, restPort]: readonly [number, number], place: Workplace) {
    this.name = name;
    this.port = port;
    this.restPort = restPort;
    this.#place = place;
  }

  get #file(): string {
    return join(this.#place.directory, 'patroni.yml');
  }

  start(): void {
    this.#place.launch('patroni', this.#file);
  }

  async kill(): Promise<void> {
    await this.#place.signal('SIGKILL');
    await untilNone(() => processesOn(this.#place.directory));
  }

  pause(): Promise<void> {
    return this.#place.signal('SIGSTOP');
  }

  resume(): void {
    void this.#place.signal('SIGCONT');
  }

  /** Writes the configuration of Patroni. JSON is YAML. */
  async configure(etcdPort: number): Promise<void> {
    const { directory } = this.#place;
    const login = (username: string): object => ({ username, password: clusterUser.password });
    const rest = `127.0.0.1:${this.restPort}`;
    const server = `127.0.0.1:${this.port}`;
    const configuration = {
      scope: 'pgway-test',
      name: this.name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { host: `127.0.0.1:${etcdPort}` },
      bootstrap: {
        dcs: {
          ttl: 8,
          loop_wait: 1,
          retry_timeout: 3,
          synchronous_mode: true,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 60, shared_buffers: '16MB', wal_keep_size: '64MB' },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
        pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
        users: { rewinder: { password: clusterUser.password, options: ['superuser'] } },
      },
      postgresql: {
        listen: server,
        connect_address: server,
        data_dir: join(directory, 'data'),
        bin_dir: binaries,
        pgpass: join(directory, 'pgpass'),
        authentication: {
          superuser: login(clusterUser.name),
          replication: login('replicator'),
          rewind: login('rewinder'),
        },
        parameters: { unix_socket_directories: directory },
      },
    };
    await writeFile(this.#file, JSON.stringify(configuration));
  }

  /** The status of Patroni's health check of a role; null without a response. */
  async check(path: string): Promise<number | null> {
    const response = await fetch(`http://127.0.0.1:${this.restPort}/${path}`, {
      signal: AbortSignal.timeout(1_000),
    }).catch(() => null);
    await response?.body?.cancel();
    return response?.status ?? null;
  }
}

/** Starts etcd, three nodes and HAProxy, and waits until both replicas follow the primary. */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'pgway-patroni-'));
  const place = new Workplace(directory, chooseUser());
  const stop = async (): Promise<void> => {
    await place.signal('SIGKILL');
    await untilNone(() => processesOn(directory));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const etcdPort = await startEtcd(place.folder('etcd'));
    const nodes: PatroniNode[] = [];
    for (const name of ['one', 'two', 'three']) {
      // Each port must be free.
      const node = new PatroniNode(name, [await freePort(), await freePort()], place.folder(name));
      await node.configure(etcdPort);
      nodes.push(node);
    }
    const cluster = new Cluster(nodes, await startHaproxy(place.folder('haproxy'), nodes), stop);
    nodes[0]!.start();
    await cluster.leader();
    for (const node of nodes.slice(1)) node.start();
    await cluster.untilReplicated(2);
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

class Cluster implements PatroniCluster {
  readonly nodes: readonly PatroniNode[];
  readonly proxyPort: number;
  readonly stop: () => Promise<void>;

  constructor(nodes: readonly PatroniNode[], proxyPort: number, stop: () => Promise<void>) {
    this.nodes = nodes;
    this.proxyPort = proxyPort;
    this.stop = stop;
  }

  leader(): Promise<PatroniNode> {
    return vi.waitUntil(async () => {
      const checks = await Promise.all(this.nodes.map((node) => node.check('primary')));
      return this.nodes[checks.indexOf(200)];
    }, patience);
  }

  async untilReplicated(replicas: number): Promise<void> {
    const { restPort } = await this.leader();
    await vi.waitUntil(async () => {
      const status = await fetch(`http://127.0.0.1:${restPort}/patroni`)
        .then((response) => response.json() as Promise<{ replication?: { state: string; sync_state: string }[] }>)
        .catch(() => null);
      const { replication = [] } = status ?? {};
      const streaming = replication.filter(({ state }) => state === 'streaming');
      return streaming.length === replicas && streaming.some(({ sync_state: state }) => state === 'sync');
    }, patience);
  }

  async switchover(): Promise<void> {
    const { name, restPort } = await this.leader();
    // Patroni refuses it while no replica is healthy, which on a busy machine changes from second to second.
    await vi.waitUntil(async () => {
      const response = await fetch(`http://127.0.0.1:${restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: name }),
      }).catch(() => null);
      await response?.body?.cancel();
      return response?.ok === true || (await this.leader()).name !== name;
    }, patience);
  }
}

/** Failover and copies take some seconds, and longer on a busy machine. */
const patience = { timeout: 180_000, interval: 100 };

async function startEtcd(place: Workplace): Promise<number> {
  const [client, peer] = [await freePort(), await freePort()];
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  const options = {
    'data-dir': join(place.directory, 'data'),
    name: 'etcd',
    'initial-cluster': `etcd=${url(peer)}`,
    'listen-client-urls': url(client),
    'advertise-client-urls': url(client),
    'listen-peer-urls': url(peer),
    'initial-advertise-peer-urls': url(peer),
  };
  place.launch('etcd', ...Object.entries(options).map(([name, value]) => `--${name}=${value}`));
  const health = (): Promise<boolean> =>
    fetch(`${url(client)}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(health, patience);
  return client;
}

/** Connections go to the node whose Patroni says that it is the primary, and end when it no longer is. */
async function startHaproxy(place: Workplace, nodes: readonly PatroniNode[]): Promise<number> {
  const port = await freePort();
  const servers = nodes.map(
    ({ name, port: server, restPort }) => `  server ${name} 127.0.0.1:${server} check port ${restPort}`,
  );
  await writeFile(
    join(place.directory, 'haproxy.cfg'),
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`,
  );
  place.launch('haproxy', '-db', '-f', join(place.directory, 'haproxy.cfg'));
  return port;
}
