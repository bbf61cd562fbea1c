import { parseArgs } from 'node:util';

import { contenderNames } from './contenders/contender.ts';
import { works } from './work.ts';

export interface Options {
  /** Seconds of load per run. */
  readonly seconds: number;
  /** Before the first round of each work; 0 for none. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  /** HTTP connections of the load generator; one block of the table each. */
  readonly connections: readonly number[];
  /** Database connections of every contender, and of the limit. */
  readonly pool: number;
  /** A server to use instead of the embedded one; the bench makes a database of its own there. */
  readonly database: string | null;
  readonly streamRows: number;
  /** How long the slow reader looks away. */
  readonly streamPauseSeconds: number;
  has(name: string): boolean;
}

const streamName = 'stream';
const limitName = 'pgbench';

export const usage: string = `npm run bench -- [options]

  --quick             two rounds of one second, no warm-up, a shorter stream: a first look, not a result
  --full              also 1, 32 and 100 connections
  --only=a,b          only these; works: ${works.map((work) => work.name).join(', ')}, ${streamName}
                      contenders: ${contenderNames.join(', ')}, ${limitName}
  --seconds=N         seconds of load per run (2)
  --rounds=N          rounds; every contender runs once in each (5)
  --connections=N     connections of the load generator (50)
  --pool=N            database connections of every contender (10)
  --database=URL      postgres://… of a server whose user may create databases, instead of the embedded one
`;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Throws a UsageError that names the culprit. */
export function readOptions(args: readonly string[]): Options {
  const given = parse(args);
  const quick = given.quick === true;
  const connections = count('connections', given.connections, 50);
  return {
    seconds: count('seconds', given.seconds, quick ? 1 : 2),
    warmUpSeconds: quick ? 0 : 1,
    rounds: count('rounds', given.rounds, quick ? 2 : 5),
    connections: given.full === true ? [...new Set([connections, 1, 32, 100])] : [connections],
    pool: count('pool', given.pool, 10),
    database: given.database ?? null,
    streamRows: 1_000_000,
    streamPauseSeconds: quick ? 2 : 4,
    has: chosen((given.only ?? []).flatMap((list) => list.split(','))),
  };
}

interface Given {
  readonly quick?: boolean;
  readonly full?: boolean;
  readonly only?: string[];
  readonly seconds?: string;
  readonly rounds?: string;
  readonly connections?: string;
  readonly pool?: string;
  readonly database?: string;
}

function parse(args: readonly string[]): Given {
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

function count(name: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (!/^[1-9][0-9]{0,3}$/.test(given)) throw new UsageError(`--${name} takes a number from 1 to 9999, not '${given}'`);
  return Number(given);
}

/** A selection that names no work means all works, and one that names no contender means all contenders. */
function chosen(only: readonly string[]): (name: string) => boolean {
  const groups = [
    [...works.map((work) => work.name), streamName],
    [...contenderNames, limitName],
  ];
  const unknown = only.find((name) => !groups.some((group) => group.includes(name)));
  if (unknown !== undefined) throw new UsageError(`--only: '${unknown}' is none of ${groups.flat().join(', ')}`);
  const selected = new Set(
    groups.flatMap((group) => {
      const named = group.filter((name) => only.includes(name));
      return named.length > 0 ? named : group;
    }),
  );
  return (name) => selected.has(name);
}
