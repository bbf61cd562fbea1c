import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageAnchors } from '../../../../site/anchors.ts';

/**
 * The steps of a page in their order. `line` is the position in the file, from 1.
 *
 * - `sql`: a ```sql block, or a hidden comment `<!-- sql … -->` or `<!-- sql from path -->`; run in the database of the page
 * - `library`: a comment `<!-- library -->`; loads the example database
 * - `idempotency`, `realtime`: a comment `<!-- idempotency -->`; runs the statements of `pgway install idempotency`
 * - `config`: a ```json block, or a comment `<!-- config … -->` or `<!-- config from path -->`, a `pgway.json`; checked, and used
 *   for the requests after it up to the next heading
 * - `file`: any block below a comment `<!-- file name -->`, whose text is the content of that file; or a comment
 *   `<!-- file name from path -->`, a copy of a file of the checkout. Commands find files by name
 * - `program`: a ```js block whose first line is `// name.mjs`; runs from here to the next program or the end of the page
 * - `fragment`: any other ```js block; type-checked after the lines of a comment `<!-- js … -->` before it
 * - `command`: `$ …` in a ```console block, or in one without a language that begins so; the text below it is its answer
 * - `heading`: the configuration is the default one again
 *
 * A block below a comment `<!-- part of path -->` is a part of that file of the checkout, and is not run.
 *
 * A block that contains ``` begins and ends with more of these characters.
 */
export type Step =
  | { readonly kind: 'heading' | 'library' | 'idempotency' | 'realtime'; readonly line: number }
  | { readonly kind: 'sql' | 'config'; readonly line: number; readonly text: string }
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly content: FileContent }
  | { readonly kind: 'program'; readonly line: number; readonly name: string; readonly text: string }
  | { readonly kind: 'fragment'; readonly line: number; readonly prelude: string; readonly text: string }
  | { readonly kind: 'command'; readonly line: number; readonly command: string; readonly answer: string };

/** The content of a file: its text, or the path of a file of the checkout. */
export type FileContent = { readonly text: string } | { readonly path: string };

export interface Page {
  /** Relative to the root of the checkout, with slashes. */
  readonly file: string;
  readonly steps: readonly Step[];
  /** The links to files of the checkout; `target` is empty in a link to the same page. */
  readonly links: readonly { readonly line: number; readonly target: string; readonly anchor: string | null }[];
  /** The anchors of the headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
}

/** Languages of blocks that are shown and not run. */
const shown = new Set(['sh', 'text', 'ts', 'ini', 'yaml']);

export function readPage(root: string, file: string): Page {
  const lines = readFileSync(join(root, file), 'utf8').split(/\r?\n/);
  const reader = new PageReader(root, file, lines);
  return { file, steps: reader.readSteps(), links: linksOf(lines), anchors: pageAnchors(lines) };
}

function linksOf(lines: readonly string[]): Page['links'] {
  return lines.flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)]
      .map(([, target, anchor]) => ({ line: index + 1, target: target!, anchor: anchor ?? null }))
      .filter(({ target, anchor }) => !/^[a-z]+:/.test(target) && (target !== '' || anchor !== null)),
  );
}

class PageReader {
  readonly #root: string;
  readonly #file: string;
  readonly #lines: readonly string[];
  readonly #steps: Step[] = [];
  #prelude = '';
  #at = 0;

  constructor(root: string, file: string, lines: readonly string[]) {
    this.#root = root;
    this.#file = file;
    this.#lines = lines;
  }

  readSteps(): readonly Step[] {
    while (this.#at < this.#lines.length) this.#readLine(this.#lines[this.#at]!);
    return this.#steps;
  }

  #readLine(text: string): void {
    const fence = /^(`{3,})([^`]*)$/.exec(text);
    const comment = /^<!-- (sql|js|config)\b/.exec(text);
    const setUp = /^<!-- (library|idempotency|realtime) -->$/.exec(text)?.[1] as
      | 'library'
      | 'idempotency'
      | 'realtime'
      | undefined;
    const file = /^<!-- file (\S+)(?: from (\S+))? -->$/.exec(text);
    const line = this.#at + 1;
    this.#at += 1;
    if (file !== null) this.#addFile(line, file[1]!, file[2]);
    else if (fence !== null) this.#addBlock(fence[2]!, line + 1, this.#until(new RegExp(`^${fence[1]!}$`)));
    else if (setUp !== undefined) this.#steps.push({ kind: setUp, line });
    else if (comment !== null) this.#addHidden(comment[1] as 'sql' | 'js' | 'config', line, text);
    else if (/^#{1,6} /.test(text)) this.#steps.push({ kind: 'heading', line });
    else this.#checkPart(line, /^<!-- part of (\S+) -->$/.exec(text)?.[1]);
  }

