/** Compares gateways with 10, 1,000 and 10,000 endpoints. */
import type { BenchContext } from '../bench-suite.ts';
import { type BenchDatabase, openDatabase, runSql } from '../database.ts';
import { chooseLoadTool } from '../load/choose-load-tool.ts';
import type { LoadTool } from '../load/load-tool.ts';
import type { BarChart } from '../report/bar-chart.ts';
import type { Section } from '../report/section.ts';
import { median } from '../report/summary.ts';
import { formatMebibytes, formatNumber, formatRatio, formatTable } from '../report/table.ts';
import { type BenchRequest, getRequest } from '../works/work.ts';
import type { GrowthResponses } from './gateway.ts';
import { ask, closeInstance, type Instance, startInstance } from './instance.ts';
import { formatSlope } from './slope.ts';
import type { GrowthBenchOptions } from './options.ts';

/** A gateway with so many endpoints. */
interface EndpointInstance extends Instance {
  readonly endpoints: number;
}

interface Result {
  readonly endpoints: number;
  readonly start: GrowthResponses['start'];
  /** Microseconds of CPU per request, one for each round. */
  readonly cpu: readonly number[];
  /** The longest turn of the event loop under load in milliseconds, without and with a refresh. */
  readonly idle: readonly number[];
  readonly refreshing: readonly number[];
  readonly refreshMs: readonly number[];
}

interface Bench {
  readonly tool: LoadTool;
  readonly options: GrowthBenchOptions;
  readonly signal: AbortSignal;
}

/** The same number for all sizes: each prepared statement costs memory and time of the session. */
const calledEndpoints = 10;
const connections = 50;

export const schema = 'growth';

/** Functions with parameters and results of user-defined types. */
export function growthSql(endpoints: number): string {
  return `create schema ${schema};
  create type ${schema}.state as enum ('open', 'paid', 'closed');
  create table ${schema}.orders (id int primary key, state ${schema}.state, note text, amount numeric);
  insert into ${schema}.orders values (1, 'open', 'a note', 12.5);
  do $do$ begin
    for i in 1..${endpoints} loop
      execute format($f$
        create function ${schema}.get_orders_%1$s(_state ${schema}.state default null, _from int default 0, _to int default 100)
        returns setof ${schema}.orders language sql stable as $$
          select * from ${schema}.orders where (_state is null or state = _state) and id between _from and _to $$;
        comment on function ${schema}.get_orders_%1$s is 'HTTP GET'$f$, i);
    end loop;
  end $do$`;
}

/** Returns requests for endpoints from the whole range. */
function requestsOf(endpoints: number): readonly BenchRequest[] {
  return Array.from({ length: calledEndpoints }, (_, index) =>
    getRequest(`/get-orders-${1 + Math.floor((index * endpoints) / calledEndpoints)}?from=1&to=1`),
  );
}

export async function benchGrowth(options: GrowthBenchOptions, { signal, log }: BenchContext): Promise<Section> {
  const bench = { tool: chooseLoadTool(), options, signal };
  const databases: BenchDatabase[] = [];
  const instances: EndpointInstance[] = [];
  try {
    for (const endpoints of options.sizes) {
      log(`growth: ${endpoints} endpoints …`);
      const server = databases[0]?.connectionString ?? options.database;
      const database = await openDatabase(server, 1000);
      databases.push(database);
      await runSql(database.connectionString, growthSql(endpoints));
      instances.push({
        endpoints,
        ...(await startInstance({ connectionString: database.connectionString, includeSchemas: [schema] })),
      });
    }
    const results = await measure(instances, bench, log);
    const postgres = databases[0]!.version;
    return {
      title: 'Growth: endpoints',
      text: writeReport(results, postgres, bench),
      charts: [drawResults(results)],
      data: { options, postgres, loadTool: bench.tool.name, results },
      faults: [],
    };
  } finally {
    for (const instance of instances) await closeInstance(instance);
    // The first one stops the server of all.
    for (const database of databases.toReversed()) await database.close();
  }
}

async function measure(
  instances: readonly EndpointInstance[],
  bench: Bench,
  log: (line: string) => void,
): Promise<readonly Result[]> {
  const rounds: (readonly Round[])[] = [];
  for (const instance of instances) await load(instance, bench, 1);
  for (let round = 0; round < bench.options.rounds; round++) {
    log(`growth: round ${round + 1} …`);
    const order = round % 2 === 0 ? instances : instances.toReversed();
    const measured = new Map<EndpointInstance, Round>();
    for (const instance of order) measured.set(instance, await measureRound(instance, bench));
    rounds.push(instances.map((instance) => measured.get(instance)!));
  }
  return instances.map(({ endpoints, start }, index) => {
    const own = rounds.map((round) => round[index]!);
    const pick = (name: keyof Round): readonly number[] => own.map((round) => round[name]);
    return {
      endpoints,
      start,
      cpu: pick('cpu'),
      idle: pick('idle'),
      refreshing: pick('refreshing'),
      refreshMs: pick('refreshMs'),
    };
  });
}

