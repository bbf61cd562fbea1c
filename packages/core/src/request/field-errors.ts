import type { Diagnostics } from '../postgres/port.ts';
import type { Constraint, Constraints } from '../catalog/constraint.ts';
import { Problem } from '../http/problem.ts';
import type { Endpoint, FieldErrorCode } from '../endpoints/endpoint.ts';
import type { ExecutableCall } from './build-query.ts';
import { findPointers, keyToPointer } from './field-pointers.ts';
import { InvalidValues } from './bind/invalid-values.ts';
import type { RequestInput } from '../ports/request-input.ts';

/** An item of the member `errors` of a problem (RFC 9457, section 3). */
export interface FieldError {
  /** The JSON Pointer of the refused parameter (RFC 6901); empty: the request as a whole. */
  readonly pointer: string;
  readonly code: FieldErrorCode;
  readonly detail: string;
}

export interface FieldErrorContext {
  readonly endpoint: Endpoint;
  readonly call: ExecutableCall | null;
  readonly input: RequestInput | null;
  readonly constraints: Constraints;
  /** The fields of the error that the problem is made from; null: the error is not of the database. */
  readonly diagnostics: Diagnostics | null;
  /** Whether details may quote PostgreSQL's messages. Without it they are the comments of constraints, or texts of the gateway. */
  readonly showDatabaseMessage: boolean;
}

/** Adds the member `errors` to a problem about parameters, and sets the status that its endpoint wants for these. */
export function withFieldErrors(problem: Problem, context: FieldErrorContext): Problem {
  const { fieldErrors } = context.endpoint;
  if (fieldErrors === undefined || problem.members['errors'] !== undefined) return problem;
  const errors = listFieldErrors(problem, context);
  if (errors.length === 0) return problem;
  const { code, type, title, detail, members, headers, cause } = problem;
  const status = fieldErrors.status ?? problem.status;
  return new Problem(code, {
    type,
    title,
    status,
    ...(detail === undefined ? {} : { detail }),
    members: { ...members, errors },
    headers,
    cause,
  });
}

function listFieldErrors(problem: Problem, context: FieldErrorContext): readonly FieldError[] {
  const { diagnostics } = context;
  if (diagnostics === null) return requestErrors(problem, context);
  const parameters = keysOf(problem, 'parameters');
  const constraint = findConstraint(diagnostics, context.constraints);
  const code = databaseCode(diagnostics.code);
  const pointers =
    parameters.length > 0
      ? parameters.map((key) => keyToPointer(key, context.endpoint))
      : findViolatedPointers(diagnostics, constraint, context);
  const detail = databaseDetail(code, diagnostics, { problem, pointers, constraint, context });
  return pointers.map((pointer) => ({ pointer, code, detail }));
}

/** The errors of a problem that names keys of the request. */
function requestErrors(problem: Problem, { endpoint }: FieldErrorContext): readonly FieldError[] {
  if (problem instanceof InvalidValues)
    return problem.values.map(({ key, ...error }) => ({ pointer: keyToPointer(key, endpoint), ...error }));
  const { code, detail, title } = problem;
  const toErrors = (member: string, error: Pick<FieldError, 'code' | 'detail'>): readonly FieldError[] =>
    keysOf(problem, member).map((key) => ({ pointer: keyToPointer(key, endpoint), ...error }));
  return [
    ...toErrors('missing', { code: 'required', detail: 'A value is required.' }),
    ...toErrors('unknown', { code: 'unknown', detail: 'The endpoint has no such parameter.' }),
    ...toErrors('parameters', {
      code: code === 'repeated-parameter' ? 'repeated' : 'invalid',
      detail: detail ?? title,
    }),
  ];
}

function keysOf({ members }: Problem, member: string): readonly string[] {
  const keys = members[member];
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
}

const codes: Readonly<Record<string, FieldErrorCode>> = {
  '23505': 'unique',
  '23503': 'foreign-key',
  '23001': 'foreign-key',
  '23514': 'check',
  '23502': 'not-null',
  '23P01': 'exclusion',
  '22001': 'too-long',
  '22003': 'out-of-range',
};

const databaseCode = (sqlstate: string): FieldErrorCode => codes[sqlstate] ?? 'invalid';

function findConstraint(
  { code, schema, table, dataType, constraint, column }: Diagnostics,
  constraints: Constraints,
): Constraint | null {
  if (schema === undefined) return null;
  if (constraint !== undefined) return constraints.get(`${schema}.${table ?? dataType ?? ''}.${constraint}`) ?? null;
  const isNotNull = code === '23502' && column !== undefined;
  return isNotNull ? (constraints.get(`${schema}.${table ?? ''}..${column}`) ?? null) : null;
}

