import { Arguments, UsageError } from '../arguments.ts';
import { uploadWorkNames, type UploadSizes } from './works.ts';

export interface UploadBenchOptions extends Omit<UploadSizes, 'workbook'> {
  readonly rounds: number;
  /** Rounds in which other calls are measured; 0: none. */
  readonly otherRounds: number;
  /** Calls per second during an upload. */
  readonly rate: number;
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
  /** The folder of the files. Null: a new one in the system's temporary directory. */
  readonly folder: string | null;
  /** Where the gateway's processes write CPU profiles; null: none. */
  readonly profileFolder: string | null;
  has(work: string): boolean;
}

export const uploadBenchUsage: string = `npm run bench -- uploads [options]

  --quick             two rounds of an eighth of the size: a first impression
  --only=a,b          only these: ${uploadWorkNames.join(', ')}
  --rounds=N          rounds; every upload and its comparison run once in each (5)
  --other-rounds=N    rounds that measure other calls during uploads; 0 for none (3)
  --rate=N            other calls per second (200)
  --folder=PATH       where files are written (the system's temporary directory)
  --profile=PATH      write CPU profiles of the gateway (node --cpu-prof) to this folder
  --database=URL      postgres://… of a server whose superuser may create databases, instead of the embedded one
`;

/** @throws UsageError that names the invalid option */
export function readUploadBenchOptions(args: readonly string[]): UploadBenchOptions {
  const names = ['only', 'rounds', 'other-rounds', 'rate', 'folder', 'profile', 'database'] as const;
  const values = new Arguments(args, names);
  const scale = values.isQuick ? 8 : 1;
  const only = values.list('only').flatMap((list) => list.split(','));
  const unknown = only.find((name) => !(uploadWorkNames as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`--only: '${unknown}' is unknown; use ${uploadWorkNames.join(', ')}`);
  return {
    mebibytes: 1024 / scale,
    csvRows: 200_000 / scale,
    excelRows: 50_000 / scale,
    rounds: values.count('rounds', { byDefault: 5, quick: 2 }),
    otherRounds: values.count('other-rounds', { byDefault: 3, quick: 1, min: 0 }),
    rate: values.count('rate', { byDefault: 200 }),
    database: values.text('database'),
    folder: values.text('folder'),
    profileFolder: values.text('profile'),
    has: (work) => only.length === 0 || only.includes(work),
  };
}
