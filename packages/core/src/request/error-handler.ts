import { CallCancelled, type Database, DatabaseError, readOnlySqlTransaction, type Value } from '../postgres/port.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { selectDatabase, selectRole } from './call-connection.ts';
import { statementOf } from './call-steps.ts';
import {
  isMissingPrivilege,
  isPolicyViolation,
  isSetRoleRefused,
  policyHint,
  privilegeHint,
  setRoleHint,
} from './privilege-hint.ts';
import type { Constraints } from '../catalog/constraint.ts';
import { withFieldErrors } from './field-errors.ts';
import type { RequestInput } from '../ports/request-input.ts';
import type { Problem } from '../http/problem.ts';
import { type ProblemContext, toProblem } from './to-problem.ts';
import type { ExecutableCall, BoundStatement } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { RequestPipeline } from './pipeline.ts';
import { problemResponse, type ProblemOptions } from './problem-response.ts';
import { isStale } from './stale-endpoint.ts';
import { batchStatuses, loginStatuses } from './sqlstate.ts';
import type { Caller, ValueSource } from '../ports/ports.ts';
import { toError } from '../to-error.ts';

/** The endpoints of the request's route, and the call if one was built. */
interface FailedRequest {
  /** Null when the error came before the parameters, or a stage of another kind has failed. */
  readonly input: RequestInput | null;
  readonly call: ExecutableCall | null;
  readonly targets: readonly (Pick<CompiledEndpoint, 'endpoint'> & Partial<Pick<CompiledEndpoint, 'dialect'>>)[];
  /** A JSON pointer to the request within a batch; null: none of them has failed by itself. Absent: the request came alone. */
  readonly pointer?: string | null;
  /** Null or absent: anonymous, or unknown yet. */
  readonly caller?: Caller | null;
}

/** Turns the error of a stage into the response, and reports it to the observer. */
export async function handleError(
  error: unknown,
  request: GatewayRequest,
  failed: FailedRequest,
  pipeline: RequestPipeline,
): Promise<GatewayResponse> {
  const { problemOptions, observe } = pipeline;
  // The client has disconnected: the response reaches only the host's own logging (499, as nginx has it).
  if (error instanceof CallCancelled) return { kind: 'whole', status: 499, headers: [], body: null };
  const endpoint = findEndpoint(failed);
  const database = endpoint === null ? pipeline.database : selectDatabase(pipeline, endpoint);
  const invalidParameter = isStale(error) ? null : await findInvalidParameter(error, failed.call, database);
  const general = toProblem(error, { ...problemContext(endpoint, failed, pipeline), invalidParameter });
  const ownProblem =
    endpoint?.fieldErrors === undefined ? general : addFieldErrors(general, error, { ...failed, endpoint, pipeline });
  const hint =
    findReadOnlyHint(error, failed.call) ??
    findLimitHint(general, failed, problemOptions) ??
    (await findPrivilegeHint(error, failed.call, { database, pipeline }));
  const problem = addMembers(ownProblem, { hint, pointer: failed.pointer ?? null });
  const correlationId = problem.status >= 500 || !problemOptions.showDatabaseMessage ? request.id : null;
  const cause = toError(error);
  observe({ kind: 'request-failed', request, endpoint, status: problem.status, correlationId, error: cause });
  return problemResponse(problem, correlationId, selectFormat(failed, problemOptions));
}

/** Returns the problem with those of the members that are not null. */
function addMembers(problem: Problem, members: Readonly<Record<string, string | null>>): Problem {
  const present = Object.entries(members).filter(([, value]) => value !== null);
  return present.length === 0 ? problem : problem.withMembers(Object.fromEntries(present));
}

/** Returns why a query that only reads, by the volatility of its functions, cannot write; null for other errors. */
function findReadOnlyHint(error: unknown, call: ExecutableCall | null): string | null {
  if (call?.isReadOnly !== true || !(error instanceof DatabaseError)) return null;
  if (error.diagnostics.code !== readOnlySqlTransaction) return null;
  return 'The SQL file only reads, by its text and by those of the functions, views and policies that it uses, so that its transaction is read-only. Declare the function that writes as volatile.';
}

/** Returns the options that set the limit of a body, during development; null for other errors. */
function findLimitHint(
  { code }: Problem,
  { targets }: FailedRequest,
  { explainsSetup }: RequestPipeline['problemOptions'],
): string | null {
  const [target] = targets;
  if (code !== 'body-too-large' || !explainsSetup || target === undefined || (target.dialect ?? null) !== null)
    return null;
  return target.endpoint.upload === null
    ? 'The option maxBodySize sets the limit; it is gateway.maxBodySize in pgway.json.'
    : 'The options maxFileSize, maxTotalSize and maxFiles of uploadOptions set the limits.';
}

/** Returns which role lacks which privilege, or what a policy refuses, during development; null for other errors. */
async function findPrivilegeHint(
  error: unknown,
  call: ExecutableCall | null,
  { database, pipeline }: { readonly database: Database; readonly pipeline: RequestPipeline },
): Promise<string | null> {
  if (!pipeline.problemOptions.explainsSetup || call === null || !(error instanceof DatabaseError)) return null;
  // Errors of a dialect have the hints of PostgreSQL only, as its clients expect.
  if (call.candidate.dialect !== null) return null;
  if (isPolicyViolation(error.diagnostics)) return policyHint(error.diagnostics);
  const isOfRole = isSetRoleRefused(error.diagnostics) || isMissingPrivilege(error.diagnostics);
  if (!isOfRole) return null;
  try {
    return await findRoleHint(error.diagnostics, selectRole(pipeline, call) ?? null, database);
  } catch {
    // The hint is for the developer: without a connection, the error goes out as it is.
    return null;
  }
}

