import { Arguments } from '../arguments.ts';

export interface StreamsBenchOptions {
  readonly streams: number;
  /** Seconds in which the CPU of idle streams is measured: a heartbeat. */
  readonly idleSeconds: number;
  /** Seconds of a thousand messages each. */
  readonly messageSeconds: number;
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
}

export const streamsBenchUsage: string = `npm run bench -- streams [options]

  --quick             500 streams, fewer messages: a first impression
  --streams=N         open event streams; each needs an open file in two processes, see ulimit -n (9999)
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
`;

/** @throws UsageError that names the invalid option */
export function readStreamsBenchOptions(args: readonly string[]): StreamsBenchOptions {
  const values = new Arguments(args, ['streams', 'database']);
  return {
    streams: values.count('streams', { byDefault: 9999, quick: 500 }),
    idleSeconds: values.isQuick ? 2 : 15,
    messageSeconds: values.isQuick ? 3 : 20,
    database: values.text('database'),
  };
}
