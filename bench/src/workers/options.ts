import { parseArgs } from 'node:util';

import { UsageError } from '../options.ts';

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

const text = { type: 'string' } as const;

/** @throws UsageError that names the invalid option */
export function readWorkersBenchOptions(args: readonly string[]): WorkersBenchOptions {
  const values = parse(args);
  const isQuick = values.quick === true;
  return {
    seconds: count('seconds', values.seconds, isQuick ? 1 : 3),
    rounds: count('rounds', values.rounds, isQuick ? 2 : 5),
    connections: count('connections', values.connections, 100),
    pool: count('pool', values.pool, 64),
    workers: (values.workers ?? '1,2').split(',').map((number) => count('workers', number, 1)),
    database: values.database ?? null,
  };
}

function parse(args: readonly string[]) {
  const options = {
    quick: { type: 'boolean' },
    workers: text,
    seconds: text,
    rounds: text,
    connections: text,
    pool: text,
    database: text,
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, value: string | undefined, byDefault: number): number {
  const number = value === undefined ? byDefault : Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new UsageError(`--${name}: must be a whole number above 0, not ${JSON.stringify(value)}`);
}
