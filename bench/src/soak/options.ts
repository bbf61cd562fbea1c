import { parseArgs } from 'node:util';

import { UsageError } from '../options.ts';

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
`;

/** @throws UsageError that names the culprit */
export function readSoakOptions(args: readonly string[]): SoakOptions {
  const values = parse(args);
  const quick = values.quick === true;
  return {
    requests: count('requests', values.requests, quick ? 20_000 : 1_000_000),
    seconds: count('seconds', values.seconds, quick ? 50 : 3600),
    connections: count('connections', values.connections, 48),
    pool: count('pool', values.pool, 8),
    postgres: values.postgres ?? '18',
    seed: count('seed', values.seed, 1 + Math.floor(Math.random() * 99_999_999)),
    routes: readRoutes(values.only),
  };
}

interface ParsedArguments {
  readonly quick?: boolean;
  readonly requests?: string;
  readonly seconds?: string;
  readonly connections?: string;
  readonly pool?: string;
  readonly postgres?: string;
  readonly seed?: string;
  readonly only?: string;
}

function parse(args: readonly string[]): ParsedArguments {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        requests: text,
        seconds: text,
        connections: text,
        pool: text,
        postgres: text,
        seed: text,
        only: text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, text: string | undefined, defaultValue: number): number {
  if (text === undefined) return defaultValue;
  if (!/^[1-9][0-9]{0,7}$/.test(text)) {
    throw new UsageError(`--${name} takes a number from 1 to 99999999, not '${text}'`);
  }
  return Number(text);
}

function readRoutes(text: string | undefined): readonly DatabaseRoute[] {
  if (text === undefined) return ['direct', 'pgbouncer'];
  if (text !== 'direct' && text !== 'pgbouncer') {
    throw new UsageError(`--only takes direct or pgbouncer, not '${text}'`);
  }
  return [text];
}