/** An error of RAISE, whose fields the routine sets. */
const isRaised = ({ routine }: Diagnostics): boolean => routine === 'exec_stmt_raise';

/** Returns no pointer for an error that is about no field. */
function findViolatedPointers(
  diagnostics: Diagnostics,
  constraint: Constraint | null,
  { endpoint, call, input }: FieldErrorContext,
): readonly string[] {
  const { column, constraint: name, dataType, code } = diagnostics;
  if (isRaised(diagnostics) && column?.startsWith('/') === true) return [column];
  if (code === '22001' && column === undefined) return findTooLong(call);
  if (column === undefined && name === undefined && dataType === undefined) return [];
  const found = findPointers(listColumns(column, constraint), endpoint, input);
  if (found.length > 0) return found;
  const guessed =
    dataType === undefined ? findByConstraintName(diagnostics, { endpoint, input }) : findByType(diagnostics, endpoint);
  // The constraint is about columns that the request does not have.
  return guessed.length > 0 ? guessed : [''];
}

/** The fields of the constraint's comment, or else the column of the error, or else all columns of the constraint. */
function listColumns(column: string | undefined, constraint: Constraint | null): readonly string[] {
  if (constraint !== null && constraint.fields.length > 0) return constraint.fields;
  return column === undefined ? (constraint?.columns ?? []) : [column];
}

/** PostgreSQL's names of constraints: `<table>_<columns>_<suffix>`. */
const defaultName = /^(.+)_(?:key|fkey|check|excl|idx|not_null)\d*$/;

/** Finds the column in the name of a constraint that was created after the start. */
function findByConstraintName(
  { constraint = '', table = '' }: Diagnostics,
  { endpoint, input }: Pick<FieldErrorContext, 'endpoint' | 'input'>,
): readonly string[] {
  const name = defaultName.exec(constraint)?.[1];
  if (name === undefined || !name.startsWith(`${table}_`)) return [];
  return findPointers([name.slice(table.length + 1)], endpoint, input);
}

/** Finds the only parameter of a domain that has refused its value. */
function findByType({ schema, dataType }: Diagnostics, { parameters }: Endpoint): readonly string[] {
  if (dataType === undefined) return [];
  const sql = [schema ?? '', dataType].map((name) => `"${name.replaceAll('"', '""')}"`).join('.');
  const found = parameters.filter(({ type }) => type.sql === sql);
  return found.length === 1 ? [keyToPointer(found[0]!.key, { parameters: found })] : [];
}

const limitedText = /^(?:character varying|character|bit varying|bit)\((\d+)\)$/;

/** Finds the values that are longer than their columns: PostgreSQL does not name these. */
function findTooLong(call: ExecutableCall | null): readonly string[] {
  if (call === null || call.candidate.endpoint.table === null) return [];
  return call.valueSources.flatMap((source, index) => {
    const value = call.arguments[index];
    const limit = source === null ? null : limitedText.exec(source.type.display);
    if (source === null || limit === null || typeof value !== 'string') return [];
    return Array.from(value.trimEnd()).length > Number(limit[1])
      ? [keyToPointer(source.key, { parameters: [source] })]
      : [];
  });
}

interface DetailContext {
  readonly problem: Problem;
  readonly pointers: readonly string[];
  readonly constraint: Constraint | null;
  readonly context: FieldErrorContext;
}

function databaseDetail(
  code: FieldErrorCode,
  diagnostics: Diagnostics,
  { problem, pointers, constraint, context: { showDatabaseMessage } }: DetailContext,
): string {
  if (showDatabaseMessage && isRaised(diagnostics)) return diagnostics.message;
  if (constraint !== null && constraint.message !== null) return constraint.message;
  if (showDatabaseMessage && code === 'invalid') return problem.detail ?? problem.title;
  if (code === 'unique' && pointers.length > 1) return 'This combination of values is already in use.';
  return code === 'foreign-key' ? foreignKeyDetail(diagnostics) : (details[code] ?? 'This value is not valid.');
}

const details: Readonly<Partial<Record<FieldErrorCode, string>>> = {
  unique: 'This value is already in use.',
  check: 'This value is not allowed.',
  'not-null': 'A value is required.',
  exclusion: 'This value conflicts with an existing one.',
  'too-long': 'This value is too long.',
  'out-of-range': 'This value is out of range.',
};

/** The SQLSTATE is the same in both directions; only PostgreSQL's detail, which may be translated, distinguishes them. */
function foreignKeyDetail({ code, detail = '' }: Diagnostics): string {
  if (code === '23001' || detail.includes('is still referenced')) return 'Other records still refer to this one.';
  return detail.includes('is not present')
    ? 'This value refers to a record that does not exist.'
    : 'This reference is not valid.';
}
