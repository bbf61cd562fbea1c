import { Arguments } from '../arguments.ts';

export interface GrowthBenchOptions {
  readonly isQuick: boolean;
  readonly seconds: number;
  readonly rounds: number;
  /** Numbers of endpoints; costs are compared with those of the first. */
  readonly sizes: readonly number[];
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
}

export const growthBenchUsage: string = `npm run bench -- growth [options]

  --quick             one round of a second, fewer and smaller sizes: a first impression
  --seconds=N         seconds of load per run (3)
  --rounds=N          rounds; every number of endpoints runs once in each (3)
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
`;

/** @throws UsageError that names the invalid option */
export function readGrowthBenchOptions(args: readonly string[]): GrowthBenchOptions {
  const values = new Arguments(args, ['seconds', 'rounds', 'database']);
  return {
    isQuick: values.isQuick,
    seconds: values.count('seconds', { byDefault: 3, quick: 1 }),
    rounds: values.count('rounds', { byDefault: 3, quick: 1 }),
    sizes: values.isQuick ? [10, 1000] : [10, 1000, 10_000],
    database: values.text('database'),
  };
}
