import { Arguments, UsageError } from '../arguments.ts';

/** Ten identities; many with a tenant each; many that share ten tenants; subscribers of a table without changes. */
const parts = ['ten', 'many', 'shared', 'idle'] as const;
export type ChangesBenchPart = (typeof parts)[number];

export interface ChangesBenchOptions {
  readonly parts: readonly ChangesBenchPart[];
  /** Seconds of each rate. */
  readonly seconds: number;
  /** Changes per second, one after the other, with ten identities. */
  readonly rates: readonly number[];
  /** Changes per second with many identities. */
  readonly manyRate: number;
  readonly identities: number;
  /** Subscribers of a table without writes. */
  readonly idle: number;
  /** The URL of a server with `wal_level = logical`, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
}

export const changesBenchUsage: string = `npm run bench -- changes [options]

  --quick             one rate, few subscribers, a second of each: a first impression
  --seconds=N         seconds of each rate (8)
  --identities=N      many identities, with and without routing (500)
  --idle=N            subscribers of a table without changes; each needs an open file in two processes, see ulimit -n (9999)
  --only=PART         ten, many, shared or idle; may be repeated (all)
  --database=URL      postgres://… of a server with wal_level = logical whose superuser may create databases, instead of the
                      embedded one
`;

/** @throws UsageError that names the invalid option */
export function readChangesBenchOptions(args: readonly string[]): ChangesBenchOptions {
  const values = new Arguments(args, ['seconds', 'identities', 'idle', 'only', 'database']);
  const only = values.list('only');
  const unknown = only.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined) throw new UsageError(`--only takes ${parts.join(', ')}, not '${unknown}'`);
  return {
    parts: only.length === 0 ? parts : parts.filter((part) => only.includes(part)),
    seconds: values.count('seconds', { byDefault: 8, quick: 1 }),
    rates: values.isQuick ? [500] : [1_000, 3_000, 5_000, 10_000, 15_000],
    manyRate: values.isQuick ? 200 : 3_000,
    identities: values.count('identities', { byDefault: 500, quick: 60 }),
    idle: values.count('idle', { byDefault: 9_999, quick: 200 }),
    database: values.text('database'),
  };
}
