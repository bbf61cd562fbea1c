import { ColumnMismatch, DatabaseError, type Diagnostics, RoutineChanged } from '../postgres/port.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { ExecutableCall } from './build-query.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import { CommandCallbackError } from './hooks.ts';
import type { RequestInput } from '../ports/request-input.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { Caller } from '../ports/ports.ts';

/** SQLSTATEs of statements that name a dropped or changed object or type (PostgreSQL manual, appendix A). */
const changedObjectStates: ReadonlySet<string> = new Set([
  '42703', // undefined_column
  '42702', // ambiguous_column: a new one has the name that the statement gives another one
  '42883', // undefined_function
  '42P01', // undefined_table
  '42704', // undefined_object
  '42P10', // invalid_column_reference: fewer columns than the statement names
  '42804', // datatype_mismatch
  '42846', // cannot_coerce
  '42809', // wrong_object_type: a procedure in place of a function
  '3F000', // invalid_schema_name
]);
/** `cached plan must not change result type` */
const featureNotSupported = '0A000';
const internalError = 'XX000';

/** The routine or table of the endpoint was changed or dropped after the catalog was read. */
export type StaleError = ColumnMismatch | RoutineChanged | DatabaseError;

/** Reads the catalog again. Resolves to the new pipeline, or to null when nothing has changed. */
export type RefreshStaleEndpoint = (
  stale: RequestPipeline,
  endpoint: Endpoint,
  error: StaleError,
) => Promise<RequestPipeline | null>;

/** Whether the gateway's own statement names a dropped object; errors inside the routine's body do not count. */
export function isStale(error: unknown): error is StaleError {
  if (error instanceof ColumnMismatch || error instanceof RoutineChanged) return true;
  if (!(error instanceof DatabaseError) || error.phase === 'execute') return false;
  const { code, where, routine, message } = error.diagnostics;
  // PostgreSQL adds a context to errors in function bodies and in parameter values.
  if (where !== undefined) return false;
  // An internal error, which is not translated.
  if (code === internalError) return message.startsWith('cache lookup failed for type');
  if (code === featureNotSupported) return routine === 'RevalidateCachedQuery';
  return changedObjectStates.has(code) && (error.phase === 'parse' || isAboutStatement(error.diagnostics));
}

/** Whether the error has a position in the statement: an unknown name in a `regclass` value has none. */
function isAboutStatement({ code, position }: Diagnostics): boolean {
  return position !== undefined || code === '42P10' || code === '42809';
}

/** How often a request runs again: each migration during its attempts may take one. */
export const maxStaleRepetitions = 5;

/**
 * The refreshed pipeline for another attempt; null when the endpoint is not stale or must not run again.
 */
export async function pipelineForRetry(
  {
    error,
    call,
    pipeline,
  }: { readonly error: unknown; readonly call: ExecutableCall | null; readonly pipeline: RequestPipeline },
  refreshStale: RefreshStaleEndpoint,
): Promise<RequestPipeline | null> {
  if (call === null || !isStale(error)) return null;
  const { endpoint } = call.candidate;
  const refreshed = await refreshStale(pipeline, endpoint, error);
  if (!canRetry(error, endpoint, pipeline)) return null;
  return refreshed ?? (error instanceof RoutineChanged && error.mayBeSame ? pipeline : null);
}

/**
 * Whether a second call is possible, and has no side effects of the first. The body of an upload cannot be read again. A `DatabaseError`
 * here means that the statement did not run; a column mismatch may show only after it ran. The transaction of a host's connection has
 * failed, and a login runs more commands.
 */
function canRetry(
  error: StaleError,
  { volatility, loginOrLogout, upload }: Endpoint,
  { provideConnection }: RequestPipeline,
): boolean {
  if (provideConnection !== null || loginOrLogout !== null || upload !== null) return false;
  return volatility !== 'volatile' || !(error instanceof ColumnMismatch && error.hasRun);
}

/** The error of a stage, with the products of the stages before it. */
export interface FailedAttempt {
  readonly error: unknown;
  /** The pipeline that the attempt ran with: a refresh may have replaced it since. */
  readonly pipeline: RequestPipeline;
  readonly targets: readonly CompiledEndpoint[];
  readonly call: ExecutableCall | null;
  readonly caller: Caller | null;
  readonly input: RequestInput | null;
  /** Whether nothing has run that a second attempt would repeat. */
  readonly mayRepeat: boolean;
}

/** Separates an error of `commandCallback` from errors of the call. */
export function toFailedAttempt(error: unknown, attempt: Omit<FailedAttempt, 'error' | 'mayRepeat'>): FailedAttempt {
  const { call } = attempt;
  if (!(error instanceof CommandCallbackError) || call === null)
    return { ...attempt, error: call?.toError ? call.toError(error) : error, mayRepeat: true };
  const { cause, isOfQuery } = error;
  // A call explains the errors of its own statements only.
  const explained = isOfQuery ? null : call;
  return { ...attempt, error: cause, targets: [call.candidate], call: explained, mayRepeat: false };
}
