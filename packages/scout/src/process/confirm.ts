import { onTerminal } from '@pgway/core/terminal';
import type { ProcessContext } from './process-context.ts';

/** Asks a question whose default is no. */
export async function confirm(process: ProcessContext, question: string): Promise<boolean> {
  const answer = await onTerminal(process, (ask) => ask(`${question} [y/N]: `, false));
  return /^y(es)?$/i.test(answer.trim());
}
