/** The formats of results. They are written while the tests run, but for JUnit. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import { type Coverage, coverageLines } from './coverage.ts';
import type { TestFailure, TestResult } from './run-test.ts';

/** Receives the results of a run, in order. */
export interface Reporter {
  /** Of the files, before the first result; the run does not fail. */
  warning(line: string): void;
  test(result: TestResult): void;
  /** @param coverage null: it was not measured */
  end(coverage: Coverage | null): void;
}

export type ReportFormat = 'pretty' | 'tap' | 'junit';

export function createReporter(format: ReportFormat, write: (text: string) => void): Reporter {
  const print = (lines: readonly string[]): void => write(lines.map((line) => `${line}\n`).join(''));
  switch (format) {
    case 'pretty':
      return new PrettyReporter(print);
    case 'tap':
      return new TapReporter(print);
    case 'junit':
      return new JunitReporter(print);
  }
}

type Print = (lines: readonly string[]) => void;

/** Returns what has failed as lines without control characters: place, step, and why. */
function failureLines(file: string, { step, failures }: TestFailure): readonly string[] {
  const lines = failures.flatMap(({ line, message, details }) => [
    `${file}:${line}: ${message}`,
    ...details.map((detail) => `  ${detail}`),
  ]);
  return [...(step === null ? [] : [step]), ...lines].flatMap((text) => text.split('\n')).map(escapeControlCharacters);
}

class PrettyReporter implements Reporter {
  readonly #print: Print;
  #file: string | null = null;
  #tests = 0;
  #failed = 0;

  constructor(print: Print) {
    this.#print = print;
  }

  warning(line: string): void {
    this.#print([escapeControlCharacters(line)]);
  }

  test({ file, name, failure }: TestResult): void {
    if (file !== this.#file) this.#print([escapeControlCharacters(file)]);
    this.#file = file;
    this.#tests += 1;
    this.#print([`  ${failure === null ? 'ok    ' : 'failed'} ${escapeControlCharacters(name)}`]);
    if (failure === null) return;
    this.#failed += 1;
    this.#print(failureLines(file, failure).map((line) => `           ${line}`.trimEnd()));
  }

  end(coverage: Coverage | null): void {
    if (coverage !== null) this.#print(coverageLines(coverage).map(escapeControlCharacters));
    this.#print([`${this.#tests} test${this.#tests === 1 ? '' : 's'}, ${this.#failed} failed`]);
  }
}

/** TAP version 14: https://testanything.org/tap-version-14-specification.html */
class TapReporter implements Reporter {
  readonly #print: Print;
  #tests = 0;

  constructor(print: Print) {
    this.#print = print;
    print(['TAP version 14']);
  }

  warning(line: string): void {
    this.#print([comment(line)]);
  }

  test({ file, name, line, failure }: TestResult): void {
    this.#tests += 1;
    const description = tapText(`${file}: ${name}`);
    if (failure === null) return this.#print([`ok ${this.#tests} - ${description}`]);
    const lines = failureLines(file, failure);
    this.#print([
      `not ok ${this.#tests} - ${description}`,
      '  ---',
      `  at: ${JSON.stringify(escapeControlCharacters(`${file}:${failure.failures[0]?.line ?? line}`))}`,
      // The indentation is explicit: the first line may begin with spaces.
      '  message: |2',
      ...lines.map((text) => `    ${text}`),
      '  ...',
    ]);
  }

  end(coverage: Coverage | null): void {
    this.#print([`1..${this.#tests}`]);
    if (coverage !== null) this.#print(coverageLines(coverage).map(comment));
  }
}

function comment(line: string): string {
  return `# ${escapeControlCharacters(line)}`;
}

/** A `#` would begin a directive, such as `# SKIP`. */
function tapText(text: string): string {
  return escapeControlCharacters(text).replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}

/** The format that CI systems read; its elements are those of Ant and Jenkins. */
class JunitReporter implements Reporter {
  readonly #print: Print;
  readonly #files = new Map<string, TestResult[]>();
  readonly #warnings: string[] = [];

  constructor(print: Print) {
    this.#print = print;
  }

  warning(line: string): void {
    this.#warnings.push(line);
  }

  test(result: TestResult): void {
    const results = this.#files.get(result.file);
    if (results === undefined) this.#files.set(result.file, [result]);
    else results.push(result);
  }

  end(coverage: Coverage | null): void {
    const all = [...this.#files.values()].flat();
    this.#print([
      '<?xml version="1.0" encoding="UTF-8"?>',
      `<testsuites name="pgway test" ${counts(all)}>`,
      ...[...this.#files].flatMap(([file, results]) => [
        `  <testsuite name=${attribute(file)} ${counts(results)}>`,
        ...results.flatMap(testCase),
        '  </testsuite>',
      ]),
      ...xmlComment(this.#warnings),
      ...xmlComment(coverage === null ? [] : coverageLines(coverage)),
      '</testsuites>',
    ]);
  }
}

function counts(results: readonly TestResult[]): string {
  const failed = results.filter(({ failure }) => failure !== null).length;
  const time = results.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return `tests="${results.length}" failures="${failed}" errors="0" skipped="0" time="${seconds(time)}"`;
}

function testCase({ file, name, milliseconds, line, failure }: TestResult): readonly string[] {
  const open = `    <testcase name=${attribute(name)} classname=${attribute(file)} file=${attribute(file)} line="${line}" time="${seconds(milliseconds)}"`;
  if (failure === null) return [`${open}/>`];
  const message = failure.failures[0]?.message ?? '';
  return [
    `${open}>`,
    `      <failure message=${attribute(message)} type="failure">${xmlText(failureLines(file, failure).join('\n'))}</failure>`,
    '    </testcase>',
  ];
}

/** The schema has no place for these lines outside of a suite. A comment cannot contain two hyphens. */
function xmlComment(lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return ['  <!--', ...lines.map((line) => `    ${escapeXml(line).replaceAll('--', '- -')}`), '  -->'];
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

function attribute(text: string): string {
  return `"${escapeXml(text)}"`;
}

function xmlText(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Own code: the escapes of XML 1.0 are four. Characters that XML cannot contain are shown as escapes. */
function escapeXml(text: string): string {
  return escapeControlCharacters(text)
    .replaceAll(/[\p{Surrogate}\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => entities[character]!);
}
