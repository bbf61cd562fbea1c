import type { EndpointBuilder } from '../endpoint-builder.ts';

/** How a word came to be written: `authorize admin`, `authorize = admin`, `Content-Type: x`. */
export type AnnotationForm = 'line' | 'assignment' | 'header';

/** One use of a word in a comment. */
export interface ParsedAnnotation {
  readonly form: AnnotationForm;
  /** The keyword, key or header name as the author wrote it. */
  readonly name: string;
  /** Everything behind it, trimmed of space and leading commas. */
  readonly text: string;
  /** Everything behind it as it stands, trimmed of space alone: a comma may be the argument. */
  readonly rest: string;
  /** The text, split on spaces and commas. */
  readonly words: readonly string[];
  /** The line of the comment, from 1. */
  readonly line: number;
}

/** Why a word did not, or not wholly, do what its line says. */
export interface AnnotationError {
  readonly code: string;
  /** Names the culprit and says what to do. */
  readonly message: string;
  /** Absent: an error when the word guards access, else a warning. */
  readonly severity?: 'error' | 'warning';
  /** Arguments that the word has no use for. One that is itself a word that guards access makes this an error. */
  readonly leftover?: readonly string[];
}

/** A word of the annotation language. Its file holds all that is known of it; documents are made from the same object. */
export interface Annotation {
  /** Lower case, `_` between parts; the first is the name, the others are synonyms. */
  readonly names: readonly string[];
  /** Ways to write it, for readers: `authorize [role …]`. */
  readonly syntax: readonly string[];
  /** What it does, in sentences. */
  readonly documentation: string;
  /**
   * True when it guards access, identity or data: a near-miss of it, or arguments that it does not understand, stop the
   * endpoint instead of publishing it without the guard.
   */
  readonly guards: boolean;
  /** False for a word that is known, but that this version does not do yet. */
  readonly supported: boolean;
  /** True when it only means something as `key = value`; a line that begins with it is prose. */
  readonly assignmentOnly?: boolean;
  /** Whether the arguments make it this word at all; otherwise the line is prose. Absent: always. */
  readonly fits?: (words: readonly string[]) => boolean;
  /** The line that these arguments probably mean, for messages; null or absent: the syntax says enough. */
  readonly likely?: (words: readonly string[]) => string | null;
  /** True when its own syntax reads like a sentence, so that nobody has to be warned of that. */
  readonly sentence?: true;
  /** Puts the effect into the draft, or says why not. */
  readonly apply: (use: ParsedAnnotation, draft: EndpointBuilder) => AnnotationError | null;
}
