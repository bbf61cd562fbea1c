import { faultAt } from '@pgway/core/internal';
import type { Failure } from './check-response.ts';
import type { CapturedValue } from './template.ts';
import type { Expectation, StatementStep, TestFile } from './test-file.ts';
import type { StatementError, StatementRows } from './test-session.ts';

/** OID of the type `boolean`. */
const booleanOid = 16;
const maxShownRows = 20;

/**
 * Returns the expectations that the result of a statement does not meet. Without any, an error is a failure, and so is a query of one
 * boolean column unless it returns one row with true.
 */
export function checkStatement(
  step: StatementStep,
  result: StatementRows | StatementError,
  { text }: TestFile,
): readonly Failure[] {
  const expectedError = step.expectations.find(({ kind }) => kind === 'error');
  if ('code' in result) {
    if (expectedError?.kind === 'error' && expectedError.code === result.code) return [];
    const expected = expectedError?.kind === 'error' ? `expected the error ${expectedError.code}, got ` : '';
    return [errorFailure(step, result, { text, expected })];
  }
  const expectations = step.expectations.length > 0 ? step.expectations : implied(step, result);
  return expectations.flatMap((expectation) => {
    const message = check(expectation, result);
    return message === null ? [] : [{ line: expectation.line, message, details: showRows(result) }];
  });
}

function implied({ line, captures }: StatementStep, { columns }: StatementRows): readonly Expectation[] {
  const isAssertion = columns.length === 1 && columns[0]!.type === booleanOid && captures.length === 0;
  return isAssertion ? [{ line, kind: 'true' }] : [];
}

function check(expectation: Expectation, { rows, columns, count }: StatementRows): string | null {
  switch (expectation.kind) {
    case 'true':
      if (rows.length === 1 && columns.length === 1 && rows[0]![0] === 't' && columns[0]!.type === booleanOid)
        return null;
      return 'expected one row with true';
    case 'rows': {
      const number = columns.length > 0 ? rows.length : count;
      return number === expectation.count ? null : `expected ${expectation.count} rows, got ${number}`;
    }
    case 'error':
      return `expected the error ${expectation.code}, but the statement has succeeded`;
    default:
      return null;
  }
}

function errorFailure(
  { line, start }: StatementStep,
  { code, message, detail, hint, position }: StatementError,
  { text, expected }: { readonly text: string; readonly expected: string },
): Failure {
  const whole = `${expected}${code}: ${message}${hint === undefined ? '' : ` (${hint})`}`;
  const details = detail === undefined ? [] : [detail];
  if (position === undefined) return { line, message: whole, details };
  const fault = faultAt(text, start + codeUnits(text.slice(start), position - 1), 'test', whole);
  const [first = '', ...caret] = fault.message.split('\n');
  return { line: fault.line ?? line, message: first, details: [...caret.map((shown) => shown.slice(2)), ...details] };
}

/** Returns the length in code units of the first characters of a text: PostgreSQL counts characters. */
function codeUnits(text: string, characters: number): number {
  let length = 0;
  let left = characters;
  for (const character of text) {
    if (left-- <= 0) break;
    length += character.length;
  }
  return length;
}

/** Captures the value of a statement that returns one. */
export function captureRow(
  { captures }: StatementStep,
  result: StatementRows,
  values: Map<string, CapturedValue>,
): readonly Failure[] {
  const [row] = result.rows;
  return captures.flatMap(({ line, name }) => {
    if (result.rows.length !== 1 || row?.length !== 1)
      return [{ line, message: `${name} needs one row with one column`, details: showRows(result) }];
    values.set(name, toValue(row[0]!, result.columns[0]!.type));
    return [];
  });
}

/** OIDs of the types whose values are numbers in JSON: `int2`, `int4`. */
const numberOids: ReadonlySet<number> = new Set([21, 23]);

function toValue(text: string | null, type: number): CapturedValue {
  if (text === null) return null;
  if (type === booleanOid) return text === 't';
  return numberOids.has(type) || (type === 20 && Number.isSafeInteger(Number(text))) ? Number(text) : text;
}

function showRows({ rows, columns, count }: StatementRows): readonly string[] {
  if (columns.length === 0) return [`rows changed: ${count}`];
  const shown = rows.slice(0, maxShownRows).map((row) => row.map((value) => value ?? 'null').join(' | '));
  const more = rows.length > maxShownRows ? [`… (${rows.length} rows)`] : [];
  return [columns.map(({ name }) => name).join(' | '), ...(rows.length === 0 ? ['(no rows)'] : shown), ...more];
}
