import { ColumnMismatch, DatabaseError, type Diagnostics } from '../postgres/port.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Pipeline } from './pipeline.ts';

/** SQLSTATEs with which PostgreSQL refuses a statement whose names or types are gone. */
const goneStates: ReadonlySet<string> = new Set([
  '42703', // undefined_column
  '42883', // undefined_function
  '42P01', // undefined_table
  '42704', // undefined_object
  '42P10', // invalid_column_reference: fewer columns than the statement names
  '42809', // wrong_object_type: a procedure in place of a function
  '3F000', // invalid_schema_name
]);
/** `cached plan must not change result type` */
const featureNotSupported = '0A000';

/** An endpoint that is not what the database has: its routine or table was changed after the catalog was read. */
export type StaleError = ColumnMismatch | DatabaseError;

/** Reads the catalog again for an endpoint that is stale. Returns what is published then; null when it is the same as before. */
export type RefreshStaleEndpoint = (stale: Pipeline, endpoint: Endpoint, error: StaleError) => Promise<Pipeline | null>;

/** Whether the statement of the gateway, not one inside the routine's body, names what the database does not have. */
export function isStale(error: unknown): error is StaleError {
  if (error instanceof ColumnMismatch) return true;
  if (!(error instanceof DatabaseError) || error.phase === 'execute') return false;
  const { code, where, routine } = error.diagnostics;
  // Bodies of functions, and parameters that cannot be read, have a context.
  if (where !== undefined) return false;
  if (code === featureNotSupported) return routine === 'RevalidateCachedQuery';
  return goneStates.has(code) && (error.phase === 'parse' || isAboutStatement(error.diagnostics));
}

/** What a parameter of a type such as regclass refuses has no position in the statement. */
function isAboutStatement({ code, position }: Diagnostics): boolean {
  return position !== undefined || code === '42P10' || code === '42809';
}

/**
 * Whether the call may be made again. PostgreSQL has refused the statement before any of it ran; columns may have turned out to be
 * others after it ran. A transaction of the host's has failed with the statement, and a sign-in runs commands after its routine.
 */
export function canRetry(
  error: StaleError,
  { volatility, signIn }: Endpoint,
  { provideConnection: provide }: Pipeline,
): boolean {
  if (provide !== null || signIn !== null) return false;
  return error instanceof DatabaseError || volatility !== 'volatile';
}
