/** Measures streams of row changes: rates and latencies with row level security, and the memory of idle subscribers. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { BenchContext } from '../bench-suite.ts';
import { type BenchDatabase, openDatabase, runSql } from '../database.ts';
import { mainThreadCpu, usageOf } from '../process-usage.ts';
import type { Section } from '../report/section.ts';
import { formatMebibytes, formatNumber, formatTable } from '../report/table.ts';
import type { GatewayReport } from './gateway.ts';
import type { ChangesBenchOptions, ChangesBenchPart } from './options.ts';
import type { FromSubscribers, SubscribersStart, ToSubscribers, Verification } from './subscribers.ts';
import { Writer } from './writer.ts';

/** Subscribers with an identity each, and what is written. */
interface Scenario {
  readonly part: ChangesBenchPart;
  readonly title: string;
  readonly identities: number;
  readonly tenants: number;
  readonly rows: number;
  readonly isRouted: boolean;
  readonly rowsPerCommit: number;
  /** Changes per second. */
  readonly rates: readonly number[];
}

/** The figures of one rate. Latencies in milliseconds, CPU in microseconds for each change. */
interface Measurement {
  readonly scenario: string;
  readonly rate: number;
  readonly written: number;
  readonly delivered: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly cutsPerSecond: number;
  readonly lookupsPerSecond: number;
  readonly engineCpu: number | null;
  readonly readerCpu: number | null;
  readonly databaseCpu: number | null;
  /** Of the database, at the same rate and without subscribers. */
  readonly writeCpu: number | null;
  readonly rss: number;
}

interface Idle {
  readonly subscribers: number;
  readonly identities: number;
  readonly openMs: number;
  readonly rssBefore: number;
  readonly rss: number;
  /** Share of one processor, with heartbeats. */
  readonly cpuShare: number | null;
  /** Milliseconds from the commit of a change until the last subscriber has it. */
  readonly changeMs: number;
}

const rowsPerTenant = 200;
const manyTenants = 10;
/** Seconds of a rate before it is measured. */
const warmUpSeconds = 1;

function schemaSql({ tenants, rows, isRouted }: Scenario, role: string): string {
  return `
    drop table if exists item;
    create table item (id integer primary key, tenant integer not null, number bigint not null, title text not null, at timestamptz not null);
    insert into item select n, n % ${tenants}, n, 'the title of the item ' || n, now() from generate_series(0, ${rows - 1}) as n;
    create unique index item_changes on item (id, tenant);
    create index on item (tenant);
    ${isRouted ? 'alter table item replica identity using index item_changes;' : ''}
    alter table item enable row level security;
    create policy tenants on item for select
      using (tenant = (select split_part(current_setting('request.user_name', true), '@', 2)::integer));
    grant select on item to ${role};
    comment on table item is 'HTTP
authorize
user_context
changes
${isRouted ? 'changes by tenant = claim tenant' : ''}';
    drop publication if exists pgway_changes;
    create publication pgway_changes for table item with (publish_via_partition_root = true);
    vacuum analyze item;`;
}

function scenariosOf({ rates, manyRate, identities }: ChangesBenchOptions): readonly Scenario[] {
  const ten = { part: 'ten', identities: 10, tenants: 10, rows: 20_000, isRouted: false, rowsPerCommit: 20 } as const;
  const many = { identities, rowsPerCommit: 5, rates: [manyRate] };
  const alone = { ...many, part: 'many', tenants: identities, rows: identities * rowsPerTenant } as const;
  const shared = { ...many, part: 'shared', tenants: manyTenants, rows: manyTenants * rowsPerTenant } as const;
  return [
    { ...ten, title: 'ten identities, a tenant each', rates },
    { ...alone, title: `${identities} identities, a tenant each, routed`, isRouted: true },
    { ...alone, title: `${identities} identities, a tenant each, without routing`, isRouted: false },
    { ...shared, title: `${identities} identities of ten tenants, routed`, isRouted: true },
    { ...shared, title: `${identities} identities of ten tenants, without routing`, isRouted: false },
  ];
}