/** @param role the role of the call; null: that of the connection */
async function findRoleHint(
  diagnostics: DatabaseError['diagnostics'],
  role: string | null,
  database: Database,
): Promise<string> {
  const isRefused = role !== null && isSetRoleRefused(diagnostics);
  if (role !== null && !isRefused) return privilegeHint(diagnostics, role);
  const [sessionUser, currentUser] = (await database.query('select session_user, current_user', []))[0]!;
  return isRefused ? setRoleHint(role, sessionUser!) : privilegeHint(diagnostics, currentUser!);
}

/** All endpoints of a path have one dialect. */
function selectFormat({ targets }: Pick<FailedRequest, 'targets'>, options: ProblemOptions): ProblemOptions {
  const dialect = targets[0]?.dialect ?? null;
  return dialect === null ? options : { ...options, format: dialect.formatProblem };
}

/** Adds the parameters that the database or the gateway has refused. */
function addFieldErrors(
  problem: Problem,
  error: unknown,
  {
    endpoint,
    pipeline,
    call,
    input,
  }: FailedRequest & { readonly endpoint: Endpoint; readonly pipeline: RequestPipeline },
): Problem {
  const { constraints, logicalNames, problemOptions } = pipeline;
  const { connection } = endpoint;
  const toLogicalNames = logicalNames.get(connection);
  const diagnostics = error instanceof DatabaseError ? error.diagnostics : null;
  return withFieldErrors(problem, {
    endpoint,
    call,
    input,
    constraints: constraints.get(connection) ?? noConstraints,
    diagnostics: diagnostics === null || toLogicalNames === undefined ? diagnostics : toLogicalNames(diagnostics),
    showDatabaseMessage: problemOptions.showDatabaseMessage,
  });
}

const noConstraints: Constraints = new Map();

function problemContext(
  endpoint: Endpoint | null,
  failed: FailedRequest,
  { problemOptions: { mappedCodes, showRowDetails }, logicalNames, databaseRole }: RequestPipeline,
): Omit<ProblemContext, 'invalidParameter'> {
  return {
    statuses: selectStatuses(endpoint, failed, { mappedCodes, databaseRole }),
    constraintMessages: endpoint?.constraintMessages ?? {},
    showRowDetails,
    toLogicalNames: logicalNames.get(endpoint?.connection ?? null) ?? null,
  };
}

function selectStatuses(
  endpoint: Endpoint | null,
  { call, caller = null, pointer, targets }: FailedRequest,
  {
    mappedCodes,
    databaseRole,
  }: Pick<RequestPipeline, 'databaseRole'> & Pick<RequestPipeline['problemOptions'], 'mappedCodes'>,
): ProblemContext['statuses'] {
  if (pointer !== undefined) return batchStatuses(mappedCodes);
  const dialect = endpoint === null ? null : targets[0]?.dialect;
  if (dialect) {
    const role = call === null ? undefined : selectRole({ databaseRole }, call);
    // A token without a role has that of anonymous callers.
    const isAnonymous = caller === null || (databaseRole !== null && role === databaseRole.anonymous);
    return dialect.statuses(mappedCodes, isAnonymous);
  }
  return endpoint?.loginOrLogout?.kind === 'login' ? loginStatuses(mappedCodes) : mappedCodes;
}

/** The endpoint that the request called; null while there are several overloads to select from. */
export function findEndpoint({ call, targets }: Omit<FailedRequest, 'input'>): Endpoint | null {
  const [candidate = null] = call !== null ? [call.candidate] : targets.length === 1 ? targets : [];
  return candidate?.endpoint ?? null;
}

/**
 * Classes of SQLSTATEs with which an input function refuses a value: 22 for most types, 23 for domains, and 42 for types that
 * look up names (`regclass`) or parse a language (`jsonpath`, `tsquery`).
 */
const invalidValueClasses: ReadonlySet<string> = new Set(['22', '23', '42']);

/**
 * The parameter whose value PostgreSQL refused; null for any other error. From version 14 on, PostgreSQL gives its number in a
 * context line. When the line is missing or translated, each value is tried in a query of its own.
 */
async function findInvalidParameter(
  error: unknown,
  call: ExecutableCall | null,
  database: Database,
): Promise<ValueSource | null> {
  if (call === null || !(error instanceof DatabaseError) || error.phase !== 'bind') return null;
  const statement = statementOf(call, error.label);
  if (statement === null || !invalidValueClasses.has(error.diagnostics.code.slice(0, 2))) return null;
  const number = /\bparameter \$(\d+)/.exec(error.diagnostics.where ?? '')?.[1];
  return number === undefined
    ? tryEachValue(statement, database)
    : (statement.valueSources[Number(number) - 1] ?? null);
}

async function tryEachValue(
  { valueSources, arguments: values }: BoundStatement,
  database: Database,
): Promise<ValueSource | null> {
  for (const [index, source] of valueSources.entries()) {
    // In order: PostgreSQL stopped at the first invalid value.
    if (source !== null && !(await isValid(values[index]!, source, database))) return source;
  }
  return null;
}

async function isValid(value: Value, { type }: ValueSource, database: Database): Promise<boolean> {
  if (value === null) return true;
  try {
    await database.query(`select $1::${type.sql}`, [value]);
    return true;
  } catch (error) {
    // A lost connection says nothing about the value.
    return !(error instanceof DatabaseError);
  }
}
