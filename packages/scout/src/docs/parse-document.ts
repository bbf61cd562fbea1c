/** Reads the comments of a dictionary file. Everything outside of the markers may have any form. */
import { decodeText, markerStart } from './comment-text.ts';
import { decodeId, endPattern, headerPattern, startPattern } from './marker.ts';

/** A comment of the file. */
export interface FileComment {
  readonly id: string;
  /** The digest of the comment that the file was written from. */
  readonly digest: string;
  /** Null for an empty one. */
  readonly text: string | null;
  /** From 1. */
  readonly line: number;
  /** The place of the digest in the file. */
  readonly digestRange: readonly [start: number, end: number];
}

export interface ParsedDocument {
  /** Null for a file that is not a dictionary. */
  readonly version: number | null;
  readonly comments: readonly FileComment[];
  /** Damaged markers, with their lines. */
  readonly errors: readonly DocumentError[];
}

export interface DocumentError {
  readonly line: number;
  readonly message: string;
}

/** Parses the whole file, and collects all errors. */
export function parseDocument(text: string): ParsedDocument {
  const parser = new DocumentParser(text);
  parser.parse();
  const { version, comments } = parser;
  const duplicates = duplicateErrors(comments);
  return { version, comments, errors: [...parser.errors, ...duplicates].toSorted((a, b) => a.line - b.line) };
}

function duplicateErrors(comments: readonly FileComment[]): readonly DocumentError[] {
  const first = new Map<string, number>();
  return comments.flatMap(({ id, line }) => {
    const former = first.get(id);
    if (former === undefined) first.set(id, line);
    return former === undefined ? [] : [{ line, message: `${id} is already in line ${former}` }];
  });
}

const fencePattern = /(?:[ \t]*\r?\n)+ {0,3}(`{3,}|~{3,})[^\n`]*\n/y;

class DocumentParser {
  readonly comments: FileComment[] = [];
  readonly errors: DocumentError[] = [];
  version: number | null = null;
  readonly #text: string;
  /** The end of what is read. */
  #position = 0;
  /** Whether the start of the current comment is damaged: then its end marker is not a second error. */
  #isDamaged = false;
  /** The last offset whose line was counted. */
  #counted = { offset: 0, line: 1 };

  constructor(text: string) {
    this.#text = text;
  }

  parse(): void {
    for (let offset = this.#nextMarker(); offset !== -1; offset = this.#nextMarker()) {
      const head = this.#match(headerPattern, offset);
      if (head === null) this.#readMarker(offset);
      else this.version ??= Number(head[1]);
    }
  }

  /** Returns the offset of the next marker, damaged or not; -1 at the end. */
  #nextMarker(): number {
    markerStart.lastIndex = this.#position;
    return markerStart.exec(this.#text)?.index ?? -1;
  }

  /** Matches at the offset, and moves behind the match. */
  #match(pattern: RegExp, offset: number): RegExpExecArray | null {
    pattern.lastIndex = offset;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#position = pattern.lastIndex;
    return match;
  }

  #readMarker(offset: number): void {
    const start = this.#match(startPattern, offset);
    if (start !== null) {
      this.#isDamaged = false;
      this.#readComment(start);
    } else if (this.#match(endPattern, offset) === null) {
      this.#report(offset, 'the marker is damaged');
      this.#position = offset + 1;
    } else {
      if (!this.#isDamaged) this.#report(offset, 'an end marker without a start marker');
      this.#isDamaged = false;
    }
  }

  #readComment(start: RegExpExecArray): void {
    const id = decodeId(start[1]!);
    const text = this.#readText();
    if (text === null) {
      this.#report(
        start.index,
        `the comment of ${id} has no end: its end marker, or the line below its block of code, is missing`,
      );
    } else if (text.includes('\0') || /\p{Surrogate}/u.test(text)) {
      this.#report(start.index, `the comment of ${id} has a character that PostgreSQL cannot store`);
    } else {
      const line = this.#lineOf(start.index);
      const digestRange = start.indices![2]!;
      this.comments.push({ id, digest: start[2]!, text: text === '' ? null : text, line, digestRange });
    }
  }

  /** Returns the text up to the end marker, which it reads too; null when there is none. */
  #readText(): string | null {
    const open = this.#match(fencePattern, this.#position);
    const text = open === null ? null : this.#readFence(open[1]!);
    if (open !== null && text === null) return null;
    const start = this.#position;
    const end = this.#nextMarker();
    if (end === -1 || this.#match(endPattern, end) === null) return null;
    const between = this.#text.slice(start, end).replaceAll('\r\n', '\n');
    if (text === null) return decodeText(between);
    // A text below a block of code would be lost.
    return between.trim() === '' ? text : null;
  }

  /** Returns the content of a block of code whose first line was read. */
  #readFence(fence: string): string | null {
    const start = this.#position;
    const close = new RegExp(`(?<=\\n) {0,3}${fence[0]}{${fence.length},}[ \\t]*(?=\\r?\\n|$)`, 'g');
    close.lastIndex = start;
    const end = close.exec(this.#text);
    // Without its last line, the block would contain the next comments.
    if (end === null || this.#text.slice(start, end.index).search(markerStart) !== -1) return null;
    this.#position = close.lastIndex;
    return this.#text
      .slice(start, end.index)
      .replace(/\r?\n$/, '')
      .replaceAll('\r\n', '\n');
  }

  #report(offset: number, message: string): void {
    this.errors.push({ line: this.#lineOf(offset), message });
    this.#isDamaged = true;
  }

  /** Counts on from the last line: offsets grow. */
  #lineOf(offset: number): number {
    const { offset: from, line } = this.#counted;
    this.#counted = { offset, line: line + this.#text.slice(from, offset).split('\n').length - 1 };
    return this.#counted.line;
  }
}
