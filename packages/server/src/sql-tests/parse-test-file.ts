import {
  controlsTransaction,
  faultAt,
  type FileComment,
  type FileFault,
  type FileStatement,
  scanFile,
} from '@pgway/core/internal';
import { type Directive, parseDirective, parseExpectations, parsePath } from './parse-directive.ts';
import { templateNames, withoutTemplates } from './template.ts';
import type {
  Capture,
  Expectation,
  Identity,
  RequestStep,
  SqlTest,
  StatementStep,
  Step,
  TestFile,
} from './test-file.ts';

/** Reads the tests of a file. PostgreSQL reads the statements when they run. */
export function parseTestFile(path: string, text: string): TestFile {
  const parser = new TestParser(path, text);
  const tests = parser.parse();
  const faults = parser.faults.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0));
  return { path, text, tests: faults.length > 0 ? [] : tests, faults };
}

type Open<Part extends Step> = Omit<Part, 'expectations' | 'captures'> & {
  readonly expectations: Expectation[];
  readonly captures: Capture[];
};
type OpenRequest = Omit<Open<RequestStep>, 'headers' | 'body' | 'identity'> & {
  /** Null: anonymous. */
  readonly identityName: string | null;
  identity: Identity | null;
  readonly headers: [name: string, value: string][];
  readonly body: string[];
  /** The line of the first line of the body. */
  bodyLine: number;
};
type OpenStep = OpenRequest | Open<StatementStep>;

interface OpenTest {
  readonly name: string;
  readonly line: number;
  readonly steps: OpenStep[];
}

