/** What a generator makes: data, which one writer writes. */
export interface GeneratedFile {
  /** As the options name it; relative to the working directory of whoever writes it. */
  readonly path: string;
  readonly content: string;
  /** The lines that tell the time of generation, from 0: a file that differs in nothing else is not written again. */
  readonly timestampLines: readonly number[];
}

/** Nothing can be generated as it is asked for; the message names the culprit and says what to do. */
export class GeneratorError extends Error {
  override readonly name = 'GeneratorError';
}

/** How much stands above each function or request. */
export const commentHeaders = ['none', 'simple', 'full'] as const;
export type CommentHeader = (typeof commentHeaders)[number];
