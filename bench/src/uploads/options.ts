import { parseArgs } from 'node:util';

import { UsageError } from '../options.ts';
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
  const values = parse(args);
  const scale = values.quick === true ? 8 : 1;
  const only = (values.only ?? []).flatMap((list) => list.split(','));
  const unknown = only.find((name) => !(uploadWorkNames as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`--only: '${unknown}' is unknown; use ${uploadWorkNames.join(', ')}`);
  return {
    mebibytes: 1024 / scale,
    csvRows: 200_000 / scale,
    excelRows: 50_000 / scale,
    rounds: count('rounds', values.rounds, scale === 1 ? 5 : 2),
    otherRounds: count('other-rounds', values['other-rounds'], scale === 1 ? 3 : 1),
    rate: count('rate', values.rate, 200),
    database: values.database ?? null,
    folder: values.folder ?? null,
    profileFolder: values.profile ?? null,
    has: (work) => only.length === 0 || only.includes(work),
  };
}

interface ParsedArguments {
  readonly quick?: boolean;
  readonly only?: string[];
  readonly rounds?: string;
  readonly 'other-rounds'?: string;
  readonly rate?: string;
  readonly folder?: string;
  readonly profile?: string;
  readonly database?: string;
}

function parse(args: readonly string[]): ParsedArguments {
  try {
    const text = { type: 'string' } as const;
    const options = {
      quick: { type: 'boolean' },
      only: { type: 'string', multiple: true },
      rounds: text,
      'other-rounds': text,
      rate: text,
      folder: text,
      profile: text,
      database: text,
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, text: string | undefined, defaultValue: number): number {
  if (text === undefined) return defaultValue;
  if (!/^[0-9]{1,4}$/.test(text)) throw new UsageError(`--${name} takes a number from 0 to 9999, not '${text}'`);
  return Number(text);
}
