/** The form in which an annotation is written: `authorize admin`, `authorize = admin`, `Content-Type: x`. */
export type AnnotationForm = 'line' | 'assignment' | 'header';

/** An annotation line of a comment, split into name and arguments. */
export interface ParsedAnnotation {
  readonly form: AnnotationForm;
  /** The keyword, key or header name as written. */
  readonly name: string;
  /** The text after the name, without surrounding space and leading commas. */
  readonly text: string;
  /** The text after the name, without surrounding space. Keeps leading commas: the argument of `separator` may be one. */
  readonly rawText: string;
  /** The text, split at spaces and commas. */
  readonly args: readonly string[];
  /** The line number within the comment, from 1. */
  readonly line: number;
}

/** The reason why an annotation has no effect, or only part of it. */
export interface AnnotationError {
  readonly code: string;
  /** Quotes the culprit and says what to do. */
  readonly message: string;
  /** Default: `error` when the annotation is a guard, else `warning`. */
  readonly severity?: 'error' | 'warning';
  /** Ignored arguments. The name of a guard among them makes this an error. */
  readonly unusedArguments?: readonly string[];
}