interface Round {
  readonly cpu: number;
  readonly idle: number;
  readonly refreshing: number;
  readonly refreshMs: number;
}

async function measureRound(instance: EndpointInstance, bench: Bench): Promise<Round> {
  const { child } = instance;
  const { seconds } = bench.options;
  const before = await ask(child, { kind: 'usage' });
  const requests = await load(instance, bench, seconds);
  const after = await ask(child, { kind: 'usage' });
  // The load lasts longer than the measurement, and begins before it.
  const pause = async (refreshes: number): Promise<GrowthResponses['pause']> => {
    const loading = load(instance, bench, seconds + 2);
    const [result] = await Promise.all([
      new Promise((resolve) => setTimeout(resolve, 500)).then(() =>
        ask(child, { kind: 'pause', refreshes, milliseconds: seconds * 1000 }),
      ),
      loading,
    ]);
    return result;
  };
  const idle = await pause(0);
  const refreshing = await pause(1);
  return {
    cpu: (after.cpu - before.cpu) / requests,
    idle: idle.longestMs,
    refreshing: refreshing.longestMs,
    refreshMs: refreshing.refreshMs,
  };
}

/** Returns the number of requests. */
async function load(
  { endpoints, start }: EndpointInstance,
  { tool, signal }: Pick<Bench, 'tool' | 'signal'>,
  seconds: number,
): Promise<number> {
  const base = `http://127.0.0.1:${start.port}/api/${schema}`;
  const result = await tool.run({ base, requests: requestsOf(endpoints), connections, seconds, signal });
  if (result.failures > 0) throw new Error(`${result.failures} requests failed with ${endpoints} endpoints`);
  return result.requests;
}

function writeReport(results: readonly Result[], postgres: string, { tool, options }: Bench): string {
  const base = median(results[0]!.cpu);
  return [
    `PostgreSQL ${postgres}, load by ${tool.name}, ${connections} connections, ${calledEndpoints} of the endpoints are called. ` +
      `Medians of ${options.rounds} interleaved rounds of ${options.seconds} s; of pauses the longest.`,
    formatTable(
      [
        'endpoints',
        'start s',
        'CPU of the start s',
        'RSS MiB',
        'CPU µs/request',
        'ratio',
        'longest pause ms',
        'during a refresh',
        'refresh ms',
      ],
      results.map(({ endpoints, start, cpu, idle, refreshing, refreshMs }) => [
        endpoints.toLocaleString('en-US'),
        formatNumber(start.seconds),
        formatNumber(start.cpu / 1e6),
        formatMebibytes(start.rss),
        formatNumber(median(cpu)),
        formatRatio(median(cpu) / base),
        formatNumber(Math.max(...idle)),
        formatNumber(Math.max(...refreshing)),
        formatNumber(median(refreshMs)),
      ]),
    ),
    formatTable(
      ['slope of', 'log–log'],
      measures.map(([title, value]) => [title, slope(results, value)]),
    ),
  ].join('\n\n');
}

type Measure = (result: Result) => number;

/** The costs that are measured for each number of endpoints. */
const measures: readonly (readonly [title: string, value: Measure])[] = [
  ['CPU per request, µs', ({ cpu }) => median(cpu)],
  ['CPU of the start, s', ({ start }) => start.cpu / 1e6],
  ['memory after the start, MiB', ({ start }) => start.rss / 2 ** 20],
  ['longest pause during a refresh, ms', ({ refreshing }) => Math.max(...refreshing)],
];

function slope(results: readonly Result[], value: Measure): string {
  return formatSlope(results.map((result) => [result.endpoints, value(result)]));
}

function drawResults(results: readonly Result[]): BarChart {
  return {
    name: 'growth-endpoints',
    title: 'Numbers of endpoints',
    unit: 'less is better',
    groups: measures.map(([title, value]) => ({
      title: `${title}; slope ${slope(results, value)}`,
      bars: results.map((result) => ({
        label: `${result.endpoints.toLocaleString('en-US')} endpoints`,
        value: value(result),
        isOwn: true,
      })),
    })),
  };
}
