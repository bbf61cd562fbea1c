/** The parts of a `*.test.sql` file. */
import type { FileFault } from '@pgway/core/internal';

/** A file whose mistakes are known; a file with mistakes has no tests. */
export interface TestFile {
  /** Below the working directory, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly tests: readonly SqlTest[];
  readonly faults: readonly FileFault[];
}

export interface SqlTest {
  readonly name: string;
  /** The line of its heading, from 1. */
  readonly line: number;
  /** Those before the first heading of the file, then its own. */
  readonly steps: readonly Step[];
}

export type Step = RequestStep | StatementStep;

export interface RequestStep {
  readonly kind: 'request';
  readonly line: number;
  /** As in the file: `GET /api/films as ada`. */
  readonly title: string;
  readonly method: string;
  /** Path and query, with templates. */
  readonly target: string;
  /** Null: anonymous. */
  readonly identity: Identity | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** With templates; null: no body. */
  readonly body: string | null;
  readonly expectations: readonly Expectation[];
  readonly captures: readonly Capture[];
}

export interface StatementStep {
  readonly kind: 'statement';
  readonly line: number;
  /** The first line of the statement. */
  readonly title: string;
  /** Its parameters are `$1`, `$2`, …; as long as in the file, so that positions of PostgreSQL are those of the file. */
  readonly sql: string;
  /** The place of its first character in the file. */
  readonly start: number;
  /** The captured values of `$1`, `$2`, … */
  readonly names: readonly string[];
  readonly expectations: readonly Expectation[];
  readonly captures: readonly Capture[];
}

/** Claims of a caller, as a token has them. */
export interface Identity {
  readonly name: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A value that later steps use: of the JSON body by its path, or the only one of a statement. */
export interface Capture {
  readonly line: number;
  readonly name: string;
  /** The keys and indexes, from the body; null: the value of a statement. */
  readonly path: readonly (string | number)[] | null;
}

export type Expectation = { readonly line: number } & (
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'rows'; readonly count: number }
  | { readonly kind: 'problem'; readonly code: string }
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'text'; readonly text: string }
  /** JSON text with templates. */
  | { readonly kind: 'body' | 'contains'; readonly json: string }
  | { readonly kind: 'true' }
  | { readonly kind: 'error'; readonly code: string }
);

export type ExpectationKind = Expectation['kind'];
