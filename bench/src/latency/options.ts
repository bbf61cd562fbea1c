import { Arguments } from '../arguments.ts';
import { type Peer, readPeers } from '../peer.ts';

export interface LatencyBenchOptions {
  /** Seconds of each measurement; warm-up comes in addition. */
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  /** Database connections of every server, and of pgbench. */
  readonly pool: number;
  /** The share of the highest throughput at which latencies are measured. */
  readonly share: number;
  /** Whether each server has a processor that nothing else uses. */
  readonly isPinned: boolean;
  readonly peers: readonly Peer[];
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
}

export const latencyBenchUsage: string = `npm run bench -- latency [options]

  --quick             one round of two seconds: a first impression
  --seconds=N         seconds of each measurement (3)
  --rounds=N          rounds; every server is measured once in each (3)
  --connections=N     HTTP connections (50)
  --pool=N            database connections of every server (10)
  --pinned            a processor for the servers alone; the load, pgbench and the database have the others. Linux
  --peer NAME=COMMAND another server; bench/README.md describes what it serves. May be repeated
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
`;

/** @throws UsageError that names the invalid option */
export function readLatencyBenchOptions(args: readonly string[]): LatencyBenchOptions {
  const values = new Arguments(args, ['seconds', 'rounds', 'connections', 'pool', 'peer', 'database'], ['pinned']);
  return {
    seconds: values.count('seconds', { byDefault: 3, quick: 2 }),
    rounds: values.count('rounds', { byDefault: 3, quick: 1 }),
    connections: values.count('connections', { byDefault: 50 }),
    pool: values.count('pool', { byDefault: 10 }),
    share: 0.7,
    isPinned: values.has('pinned'),
    peers: readPeers(values.list('peer')),
    database: values.text('database'),
  };
}