  #addHidden(kind: 'sql' | 'js' | 'config', line: number, comment: string): void {
    if (kind === 'js') return void (this.#prelude = this.#until(/^-->$/));
    const path = / from (\S+) -->$/.exec(comment)?.[1];
    if (path === undefined) this.#steps.push({ kind, line: line + 1, text: this.#until(/^-->$/) });
    else this.#steps.push({ kind, line, text: readFileSync(join(this.#root, path), 'utf8') });
  }

  #checkPart(line: number, path: string | undefined): void {
    if (path === undefined) return;
    const fence = /^(`{3,})\S*$/.exec(this.#lines[this.#at] ?? '');
    if (fence === null) this.#fail(line, `no block follows with a part of ${path}`);
    this.#at += 1;
    const text = this.#until(new RegExp(`^${fence[1]!}$`));
    if (!readFileSync(join(this.#root, path), 'utf8').includes(`${text}\n`))
      this.#fail(line + 2, `${path} does not have these lines`);
  }

  #until(end: RegExp): string {
    const begin = this.#at;
    while (!end.test(this.#lines[this.#at] ?? this.#fail(begin, `nothing ends what begins here`))) this.#at += 1;
    this.#at += 1;
    return this.#lines.slice(begin, this.#at - 1).join('\n');
  }

  #addFile(line: number, name: string, path: string | undefined): void {
    if (path !== undefined) return void this.#steps.push({ kind: 'file', line, name, content: { path } });
    if (!/^```\S*$/.test(this.#lines[this.#at] ?? ''))
      this.#fail(line, 'no block follows with the content of the file');
    this.#at += 1;
    this.#steps.push({ kind: 'file', line: line + 2, name, content: { text: `${this.#until(/^```$/)}\n` } });
  }

  #addBlock(language: string, line: number, text: string): void {
    if (shown.has(language)) return;
    switch (language) {
      case 'sql':
        return void this.#steps.push({ kind: 'sql', line, text });
      case 'json':
        return void this.#steps.push({ kind: 'config', line, text });
      case 'js':
        return this.#addScript(line, text);
      case 'console':
        return this.#addCommands(line, text);
      case '':
        return text.startsWith('$ ') ? this.#addCommands(line, text) : undefined;
      default:
        this.#fail(line - 1, `nothing is known of the language "${language}"; say "text" for what is not tried`);
    }
  }

  #addScript(line: number, text: string): void {
    const name = /^\/\/ (\S+\.mjs)$/m.exec(text.split('\n', 1)[0]!)?.[1];
    if (name !== undefined) this.#steps.push({ kind: 'program', line, name, text });
    else this.#steps.push({ kind: 'fragment', line, prelude: this.#prelude, text });
    this.#prelude = '';
  }

  /** A command continues after a line that ends with a backslash, and until its quotes are closed. */
  #addCommands(line: number, text: string): void {
    const lines = text.split('\n');
    let at = 0;
    while (at < lines.length) {
      const begin = at;
      let command = lines[at++]!;
      if (!command.startsWith('$ ')) this.#fail(line + begin, 'a console block begins with "$ " and a command');
      while (isOpen(command) && at < lines.length) command += `\n${lines[at++]!}`;
      const answer: string[] = [];
      while (at < lines.length && !lines[at]!.startsWith('$ ')) answer.push(lines[at++]!);
      this.#steps.push({ kind: 'command', line: line + begin, command: command.slice(2), answer: answer.join('\n') });
    }
  }

  #fail(line: number, message: string): never {
    throw new Error(`${this.#file}:${line}: ${message}`);
  }
}

function isOpen(command: string): boolean {
  return command.endsWith('\\') || (command.match(/'/g) ?? []).length % 2 === 1;
}
