import { oneOf, type Validator } from '@pgway/core/internal';

/** A file that a generator returns. Generators write nothing; `writeFiles` does. */
export interface GeneratedFile {
  /** The path of the options, absolute or relative to the folder of `writeFiles`. */
  readonly path: string;
  readonly content: string;
  /** Lines with the time of generation, from 0. They are not compared with the existing file. */
  readonly timestampLines: readonly number[];
}

/** Invalid options, endpoints that no file can describe, or a file that cannot be written. */
export class GeneratorError extends Error {
  override readonly name = 'GeneratorError';
}

/** The comment of a function or request: none, the signature, or the definition of the routine. */
export type CommentHeader = 'none' | 'simple' | 'full';

export const commentHeader: Validator<CommentHeader> = oneOf('none', 'simple', 'full');
