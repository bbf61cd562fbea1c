/** Runs all benchmarks with durations that fit into one report. */
import { loadavg } from 'node:os';
import { join } from 'node:path';

import { Arguments } from './arguments.ts';
import type { BenchContext } from './bench-suite.ts';
import type { Benchmark } from './benchmark.ts';
import { canDivideProcessors } from './latency/processors.ts';
import { type PartResult, PartResults } from './part-results.ts';
import { readPeers } from './peer.ts';
import { readRevision } from './report/conditions.ts';
import type { Section } from './report/section.ts';
import { resultsFolder } from './results-folder.ts';

interface Part {
  /** The name of the benchmark. */
  readonly name: string;
  readonly args: readonly string[];
  /** The arguments for a first impression. */
  readonly quick: readonly string[];
  /** The expected duration with `args`, on an idle machine with two processors. */
  readonly seconds: number;
}

const shortSuite: Pick<Part, 'args' | 'quick'> = {
  args: ['--rounds=3', '--seconds=1'],
  quick: ['--quick', '--rounds=1'],
};

const plan: readonly Part[] = [
  {
    name: '',
    args: ['--rounds=3', '--seconds=1', '--only=pgway,server,server-one,fastify,fastify-json,pgbench'],
    quick: ['--quick', '--rounds=1', '--only=pgway,server,fastify,fastify-json,scalar,rows-10,rows-100'],
    seconds: 350,
  },
  {
    name: 'latency',
    args: ['--rounds=2', '--seconds=2', ...(canDivideProcessors() ? ['--pinned'] : [])],
    quick: ['--quick', '--seconds=1'],
    seconds: 200,
  },
  { name: 'cache', ...shortSuite, seconds: 30 },
  { name: 'tables', ...shortSuite, seconds: 55 },
  { name: 'related', ...shortSuite, seconds: 55 },
  { name: 'batch', ...shortSuite, seconds: 75 },
  { name: 'keys', ...shortSuite, seconds: 25 },
  { name: 'mcp', ...shortSuite, seconds: 30 },
  { name: 'telemetry', ...shortSuite, seconds: 60 },
  { name: 'workers', args: ['--rounds=3', '--seconds=2'], quick: ['--quick', '--rounds=1'], seconds: 60 },
  { name: 'growth', args: ['--rounds=2', '--seconds=2'], quick: ['--quick'], seconds: 240 },
  {
    name: 'uploads',
    args: ['--quick', '--rounds=1'],
    quick: ['--quick', '--rounds=1', '--other-rounds=0'],
    seconds: 80,
  },
  { name: 'streams', args: [], quick: ['--quick'], seconds: 90 },
  { name: 'changes', args: ['--seconds=5'], quick: ['--quick'], seconds: 180 },
  {
    name: 'rivals',
    args: ['--rounds=3', '--seconds=1'],
    quick: ['--quick', '--rounds=1', '--only=pgway,fastify,fastify-json,bun,rust,scalar,rows-10'],
    seconds: 650,
  },
];
const openBenchmarks = ['', 'latency'];

export const allBenchUsage: string = `npm run bench -- all [options]

  --quick             a first impression, some minutes
  --resume            continue an interrupted run: benchmarks that have a result of the same options do not run again
  --publish           also write the results and their charts into bench/README.md, bench/charts and docs/guide/scaling.md
  --peer NAME=COMMAND another server; bench/README.md describes what it serves. May be repeated
  --database=URL      postgres://… of a server whose superuser may create databases, instead of embedded ones
`;

/**
 * Runs the benchmarks one after the other, and stores the result of each. A benchmark that fails is a fault of its section; the others run.
 *
 * @throws UsageError that names the invalid option
 */
export async function benchAll(
  args: readonly string[],
  context: BenchContext,
  benchmarks: ReadonlyMap<string, Benchmark>,
  folder: string = join(resultsFolder, 'parts'),
): Promise<readonly Section[]> {
  const values = new Arguments(args, ['peer', 'database'], ['publish', 'resume']);
  const [peers, database] = [values.list('peer'), values.text('database')];
  // Before the first benchmark, not at the second.
  readPeers(peers);
  const results = new PartResults(folder);
  if (!values.has('resume')) await results.clear();
  const total = plan.reduce((sum, part) => sum + part.seconds, 0);
  if (!values.isQuick) context.log(`${plan.length} benchmarks, about ${Math.ceil(total / 60)} minutes in total`);
  const revision = readRevision();
  const sections: Section[] = [];
  for (const [index, part] of plan.entries()) {
    const title = `[${index + 1}/${plan.length}] ${part.name || 'functions'}`;
    const own = [
      ...(values.isQuick ? part.quick : part.args),
      ...(database === null ? [] : [`--database=${database}`]),
      ...(openBenchmarks.includes(part.name) ? peers.map((peer) => `--peer=${peer}`) : []),
    ];
    const run = { title, expectedSeconds: values.isQuick ? null : part.seconds, revision, context, results };
    sections.push(...(await runPart(benchmarks.get(part.name)!, { name: part.name || 'functions', args: own }, run)));
  }
  return sections;
}

interface PartRun {
  readonly title: string;
  readonly expectedSeconds: number | null;
  readonly revision: string | null;
  readonly context: BenchContext;
  readonly results: PartResults;
}

async function runPart(
  benchmark: Benchmark,
  { name, args }: { readonly name: string; readonly args: readonly string[] },
  { title, expectedSeconds, revision, context, results }: PartRun,
): Promise<readonly Section[]> {
  const { signal, log } = context;
  const stored = await results.load(name, args);
  if (stored !== null) {
    log(`${title}: has a result of ${stored.conditions.date}`);
    return describeParts(stored);
  }
  log(expectedSeconds === null ? `${title} …` : `${title}: about ${expectedSeconds} s …`);
  const conditions = { date: new Date().toISOString(), loadAverage: loadavg()[0] ?? 0, revision };
  const start = performance.now();
  try {
    const result = {
      args,
      conditions,
      sections: await benchmark.run(args, { signal, log: (line) => log(`  ${line}`) }),
    };
    await results.save(name, result);
    log(`${title}: done in ${((performance.now() - start) / 1000).toFixed(0)} s`);
    return describeParts(result);
  } catch (error) {
    if (signal.aborted) {
      log(`${title}: interrupted; --resume with the same options continues here`);
      throw error;
    }
    log(`${title}: failed: ${String(error)}`);
    return [{ title: name, text: 'Not measured.', charts: [], data: {}, faults: [`${name}: ${String(error)}`] }];
  }
}

/** Parts of a continued run have different times, and possibly different revisions. */
function describeParts({ conditions, sections }: PartResult): readonly Section[] {
  const { date, loadAverage, revision } = conditions;
  const time = `${date.slice(0, 10)} ${date.slice(11, 16)} UTC`;
  const source = revision === null ? '' : `, revision ${revision}`;
  const line = `Started at ${time}, load average ${loadAverage.toFixed(1)} before${source}.`;
  return sections.map((section) => ({ ...section, text: `${line}\n\n${section.text}` }));
}
