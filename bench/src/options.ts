import { Arguments, UsageError } from './arguments.ts';
import { type Peer, readPeers } from './peer.ts';
import { rivalNames } from './rivals.ts';
import type { Suite } from './suite.ts';

export interface BenchOptions {
  /** Seconds of load per run. */
  readonly seconds: number;
  /** Seconds in which the responses of each competitor are compared, before the first round of each work. */
  readonly checkSeconds: number;
  readonly rounds: number;
  /** HTTP connections of the load generator. The report has a section for each number. */
  readonly connections: readonly number[];
  /** Database connections of every contender, and of pgbench. */
  readonly pool: number;
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
  /** All sessions use generic plans. */
  readonly genericPlans: boolean;
  /** Other servers that compete. */
  readonly peers: readonly Peer[];
  readonly streamRows: number;
  /** Seconds that the slow reader pauses. */
  readonly streamPauseSeconds: number;
  /** Whether the work or competitor is selected. */
  readonly has: (name: string) => boolean;
}

const streamName = 'stream';
const pgbenchName = 'pgbench';

/** Describes the options of a suite. */
export function benchUsage(command: string, suite: Suite): string {
  return `npm run bench -- ${command}${command === '' ? '' : ' '}[options]

  --quick             two rounds of one second, half a second of comparing responses: a first impression
  --full              also 1, 32 and 100 connections
  --only=a,b          only these; works: ${workNames(suite).join(', ')}
                      competitors: ${competitorNames(suite).join(', ')}
  --seconds=N         seconds of load per run (2)
  --rounds=N          rounds; every competitor runs once in each (5)
  --connections=N     connections of the load generator (50)
  --pool=N            database connections of every competitor (10)
  --plans=generic     generic plans for all competitors; each has its default otherwise
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
${suite.isOpen ? '  --peer NAME=COMMAND another server that competes; bench/README.md describes what it serves. May be repeated\n' : ''}`;
}

/** @throws UsageError that names the invalid option */
export function readBenchOptions(args: readonly string[], suite: Suite): BenchOptions {
  const names = ['only', 'seconds', 'rounds', 'connections', 'pool', 'database', 'plans', 'peer'] as const;
  const values = new Arguments(args, names, ['full']);
  const connections = values.count('connections', { byDefault: 50 });
  return {
    seconds: values.count('seconds', { byDefault: 2, quick: 1 }),
    checkSeconds: values.isQuick ? 0.5 : 1,
    rounds: values.count('rounds', { byDefault: 5, quick: 2 }),
    connections: values.has('full') ? [...new Set([connections, 1, 32, 100])] : [connections],
    pool: values.count('pool', { byDefault: 10 }),
    database: values.text('database'),
    genericPlans: readPlans(values.text('plans')),
    peers: suite.isOpen ? readPeers(values.list('peer')) : refusePeers(values.list('peer')),
    streamRows: 1_000_000,
    streamPauseSeconds: values.isQuick ? 2 : 4,
    has: selectByName(values.list('only'), suite),
  };
}

function refusePeers(texts: readonly string[]): readonly Peer[] {
  if (texts.length === 0) return [];
  throw new UsageError('--peer: this bench has no other servers');
}

function readPlans(plans: string | null): boolean {
  if (plans === null || plans === 'generic') return plans === 'generic';
  throw new UsageError(`--plans takes 'generic', not '${plans}'`);
}

/** Returns a predicate. A selection without a work selects all works, one without a competitor all competitors. */
function selectByName(lists: readonly string[], suite: Suite): (name: string) => boolean {
  const only = lists.flatMap((list) => list.split(','));
  const groups = [workNames(suite), competitorNames(suite)];
  const unknown = only.find((name) => !groups.some((group) => group.includes(name)));
  if (unknown !== undefined) throw new UsageError(`--only: '${unknown}' is unknown; use ${groups.flat().join(', ')}`);
  const selected = new Set(
    groups.flatMap((group) => {
      const named = group.filter((name) => only.includes(name));
      return named.length > 0 ? named : group;
    }),
  );
  return (name) => selected.has(name);
}

function workNames({ works, hasStream }: Suite): readonly string[] {
  return [...works.map((work) => work.name), ...(hasStream ? [streamName] : [])];
}

function competitorNames({ contenders, isOpen, hasRivals }: Suite): readonly string[] {
  return [...contenders, ...(hasRivals === true ? rivalNames : []), ...(isOpen ? [pgbenchName] : [])];
}