/** A process that answers each message with one. */
class Child {
  readonly process: ChildProcess;
  readonly #exited: Promise<never>;

  constructor(file: string, env: NodeJS.ProcessEnv = {}) {
    this.process = fork(fileURLToPath(new URL(file, import.meta.url)), {
      env: { ...process.env, NODE_ENV: 'production', ...env },
    });
    this.#exited = once(this.process, 'exit').then(([code]) => {
      throw new Error(`the process of ${file} has ended with ${String(code)}`);
    });
    this.#exited.catch(() => undefined);
  }

  receive<Message>(): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.process.once('message', (message: Message) => resolve(message));
      this.#exited.catch(reject);
    });
  }

  ask<Message>(message: ToSubscribers | 'report'): Promise<Message> {
    this.process.send(message);
    return this.receive<Message>();
  }

  async close(): Promise<void> {
    if (this.process.connected) this.process.disconnect();
    await this.#exited.catch(() => undefined);
  }
}

/** The processes of a scenario. */
class Setup {
  readonly database: BenchDatabase;
  readonly gateway: Child;
  readonly subscribers: Child;

  private constructor(database: BenchDatabase, gateway: Child, subscribers: Child) {
    this.database = database;
    this.gateway = gateway;
    this.subscribers = subscribers;
  }

  /** Runs a task with a gateway and subscribers, and ends both. */
  static async with<Result>(
    { database, role }: { readonly database: BenchDatabase; readonly role: string },
    task: (setup: Setup, port: number) => Promise<Result>,
  ): Promise<Result> {
    const gateway = new Child('gateway.js', { DATABASE_URL: database.connectionString, ROLE: role });
    const subscribers = new Child('subscribers.js');
    try {
      const { port } = await gateway.receive<{ port: number }>();
      return await task(new Setup(database, gateway, subscribers), port);
    } finally {
      await Promise.all([gateway.close(), subscribers.close()]);
    }
  }

  async tell<Kind extends FromSubscribers['kind']>(
    message: ToSubscribers,
    kind: Kind,
  ): Promise<FromSubscribers & { readonly kind: Kind }> {
    const answer = await this.subscribers.ask<FromSubscribers>(message);
    if (answer.kind !== kind) throw new Error(`the subscribers answered ${answer.kind} in place of ${kind}`);
    return answer as FromSubscribers & { readonly kind: Kind };
  }

  /** Returns the milliseconds that it took. */
  async open(start: SubscribersStart): Promise<number> {
    const { ms, failures } = await this.tell({ kind: 'open', start }, 'opened');
    if (failures.length > 0) throw new Error(`streams do not open: ${failures[0]}`);
    return ms;
  }

  report(): Promise<GatewayReport> {
    return this.gateway.ask<GatewayReport>('report');
  }

  /** Microseconds of CPU since the start; null where the system has no `/proc`. */
  cpu(): { readonly engine: number | null; readonly gateway: number | null; readonly database: number | null } {
    const pid = this.gateway.process.pid!;
    return { engine: mainThreadCpu(pid), gateway: usageOf(pid)?.cpu ?? null, database: this.database.cpu() };
  }
}

/** Measures each scenario, then idle subscribers. After each rate, the rows of every subscriber are compared with those of its own GET. */
export async function benchChanges(options: ChangesBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const database = await openDatabase(options.database, 1);
  const role = `pgway_bench_reader_${process.pid}`;
  try {
    await runSql(database.connectionString, `create role ${role}`);
    const measurements: Measurement[] = [];
    const faults: string[] = [];
    let compared = 0;
    const check = (title: string, { compared: subscribers, wrong }: Verification): void => {
      compared += subscribers;
      if (wrong.length > 0) faults.push(`${title}: ${wrong.length} of ${subscribers} differ, such as ${wrong[0]}`);
    };
    for (const scenario of scenariosOf(options).filter(({ part }) => options.parts.includes(part))) {
      log(`${scenario.title} …`);
      measurements.push(...(await measureScenario(scenario, { database, role, options, signal, check })));
    }
    const idle: Idle[] = [];
    for (const identities of options.parts.includes('idle') ? [Math.min(10, options.idle), options.idle] : []) {
      log(`${options.idle} idle subscribers of ${identities} identities …`);
      idle.push(await measureIdle(identities, { database, role, options, signal, check }));
    }
    return {
      title: 'Row changes',
      text: [`PostgreSQL ${database.version}.`, describe(measurements, idle, compared)].join('\n\n'),
      charts: [],
      data: { options, measurements, idle, compared },
      faults,
    };
  } finally {
    await runSql(database.connectionString, `drop owned by ${role}; drop role ${role}`).catch(() => undefined);
    await database.close();
  }
}

