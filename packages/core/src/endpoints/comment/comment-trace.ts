import { type CommentLine, lexComment } from './lexer.ts';

/** How a line of a comment was read, and what it does. */
export interface LineExplanation {
  /** From 1, within the comment. */
  readonly line: number;
  /** As written, without surrounding space; the hash of `basic_authentication` is masked. */
  readonly text: string;
  /**
   * - `annotation`: an annotation
   * - `header`: a response header
   * - `prose`: a part of the description
   * - `blank`: an empty line
   * - `skipped`: an annotation or header below a `for` line with tags of other endpoints
   */
  readonly kind: 'annotation' | 'header' | 'prose' | 'blank' | 'skipped';
  /** The name of the annotation, also when it was written with a synonym; null for other lines. */
  readonly annotation: string | null;
  /** The effects, as in `sets method to GET`. Empty for a line without one, whose reason may be a diagnostic. */
  readonly effects: readonly string[];
  /** The line of the `for` line that applies; null without one. */
  readonly scope: number | null;
}

/** The kind of a line before its tag scope is considered. */
export interface LineReading {
  readonly kind: 'annotation' | 'header' | 'prose';
  readonly annotation: string | null;
}

/** The tag scope of a line. `line` is that of its `for` line. */
interface LineScope {
  readonly applies: boolean;
  readonly line: number | null;
}

/** Masks the password hash of `basic_authentication <user> <hash>`. */
function maskHash(written: string): string {
  return written.replace(/^(@?\s*[\w-]+[\s,=]+[^\s,]+[\s,]+).+$/, '$1***');
}

/** Records how the lines of a comment are read. */
export class CommentTrace {
  readonly #lines: (Omit<LineExplanation, 'effects'> & { readonly effects: string[] })[] = [];

  get lines(): readonly LineExplanation[] {
    return this.#lines;
  }

  /** Adds a line before it is applied. */
  addLine({ number, written }: CommentLine, { kind, annotation }: LineReading, scope: LineScope): void {
    const isSkipped = kind !== 'prose' && annotation !== 'tags' && !scope.applies;
    this.#lines.push({
      line: number,
      text: annotation === 'basic_authentication' ? maskHash(written) : written,
      kind: written === '' ? 'blank' : isSkipped ? 'skipped' : kind,
      annotation,
      effects: [],
      scope: annotation === 'tags' ? null : scope.line,
    });
  }

  /** Adds a comment whose annotations are ignored. */
  addProse(comment: string): void {
    for (const { number, written } of lexComment(comment)) {
      const kind = written === '' ? 'blank' : 'prose';
      this.#lines.push({ line: number, text: written, kind, annotation: null, effects: [], scope: null });
    }
  }

  addEffect(line: number, effect: string): void {
    this.#lines.find((entry) => entry.line === line)?.effects.push(effect);
  }
}
