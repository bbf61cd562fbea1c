import type { Endpoint } from '@pgway/core';
import { captureValues, checkResponse, type Failure } from './check-response.ts';
import { captureRow, checkStatement } from './check-statement.ts';
import type { PolicyProbe } from './policy-probe.ts';
import { type CapturedValue, fillJson, fillTarget, fillText, toParameter } from './template.ts';
import type { RequestStep, SqlTest, StatementStep, Step, TestFile } from './test-file.ts';
import type { RequestOutcome, TestGateway } from './test-gateway.ts';
import type { StatementError, TestSession } from './test-session.ts';

export interface TestResult {
  /** The path of the file. */
  readonly file: string;
  readonly name: string;
  readonly line: number;
  readonly milliseconds: number;
  /** Null: the test has succeeded. */
  readonly failure: TestFailure | null;
}

export interface TestFailure {
  /** The request or statement; null: the file or the connection. */
  readonly step: string | null;
  readonly failures: readonly Failure[];
}

/** What runs tests. */
export interface TestRunner {
  readonly gateway: TestGateway;
  readonly openSession: () => Promise<TestSession>;
  /** Null: policies are not measured. */
  readonly policies: PolicyProbe | null;
  /** Receives the endpoints that tests have called. */
  readonly reached: (endpoint: Endpoint) => void;
  readonly stopSignal: AbortSignal;
}

/** Runs a test in a transaction of its own, which is rolled back. The first step that fails ends it. */
export async function runTest(runner: TestRunner, file: TestFile, test: SqlTest): Promise<TestResult> {
  const begin = performance.now();
  const failure = await runSteps(runner, file, test).catch((error: unknown): TestFailure => {
    const { message } = error as Error;
    return { step: null, failures: [{ line: test.line, message, details: [] }] };
  });
  return { file: file.path, name: test.name, line: test.line, milliseconds: performance.now() - begin, failure };
}

async function runSteps(runner: TestRunner, file: TestFile, { steps }: SqlTest): Promise<TestFailure | null> {
  const { stopSignal } = runner;
  const session = await runner.openSession();
  const stop = (): void => void session.cancel();
  stopSignal.addEventListener('abort', stop, { once: true });
  try {
    await runner.policies?.prepare(session);
    runner.gateway.begin(session);
    const values = new Map<string, CapturedValue>();
    for (const step of steps) {
      const failures = await runStep(runner, { file, session, values }, step);
      if (stopSignal.aborted) throw new Error('the run was stopped');
      if (failures.length > 0) return { step: step.title, failures };
    }
    return null;
  } finally {
    stopSignal.removeEventListener('abort', stop);
    await session.close();
  }
}

interface StepContext {
  readonly file: TestFile;
  readonly session: TestSession;
  readonly values: Map<string, CapturedValue>;
}

function runStep(runner: TestRunner, context: StepContext, step: Step): Promise<readonly Failure[]> {
  return step.kind === 'request' ? runRequest(runner, context, step) : runStatement(context, step);
}

async function runStatement({ file, session, values }: StepContext, step: StatementStep): Promise<readonly Failure[]> {
  const parameters = step.names.map((name) => toParameter(values.get(name)!));
  const result = await session.run(step.sql, parameters);
  const failures = checkStatement(step, result, file);
  if (failures.length > 0 || 'code' in result) return failures;
  return captureRow(step, result, values);
}

async function runRequest(
  { gateway, policies, reached }: TestRunner,
  { session, values }: StepContext,
  step: RequestStep,
): Promise<readonly Failure[]> {
  const { line, method, identity } = step;
  const fill = isJson(step) ? fillJson : fillText;
  const send = async (): Promise<RequestOutcome> => {
    await policies?.beginRequest(session);
    return gateway.send({
      method,
      target: fillTarget(step.target, values),
      headers: step.headers.map(([name, value]) => [name, fillText(value, values)]),
      body: step.body === null ? null : fill(step.body, values),
      identity,
    });
  };
  const { product, refusedCommit } = await session.runRequest(send, ({ endpoint }) =>
    endpoint === null ? null : gateway.roleOf(identity),
  );
  await policies?.endRequest(session);
  const { response, endpoint, refusal } = product;
  if (endpoint !== null) reached(endpoint);
  if (refusal !== null) return [{ line, message: refusal, details: [] }];
  if (refusedCommit !== null) return [commitFailure(line, refusedCommit)];
  if (response === null)
    return [{ line, message: 'no endpoint has this path; pgway endpoints prints them', details: [] }];
  const failures = checkResponse(step, response, values);
  return failures.length > 0 ? failures : captureValues(step.captures, response, values);
}

function isJson({ headers }: RequestStep): boolean {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return type === undefined || /\bjson\b/i.test(type);
}

function commitFailure(line: number, { code, message, detail }: StatementError): Failure {
  return {
    line,
    message: `the request has succeeded, but its commit would fail: ${code}: ${message}`,
    details: detail === undefined ? [] : [detail],
  };
}