class TestParser {
  readonly faults: FileFault[] = [];
  readonly #path: string;
  readonly #text: string;
  readonly #lines: readonly string[];
  readonly #identities = new Map<string, Identity>();
  readonly #before: OpenStep[] = [];
  readonly #tests: OpenTest[] = [];
  /** The comments, of which a directive may have consumed some. */
  #comments: FileComment[] = [];

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.#lines = text.split('\n');
  }

  parse(): readonly SqlTest[] {
    const { statements, comments, faults } = scanFile(this.#text);
    for (const { at, message } of faults) this.faults.push(faultAt(this.#text, at, 'test', message));
    this.#refuseInside(comments);
    this.#comments = comments.filter(({ isInside }) => !isInside);
    const waiting = [...statements];
    while (this.#comments.length > 0 || waiting.length > 0) {
      const [statement] = waiting;
      const next = this.#comments[0];
      if (statement !== undefined && (next === undefined || this.#lineAt(statement.start) <= next.line)) {
        this.#addStatement(waiting.shift()!);
      } else this.#readComment(this.#comments.shift()!);
    }
    return this.#finish();
  }

  /** Comments within a statement have no meaning: a directive there is one behind a forgotten semicolon. */
  #refuseInside(comments: readonly FileComment[]): void {
    for (const { isInside, text, line } of comments) {
      if (isInside && parseDirective(text) !== null)
        this.#fault(line, 'this line is within a statement; end the statement above with a semicolon');
    }
  }

  #addStatement(statement: FileStatement): void {
    const { start, end, placeholders } = statement;
    const line = this.#lineAt(start);
    const refusal = refuse(statement);
    if (refusal !== null) this.faults.push(faultAt(this.#text, start, 'test', refusal));
    const names = [...new Set(placeholders.map(({ name }) => name))];
    const numbered = placeholders.find(({ name }) => name.startsWith('$'));
    if (numbered !== undefined) {
      const message = `a test has no parameter ${numbered.name}; capture a value, and use it as :name`;
      this.faults.push(faultAt(this.#text, numbered.start, 'test', message));
    }
    let sql = '';
    let at = start;
    for (const placeholder of placeholders) {
      const number = `$${names.indexOf(placeholder.name) + 1}`;
      sql += this.#text.slice(at, placeholder.start) + number.padEnd(placeholder.end - placeholder.start);
      at = placeholder.end;
    }
    sql += this.#text.slice(at, end);
    const title = this.#text.slice(start, end).split('\n')[0]!.trim();
    this.#add({ kind: 'statement', line, title, sql, start, names, expectations: [], captures: [] });
  }

  #readComment({ text, line }: FileComment): void {
    const directive = parseDirective(text);
    if (directive !== null) this.#apply(directive, line, text);
  }

  #apply(directive: Directive, line: number, title: string): void {
    switch (directive.kind) {
      case 'fault':
        return this.#fault(line, directive.message);
      case 'test':
        return void this.#tests.push({ name: directive.name, line, steps: [] });
      case 'identity':
        return this.#addIdentity(directive.name, this.#joinJson(directive.json, line), line);
      case 'request':
        return this.#addRequest(directive, line, title);
      case 'expect':
        return this.#addExpectations(directive.text, line);
      case 'capture':
        return this.#addCapture(directive, line);
    }
  }

  #addIdentity(name: string, json: string, line: number): void {
    if (this.#identities.has(name))
      return this.#fault(line, `the identity ${JSON.stringify(name)} is declared twice; rename one`);
    const claims = readJson(json);
    if (claims instanceof Error) return this.#fault(line, `the claims are not a JSON object: ${claims.message}`);
    this.#identities.set(name, { name, claims: claims as Identity['claims'] });
  }

  #addRequest(
    { method, target, identity }: Extract<Directive, { kind: 'request' }>,
    line: number,
    title: string,
  ): void {
    const step: OpenRequest = {
      kind: 'request',
      line,
      title,
      method,
      target,
      identityName: identity,
      identity: null,
      headers: [],
      body: [],
      bodyLine: line,
      expectations: [],
      captures: [],
    };
    this.#add(step);
    let last = line;
    for (let next = this.#takeContinuation(last); next !== null; next = this.#takeContinuation(last)) {
      last = next.line;
      const header = step.body.length === 0 ? /^([\w-]+):\s*(.*)$/.exec(next.text) : null;
      if (header !== null) step.headers.push([header[1]!, header[2]!]);
      else {
        if (step.body.length === 0) step.bodyLine = next.line;
        step.body.push(next.text);
      }
    }
    this.#checkBody(step);
  }

  /** A body without a media type is JSON. */
  #checkBody({ body, bodyLine, headers, method }: OpenRequest): void {
    if (body.length === 0) return;
    if (method === 'GET' || method === 'HEAD')
      return this.#fault(bodyLine, `${method} has no body; separate comments from the request by an empty line`);
    if (headers.some(([name]) => name.toLowerCase() === 'content-type')) return;
    const json = readJson(withoutTemplates(body.join('\n')));
    if (!(json instanceof Error)) return;
    this.#fault(
      bodyLine,
      `the body of the request is not JSON: ${json.message}; correct it, set a Content-Type below the request, or separate a comment from the request by an empty line`,
    );
  }

  #addExpectations(text: string, line: number): void {
    const step = this.#lastStep();
    if (step === undefined)
      return this.#fault(line, 'there is no request and no statement above; expect stands below one');
    const joined = /^body\s+(?!text\b)/.test(text)
      ? this.#joinJson(text, line, text.search(/[{["\d]|true|false|null|$/))
      : text;
    const found = parseExpectations(joined, line, step.kind);
    if (typeof found === 'string') return this.#fault(line, found);
    for (const expectation of found) {
      const json = expectation.kind === 'body' || expectation.kind === 'contains' ? expectation.json : null;
      const value = json === null ? null : readJson(withoutTemplates(json));
      if (value instanceof Error) this.#fault(line, `the expected body is not JSON: ${value.message}`);
      step.expectations.push(expectation);
    }
  }

  #addCapture({ name, path }: Extract<Directive, { kind: 'capture' }>, line: number): void {
    const step = this.#lastStep();
    if (step === undefined)
      return this.#fault(line, 'there is no request and no statement above; capture stands below one');
    const keys = path === null ? null : parsePath(path);
    if ((step.kind === 'request') !== (path !== null) || (path !== null && keys === null))
      return this.#fault(
        line,
        step.kind === 'request'
          ? `a value of a response has a path such as $.items[0].id, as in: capture ${name} = $.id`
          : `the value of a statement has no path; write: capture ${name}`,
      );
    step.captures.push({ line, name, path: keys });
  }

  /** Joins the following lines while the text is not complete JSON. */
  #joinJson(first: string, line: number, start = 0): string {
    let text = first;
    for (let last = line; readJson(withoutTemplates(text.slice(start))) instanceof Error;) {
      const next = this.#takeContinuation(last);
      if (next === null) return text;
      last = next.line;
      text += `\n${next.text}`;
    }
    return text;
  }

  /** Takes the comment of the next line, unless it is a directive or empty. */
  #takeContinuation(line: number): FileComment | null {
    const [next] = this.#comments;
    if (next === undefined || next.line !== line + 1 || next.text === '' || parseDirective(next.text) !== null)
      return null;
    return this.#comments.shift()!;
  }

  #add(step: OpenStep): void {
    (this.#tests.at(-1)?.steps ?? this.#before).push(step);
  }

  #lastStep(): OpenStep | undefined {
    return (this.#tests.at(-1)?.steps ?? this.#before).at(-1);
  }

  #finish(): readonly SqlTest[] {
    if (this.#tests.length === 0) this.#tests.push({ name: this.#path, line: 1, steps: [] });
    const hasTests = this.#tests.length > 1 || this.#tests[0]!.steps.length + this.#before.length > 0;
    if (!hasTests) this.#fault(1, 'the file has no request and no statement; add some, or remove the file');
    return this.#tests.map(({ name, line, steps }) => {
      if (steps.length === 0 && hasTests && this.#tests.length > 1)
        this.#fault(
          line,
          `the test ${JSON.stringify(name)} has no request and no statement; add some, or begin the comment with another word`,
        );
      const all = [...this.#before, ...steps];
      this.#checkNames(all);
      return { name, line, steps: all.map((step) => this.#close(step)) };
    });
  }

  /** Reports values that no step above captures. */
  #checkNames(steps: readonly OpenStep[]): void {
    const known = new Set<string>();
    for (const step of steps) {
      for (const name of usedNames(step)) {
        if (!known.has(name) && !name.startsWith('$'))
          this.#fault(step.line, `the value ${JSON.stringify(name)} is not captured above; add: capture ${name}`);
      }
      for (const { name } of step.captures) known.add(name);
    }
  }

  #close(step: OpenStep): Step {
    if (step.kind === 'statement') return step;
    const { identityName, body, bodyLine: _, ...request } = step;
    const identity = identityName === null ? null : this.#identities.get(identityName);
    if (identity === undefined) {
      const known = [...this.#identities.keys()];
      const hint = known.length === 0 ? '' : `; there is ${known.join(', ')}`;
      this.#fault(
        step.line,
        `the identity ${JSON.stringify(identityName)} is not declared${hint}; add: identity ${identityName} {"sub": "1"}`,
      );
    }
    return { ...request, identity: identity ?? null, body: body.length === 0 ? null : body.join('\n') };
  }

  /** Adds a fault with a caret under the first word of the comment on the line, once. */
  #fault(line: number, message: string): void {
    const before = this.#lines.slice(0, line - 1).reduce((length, text) => length + text.length + 1, 0);
    const indent = /^\s*(?:--\s*|\/?\*+\s*)?/.exec(this.#lines[line - 1] ?? '')![0].length;
    const fault = faultAt(this.#text, before + indent, 'test', message);
    if (!this.faults.some((known) => known.line === fault.line && known.message === fault.message))
      this.faults.push(fault);
  }

  #lineAt(position: number): number {
    return this.#text.slice(0, position).split('\n').length;
  }
}

function usedNames(step: OpenStep): readonly string[] {
  const expected = step.expectations.flatMap((expectation) =>
    'json' in expectation ? templateNames(expectation.json) : [],
  );
  if (step.kind === 'statement') return [...step.names, ...expected];
  const texts = [step.target, ...step.headers.map(([, value]) => value), ...step.body];
  return [...texts.flatMap(templateNames), ...expected];
}

/** Returns why the statement cannot be part of a test, or null. */
function refuse(statement: FileStatement): string | null {
  const [first = ''] = statement.tokens.map(({ text }) => text);
  if (controlsTransaction(statement))
    return `${first} controls the transaction; a test is one transaction, which pgway begins and rolls back; remove it`;
  if (first === 'copy') return 'copy reads or writes a stream of its own; use insert or select';
  return null;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return error as Error;
  }
}