interface Parts {
  readonly database: BenchDatabase;
  readonly role: string;
  readonly options: ChangesBenchOptions;
  readonly signal: AbortSignal;
  readonly check: (title: string, verification: Verification) => void;
}

async function measureScenario(scenario: Scenario, parts: Parts): Promise<readonly Measurement[]> {
  const { database, role, options, signal, check } = parts;
  for (const sql of schemaSql(scenario, role).split(/;\s*\n/)) await runSql(database.connectionString, sql);
  const writer = await Writer.open(database.connectionString, scenario);
  try {
    const writeCpus: (number | null)[] = [];
    for (const rate of scenario.rates) {
      const before = database.cpu();
      const written = await writer.write(rate, Math.max(1, options.seconds / 4), signal);
      writeCpus.push(perChange(before, database.cpu(), written));
    }
    return await Setup.with(parts, async (setup, port) => {
      await setup.open(startOf(scenario, port));
      const measurements: Measurement[] = [];
      for (const [index, rate] of scenario.rates.entries()) {
        const measured = await measureRate(rate, { setup, writer, options, signal });
        check(`${scenario.title}, ${rate}/s`, await setup.tell({ kind: 'verify' }, 'verified'));
        measurements.push({ scenario: scenario.title, rate, ...measured, writeCpu: writeCpus[index] ?? null });
      }
      return measurements;
    });
  } finally {
    await writer.close();
  }
}

function startOf({ identities, tenants }: Scenario, port: number): SubscribersStart {
  return {
    port,
    path: '/api/item',
    query: '',
    streamQuery: '?snapshot=true',
    users: Array.from({ length: identities }, (_, index) => `u${index}@${index % tenants} ${index % tenants}`),
  };
}

function perChange(before: number | null, after: number | null, changes: number): number | null {
  return before === null || after === null ? null : (after - before) / changes;
}

async function measureRate(
  rate: number,
  {
    setup,
    writer,
    options: { seconds },
    signal,
  }: Pick<Parts, 'options' | 'signal'> & { readonly setup: Setup; readonly writer: Writer },
): Promise<Omit<Measurement, 'scenario' | 'rate' | 'writeCpu'>> {
  await writer.write(rate, warmUpSeconds, signal);
  await setup.tell({ kind: 'reset' }, 'reset');
  const [before, cpuBefore, began] = [await setup.report(), setup.cpu(), performance.now()];
  const written = await writer.write(rate, seconds, signal);
  const elapsed = (performance.now() - began) / 1000;
  const [after, cpu] = [await setup.report(), setup.cpu()];
  const { events, p50, p99, max } = await setup.tell({ kind: 'figures' }, 'figures');
  const engineCpu = perChange(cpuBefore.engine, cpu.engine, written);
  const gatewayCpu = perChange(cpuBefore.gateway, cpu.gateway, written);
  return {
    written: written / elapsed,
    delivered: events / elapsed,
    p50,
    p99,
    max,
    cutsPerSecond: (after.cuts - before.cuts) / elapsed,
    lookupsPerSecond: (after.lookups - before.lookups) / elapsed,
    engineCpu,
    readerCpu: engineCpu === null || gatewayCpu === null ? null : gatewayCpu - engineCpu,
    databaseCpu: perChange(cpuBefore.database, cpu.database, written),
    rss: after.rss,
  };
}

