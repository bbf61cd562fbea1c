import { readTestFiles } from '@pgway/core/internal';
import type { Coverage } from './coverage.ts';
import { endpointKey, findCoverage } from './coverage.ts';
import { parseTestFile } from './parse-test-file.ts';
import { PolicyProbe } from './policy-probe.ts';
import type { Reporter } from './report.ts';
import { runTest, type TestResult, type TestRunner } from './run-test.ts';
import type { SqlTest, TestFile } from './test-file.ts';
import type { TestGateway } from './test-gateway.ts';
import { TestSession, type SessionOptions } from './test-session.ts';

/** A folder whose files are left out. */
export interface FolderWarning {
  /** Below the working directory, with `/`. */
  readonly path: string;
  readonly message: string;
}

export interface ListedTests {
  readonly files: readonly TestFile[];
  readonly warnings: readonly FolderWarning[];
}

/**
 * Reads the files of tests, in the order of their paths.
 * @throws RangeError for a pattern that leads out of the folder
 */
export async function listTestFiles(folder: string, patterns: readonly string[]): Promise<ListedTests> {
  const read = await readTestFiles(folder, patterns);
  const isWarning = ({ severity }: (typeof read)[number]): boolean => severity === 'warning';
  return {
    files: read
      .filter((file) => !isWarning(file))
      .map(({ path, text, fault }) =>
        fault === null
          ? parseTestFile(path, text)
          : { path, text: '', tests: [], faults: [{ code: 'test', line: null, message: fault }] },
      ),
    warnings: read.filter(isWarning).map(({ path, fault }) => ({ path, message: fault! })),
  };
}

/** Returns the files with the tests whose file or name contains the text; a file with mistakes stays. */
export function selectTests(files: readonly TestFile[], filter: string | null): readonly TestFile[] {
  if (filter === null) return files;
  return files.flatMap((file) => {
    if (file.path.includes(filter)) return [file];
    const tests = file.tests.filter(({ name }) => name.includes(filter));
    return tests.length > 0 ? [{ ...file, tests }] : [];
  });
}

export interface RunOptions {
  readonly gateway: TestGateway;
  readonly warnings: readonly FolderWarning[];
  readonly session: SessionOptions;
  readonly measuresCoverage: boolean;
  readonly stopSignal: AbortSignal;
  readonly reporter: Reporter;
}

export interface RunResult {
  readonly failed: number;
  /** Null: not measured. */
  readonly coverage: Coverage | null;
}

/** Runs the tests one after the other, and reports each of them. */
export async function runFiles(files: readonly TestFile[], options: RunOptions): Promise<RunResult> {
  const { gateway, session, measuresCoverage, stopSignal, reporter } = options;
  const called = new Set<string>();
  const policies = measuresCoverage ? new PolicyProbe() : null;
  const runner: TestRunner = {
    gateway,
    openSession: () => TestSession.open(session),
    policies,
    reached: (endpoint) => void called.add(endpointKey(endpoint)),
    stopSignal,
  };
  for (const warning of options.warnings) reporter.warning(describeWarning(warning));
  let failed = 0;
  const report = (result: TestResult): void => {
    if (result.failure !== null) failed += 1;
    reporter.test(result);
  };
  for (const file of files) {
    if (file.faults.length > 0) report(faultyFile(file));
    // One test after the other: each may lock what others use.
    for (const test of file.tests) if (!stopSignal.aborted) report(await runTest(runner, file, test));
  }
  const coverage = policies === null ? null : await measure(runner, policies, called);
  reporter.end(coverage);
  return { failed, coverage };
}

export function describeWarning({ path, message }: FolderWarning): string {
  return `warning: ${path} ${message}`;
}

async function measure(runner: TestRunner, policies: PolicyProbe, called: ReadonlySet<string>): Promise<Coverage> {
  const session = await runner.openSession();
  try {
    // Those of the last test may be its own ones.
    await policies.read(session);
  } finally {
    await session.close();
  }
  return findCoverage(runner.gateway.gateway.endpoints, called, policies);
}

/** The mistakes of a file as a test that has failed. */
function faultyFile({ path, faults }: TestFile): TestResult {
  const test: Pick<SqlTest, 'name' | 'line'> = { name: 'the file can be read', line: faults[0]?.line ?? 1 };
  return {
    file: path,
    ...test,
    milliseconds: 0,
    failure: {
      step: null,
      failures: faults.map(({ line, message }) => {
        const [first = '', ...caret] = message.split('\n');
        return { line: line ?? 1, message: first, details: caret.map((shown) => shown.slice(2)) };
      }),
    },
  };
}
