import { Arguments, readCount } from '../arguments.ts';

export interface WorkersBenchOptions {
  readonly seconds: number;
  readonly rounds: number;
  /** HTTP connections of the load generator. */
  readonly connections: number;
  /** Database connections of the server, whatever the number of its workers. */
  readonly pool: number;
  /** The numbers of workers that are compared; the first one is the base. */
  readonly workers: readonly number[];
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
}

export const workersBenchUsage: string = `npm run bench -- workers [options]

  --quick             two rounds of one second: a first impression
  --workers=a,b       numbers of workers; each is compared with the first one (1,2)
  --seconds=N         seconds of load per run (3)
  --rounds=N          rounds; every number of workers runs once in each (5)
  --connections=N     connections of the load generator (100)
  --pool=N            database connections of the server, of all workers together (64)
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
`;

/** @throws UsageError that names the invalid option */
export function readWorkersBenchOptions(args: readonly string[]): WorkersBenchOptions {
  const values = new Arguments(args, ['workers', 'seconds', 'rounds', 'connections', 'pool', 'database']);
  return {
    seconds: values.count('seconds', { byDefault: 3, quick: 1 }),
    rounds: values.count('rounds', { byDefault: 5, quick: 2 }),
    connections: values.count('connections', { byDefault: 100 }),
    pool: values.count('pool', { byDefault: 64 }),
    workers: (values.text('workers') ?? '1,2').split(',').map((number) => readCount('workers', number)),
    database: values.text('database'),
  };
}
