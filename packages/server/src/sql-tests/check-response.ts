import { contains, differences, isEqual } from './compare.ts';
import { ExactNumber, parseExact, toJsonText } from './exact-json.ts';
import { type CapturedValue, type CapturedValues, fillJson, fillText } from './template.ts';
import type { Capture, Expectation, RequestStep } from './test-file.ts';
import type { TestResponse } from './test-gateway.ts';

/** Why a step has failed. */
export interface Failure {
  readonly line: number;
  /** Of the file, escaped nowhere. */
  readonly message: string;
  /** What explains it: differences, a body. */
  readonly details: readonly string[];
}

/** Characters of a body that a failure shows. */
const maxShownBody = 4_000;

/** Returns the expectations that a response does not meet. Without an expected status, the request has to succeed. */
export function checkResponse(
  { expectations, line }: Pick<RequestStep, 'expectations' | 'line'>,
  response: TestResponse,
  values: CapturedValues,
): readonly Failure[] {
  const decides = expectations.some(({ kind }) => kind === 'status' || kind === 'problem');
  const failures: Failure[] = [];
  if (!decides && response.status >= 400) failures.push({ line, ...statusFault('a success', response) });
  for (const expectation of expectations) {
    const failure = check(expectation, response, values);
    // After another failure, such as that of the status, the body says nothing new.
    if (failure !== null && !isOfBody(expectation, failures)) failures.push({ line: expectation.line, ...failure });
  }
  return failures;
}

function isOfBody({ kind }: Expectation, failures: readonly Failure[]): boolean {
  return failures.length > 0 && (kind === 'rows' || kind === 'body' || kind === 'contains' || kind === 'text');
}

type Fault = Omit<Failure, 'line'> | null;

function fault(message: string, details: readonly string[] = []): Fault {
  return { message, details };
}

/** The body of an error says why. */
function statusFault(expected: string, { status, body }: Pick<TestResponse, 'status' | 'body'>): NonNullable<Fault> {
  return { message: `expected ${expected}, got status ${status}`, details: showBody(body) };
}

function check(expectation: Expectation, { status, headers, body }: TestResponse, values: CapturedValues): Fault {
  switch (expectation.kind) {
    case 'status':
      return status === expectation.status ? null : statusFault(`status ${expectation.status}`, { status, body });
    case 'rows':
      return checkRows(expectation.count, body);
    case 'problem':
      return checkProblem(expectation.code, status, body);
    case 'header':
      return checkHeader(expectation.name, fillText(expectation.value, values), headers);
    case 'text':
      return body.trimEnd() === expectation.text.trimEnd()
        ? null
        : fault('the body is another one', showDifferences(expectation.text, body));
    case 'body':
    case 'contains':
      return checkJson(expectation.kind, fillJson(expectation.json, values), body);
    default:
      return null;
  }
}

function checkRows(count: number, body: string): Fault {
  const value = body === '' ? [] : parseExact(body);
  if (!Array.isArray(value)) return fault(`expected ${count} rows, but the body is not a JSON array`, showBody(body));
  return value.length === count ? null : fault(`expected ${count} rows, got ${value.length}`, showBody(body));
}

/** The code is the last part of `type` (RFC 9457), or the member `code`: of PostgreSQL, or of the dialect of PostgREST. */
function checkProblem(code: string, status: number, body: string): Fault {
  const { type, code: state } = (parseExact(body) ?? {}) as { readonly type?: unknown; readonly code?: unknown };
  const known = typeof type === 'string' ? type.slice(type.lastIndexOf(':') + 1) : null;
  if (status >= 400 && (known === code || state === code)) return null;
  return fault(
    `expected the problem ${code}, got ${known ?? (typeof state === 'string' ? state : `status ${status}`)}`,
  );
}

function checkHeader(name: string, expected: string, headers: Headers): Fault {
  const value = headers.get(name);
  if (value === expected) return null;
  return fault(`expected the header ${name}: ${expected}, got ${value === null ? 'none' : JSON.stringify(value)}`);
}

function checkJson(kind: 'body' | 'contains', json: string, body: string): Fault {
  const expected = parseExact(json);
  const value = parseExact(body);
  if (value === undefined) return fault('expected JSON, but the body is none', showBody(body));
  const isMet = kind === 'body' ? isEqual(value, expected) : contains(value, expected);
  if (isMet) return null;
  const message = kind === 'body' ? 'the body is another one' : 'the body does not contain the expected value';
  return fault(message, showDifferences(indented(expected), indented(value)));
}

/** Returns the captured values of a response; a failure for a path that leads to none. */
export function captureValues(
  captures: readonly Capture[],
  { body }: TestResponse,
  values: Map<string, CapturedValue>,
): readonly Failure[] {
  const json = parseExact(body);
  return captures.flatMap(({ line, name, path }) => {
    let value: unknown = json;
    for (const key of path ?? []) value = member(value, key);
    if (value === undefined)
      return [{ line, message: `the body has no value for ${name} at this path`, details: showBody(body) }];
    values.set(name, value as CapturedValue);
    return [];
  });
}

function member(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber || !Object.hasOwn(value, key))
    return undefined;
  return (value as Readonly<Record<string | number, unknown>>)[key];
}

function indented(value: unknown): string {
  return toJsonText(value, 2);
}

function showBody(body: string): readonly string[] {
  if (body === '') return ['(no body)'];
  const value = parseExact(body);
  return bound((value === undefined ? body : indented(value)).split('\n'));
}

function showDifferences(expected: string, actual: string): readonly string[] {
  return ['- expected', '+ actual', ...bound(differences(expected, actual))];
}

/** Returns the first lines of a long text. */
function bound(lines: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let length = 0;
  for (const line of lines) {
    const rest = maxShownBody - length;
    if (rest <= 0) return [...shown, '… (more is not shown)'];
    shown.push(line.length > rest ? `${line.slice(0, rest)}…` : line);
    length += line.length;
  }
  return shown;
}
