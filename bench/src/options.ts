import { parseArgs } from 'node:util';

import { contenderNames } from './contenders/contender.ts';
import { works } from './work.ts';

export interface BenchOptions {
  /** Seconds of load per run. */
  readonly seconds: number;
  /** Seconds of load before the first round of each work; 0 for none. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  /** HTTP connections of the load generator. The report has a section for each number. */
  readonly connections: readonly number[];
  /** Database connections of every contender, and of pgbench. */
  readonly pool: number;
  /** The URL of a server, where the bench creates a database. Null: an embedded server. */
  readonly database: string | null;
  readonly streamRows: number;
  /** Seconds that the slow reader pauses. */
  readonly streamPauseSeconds: number;
  has(name: string): boolean;
}

const streamName = 'stream';
const pgbenchName = 'pgbench';

export const benchUsage: string = `npm run bench -- [options]
npm run bench -- uploads [options]     measures uploads; see uploads --help
npm run bench -- workers [options]     compares numbers of worker processes; see workers --help

  --quick             two rounds of one second, no warm-up, a shorter stream: a first impression
  --full              also 1, 32 and 100 connections
  --only=a,b          only these; works: ${works.map((work) => work.name).join(', ')}, ${streamName}
                      contenders: ${contenderNames.join(', ')}, ${pgbenchName}
  --seconds=N         seconds of load per run (2)
  --rounds=N          rounds; every contender runs once in each (5)
  --connections=N     connections of the load generator (50)
  --pool=N            database connections of every contender (10)
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
`;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError that names the invalid option */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const values = parse(args);
  const quick = values.quick === true;
  const connections = count('connections', values.connections, 50);
  return {
    seconds: count('seconds', values.seconds, quick ? 1 : 2),
    warmUpSeconds: quick ? 0 : 1,
    rounds: count('rounds', values.rounds, quick ? 2 : 5),
    connections: values.full === true ? [...new Set([connections, 1, 32, 100])] : [connections],
    pool: count('pool', values.pool, 10),
    database: values.database ?? null,
    streamRows: 1_000_000,
    streamPauseSeconds: quick ? 2 : 4,
    has: selectByName((values.only ?? []).flatMap((list) => list.split(','))),
  };
}

interface ParsedArguments {
  readonly quick?: boolean;
  readonly full?: boolean;
  readonly only?: string[];
  readonly seconds?: string;
  readonly rounds?: string;
  readonly connections?: string;
  readonly pool?: string;
  readonly database?: string;
}

function parse(args: readonly string[]): ParsedArguments {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    return parseArgs({
      args: [...args],
      options: {
        quick: flag,
        full: flag,
        only: { type: 'string', multiple: true },
        seconds: text,
        rounds: text,
        connections: text,
        pool: text,
        database: text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, text: string | undefined, defaultValue: number): number {
  if (text === undefined) return defaultValue;
  if (!/^[1-9][0-9]{0,3}$/.test(text)) throw new UsageError(`--${name} takes a number from 1 to 9999, not '${text}'`);
  return Number(text);
}

/** Returns a predicate. A selection without a work selects all works, one without a contender all contenders. */
function selectByName(only: readonly string[]): (name: string) => boolean {
  const groups = [
    [...works.map((work) => work.name), streamName],
    [...contenderNames, pgbenchName],
  ];
  const unknown = only.find((name) => !groups.some((group) => group.includes(name)));
  if (unknown !== undefined) throw new UsageError(`--only: '${unknown}' is unknown; use ${groups.flat().join(', ')}`);
  const selected = new Set(
    groups.flatMap((group) => {
      const named = group.filter((name) => only.includes(name));
      return named.length > 0 ? named : group;
    }),
  );
  return (name) => selected.has(name);
}
