import type { BenchContext } from './bench-suite.ts';
import type { Section } from './report/section.ts';

/** A benchmark of the command line. */
export interface Benchmark {
  readonly usage: string;
  /** The line of the help. */
  readonly summary: string;
  run(args: readonly string[], context: BenchContext): Promise<readonly Section[]>;
}
