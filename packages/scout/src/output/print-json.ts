import { escapeControlCharacters } from '@pgway/core/terminal';
import type { ProcessContext } from '../process/process-context.ts';

/** Prints JSON. Characters that terminals interpret are JSON escapes. */
export function printJson({ stdout }: ProcessContext, value: unknown): void {
  stdout.write(`${JSON.stringify(value, undefined, 2).split('\n').map(escapeControlCharacters).join('\n')}\n`);
}
