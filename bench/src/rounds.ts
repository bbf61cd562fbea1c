import { setTimeout as pause } from 'node:timers/promises';

import type { AnswerCount } from './check-answers.ts';
import type { Competitor, Figures } from './competitor.ts';
import type { BenchOptions } from './options.ts';
import type { Work } from './works/work.ts';

/** All runs of one competitor at one work and one number of connections, in the order of the rounds. */
export interface Series {
  readonly work: string;
  readonly connections: number;
  readonly competitor: string;
  /** Null: the competitor sends no responses. */
  readonly answers: AnswerCount | null;
  readonly runs: readonly Figures[];
}

export interface WorkRun {
  readonly work: Work;
  readonly connections: number;
}

// After a run the load generator disconnects in the middle of requests. The pause lets the server handle that.
const pauseMs = 150;
// The first second of a work is one of compilers and of trials of plans. It is a whole number, as wrk and pgbench take no other.
const warmUpSeconds = 1;

/**
 * Checks the responses of every competitor under load, and warms it up. Then runs every competitor once per round. The order rotates, so
 * that a slow minute affects all of them.
 */
export async function runRounds(
  { work, connections }: WorkRun,
  competitors: readonly Competitor[],
  options: Pick<BenchOptions, 'rounds' | 'seconds' | 'checkSeconds'>,
  signal: AbortSignal,
): Promise<readonly Series[]> {
  const answers = new Map<Competitor, AnswerCount | null>();
  for (const competitor of competitors) {
    signal.throwIfAborted();
    answers.set(competitor, await competitor.check(work, { connections, seconds: options.checkSeconds, signal }));
    await competitor.run(work, { connections, seconds: warmUpSeconds, signal });
  }
  const runs = new Map<Competitor, Figures[]>(competitors.map((competitor) => [competitor, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const competitor of rotate(competitors, round)) {
      signal.throwIfAborted();
      await pause(pauseMs);
      const figures = await competitor.run(work, { connections, seconds: options.seconds, signal });
      runs.get(competitor)?.push(figures);
    }
  }
  return [...runs].map(([competitor, figures]) => ({
    work: work.name,
    connections,
    competitor: competitor.title,
    answers: answers.get(competitor) ?? null,
    runs: figures,
  }));
}

function rotate<T>(list: readonly T[], by: number): readonly T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}
