import { Arguments, UsageError } from '../arguments.ts';

/** How the gateway reaches its server. */
export type DatabaseRoute = 'direct' | 'pgbouncer';

export interface SoakOptions {
  /** Requests in all, over all routes. */
  readonly requests: number;
  /** The maximum seconds of load, over all routes. The load ends at the first limit that it reaches. */
  readonly seconds: number;
  /** Concurrent clients, each with one request at a time. */
  readonly connections: number;
  /** Database connections of the gateway. */
  readonly pool: number;
  /** Major version of the embedded PostgreSQL. */
  readonly postgres: string;
  /** With the same seed, every client sends the same sequence of requests. */
  readonly seed: number;
  readonly routes: readonly DatabaseRoute[];
  /** Whether the mixed load runs, and not only the audit. */
  readonly hasLoad: boolean;
}

export const soakUsage: string = `npm run soak -- [options]

  --quick             20,000 requests, at most 50 seconds of load: the form that CI runs
  --requests=N        requests in all (1000000)
  --seconds=N         maximum seconds of load (3600)
  --connections=N     concurrent clients (48)
  --pool=N            database connections of the gateway (8)
  --postgres=MAJOR    major version of the embedded PostgreSQL, 13 to 18 (18)
  --seed=N            repeats the requests of an earlier run
  --only=ROUTE        direct or pgbouncer (both, one after the other)
  --audit             only the audit of acknowledged writes

npm run soak -- changes [options]

  --quick             a minute: the form that CI runs
  --seconds=N         seconds of load (900)
  --postgres=MAJOR    major version of the embedded PostgreSQL, 14 to 18 (18)
  --seed=N            repeats the sequence of faults and writes
`;

export interface ChangesSoakOptions {
  readonly seconds: number;
  readonly postgres: string;
  readonly seed: number;
}

/** @throws UsageError that names the invalid option */
export function readChangesSoakOptions(args: readonly string[]): ChangesSoakOptions {
  const values = new Arguments(args, ['seconds', 'postgres', 'seed']);
  return {
    seconds: values.count('seconds', { byDefault: 900, quick: 60, max }),
    postgres: values.text('postgres') ?? '18',
    seed: values.count('seed', { byDefault: randomSeed(), max }),
  };
}

const max = 99_999_999;

function randomSeed(): number {
  return 1 + Math.floor(Math.random() * max);
}

/** @throws UsageError that names the invalid option */
export function readSoakOptions(args: readonly string[]): SoakOptions {
  const names = ['requests', 'seconds', 'connections', 'pool', 'postgres', 'seed', 'only'] as const;
  const values = new Arguments(args, names, ['audit']);
  return {
    requests: values.count('requests', { byDefault: 1_000_000, quick: 20_000, max }),
    seconds: values.count('seconds', { byDefault: 3600, quick: 50, max }),
    connections: values.count('connections', { byDefault: 48 }),
    pool: values.count('pool', { byDefault: 8 }),
    postgres: values.text('postgres') ?? '18',
    seed: values.count('seed', { byDefault: randomSeed(), max }),
    routes: readRoutes(values.text('only')),
    hasLoad: !values.has('audit'),
  };
}

function readRoutes(text: string | null): readonly DatabaseRoute[] {
  if (text === null) return ['direct', 'pgbouncer'];
  if (text !== 'direct' && text !== 'pgbouncer') {
    throw new UsageError(`--only takes direct or pgbouncer, not '${text}'`);
  }
  return [text];
}
