import { inject } from 'vitest';
import { partOfRun } from './part.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly caseFactor: number;
  }
}

/**
 * Returns how many random cases a property test runs: `count` in `npm run test:slow`, a third of it with `PGWAY_TEST_PART=2/3`, a tenth of it in
 * `npm test`.
 */
export function cases(count: number): number {
  return Math.ceil((count * inject('caseFactor')) / partOfRun().count);
}
