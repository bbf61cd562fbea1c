import type { ParsedFile } from './parse-file.ts';
import { explainedWords, mainWord } from './statement-rules.ts';

/** Returns why requests of the file cannot have an idempotency key, and what to do; null when they can. */
export function findIdempotencyFault({ statements }: ParsedFile): string | null {
  const words = statements.map(({ source }) => mainWord(source));
  const word = words.find((one) => !explainedWords.has(one));
  return word === undefined
    ? null
    : `PostgreSQL cannot tell whether a caller may still run ${word} when a request is repeated; remove the statement or the line`;
}