async function measureIdle(
  identities: number,
  { database, role, options: { idle: subscribers, seconds }, signal, check }: Parts,
): Promise<Idle> {
  const scenario: Scenario = {
    part: 'idle',
    title: 'idle',
    identities: subscribers,
    tenants: 1,
    rows: 1,
    isRouted: false,
    rowsPerCommit: 1,
    rates: [],
  };
  for (const sql of schemaSql(scenario, role).split(/;\s*\n/)) await runSql(database.connectionString, sql);
  return Setup.with({ database, role }, async (setup, port) => {
    const rssBefore = (await setup.report()).rss;
    const users = Array.from({ length: subscribers }, (_, index) => `u${index % identities}@0 0`);
    const openMs = await setup.open({ ...startOf(scenario, port), users });
    await sleep(2_000, undefined, { signal });
    const [cpuBefore, began] = [setup.cpu(), performance.now()];
    // Each of them gets a heartbeat, or a part of them with few seconds.
    await sleep(seconds * 2_000, undefined, { signal });
    const [{ rss }, cpu] = [await setup.report(), setup.cpu()];
    const share = perChange(cpuBefore.gateway, cpu.gateway, (performance.now() - began) * 1000);
    await setup.tell({ kind: 'reset' }, 'reset');
    await runSql(database.connectionString, 'update item set number = number + 1');
    const changeMs = await untilDelivered(setup, subscribers, signal);
    check(`${subscribers} idle subscribers`, await setup.tell({ kind: 'verify' }, 'verified'));
    return { subscribers, identities, openMs, rssBefore, rss, cpuShare: share, changeMs };
  });
}

/** Returns the milliseconds from the commit to the last delivery. */
async function untilDelivered(setup: Setup, events: number, signal: AbortSignal): Promise<number> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const figures = await setup.tell({ kind: 'figures' }, 'figures');
    if (figures.events >= events || performance.now() > deadline) return figures.max;
    await sleep(50, undefined, { signal });
  }
}

function describe(measurements: readonly Measurement[], idle: readonly Idle[], compared: number): string {
  const rates = formatTable(
    [
      'changes of rows',
      'changes/s',
      'events/s',
      'p50 ms',
      'p99 ms',
      'max ms',
      'cuts/s',
      'lookups/s',
      'engine µs',
      'reader µs',
      'database µs',
      'of it writing µs',
      'RSS MiB',
    ],
    measurements.map((measured) => [
      `${measured.scenario}, ${formatNumber(measured.rate)}/s`,
      ...[
        measured.written,
        measured.delivered,
        measured.p50,
        measured.p99,
        measured.max,
        measured.cutsPerSecond,
        measured.lookupsPerSecond,
        measured.engineCpu,
        measured.readerCpu,
        measured.databaseCpu,
        measured.writeCpu,
      ].map(formatNumber),
      formatMebibytes(measured.rss),
    ]),
  );
  const memory = formatTable(
    ['idle subscribers', 'opened in ms', 'RSS before MiB', 'RSS MiB', 'CPU, % of one processor', 'a change to all, ms'],
    idle.map(({ subscribers, identities, openMs, rssBefore, rss, cpuShare, changeMs }) => [
      `${subscribers.toLocaleString('en-US')} of ${identities.toLocaleString('en-US')} identities`,
      formatNumber(openMs),
      formatMebibytes(rssBefore),
      formatMebibytes(rss),
      formatNumber(cpuShare === null ? null : cpuShare * 100),
      formatNumber(changeMs),
    ]),
  );
  return `Latencies are from the commit to the receipt in the process of the subscribers. CPU is that of each change: of the main thread of the gateway (engine), of its other threads (reader, garbage collection), of the database with its writers. After each rate, the rows of each subscriber were compared with those of its own GET, ${compared.toLocaleString('en-US')} comparisons in total.

${rates}

${memory}`;
}
