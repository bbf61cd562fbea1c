import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly caseFactor: number;
  }
}

/** Returns how many cases a property test runs: `count` in `npm run test:slow`, a tenth of it in `npm test`. */
export function cases(count: number): number {
  return Math.ceil(count * inject('caseFactor'));
}
