import { type Database, DatabaseError, type Value } from '../database/port.ts';
import type { EndpointParameter } from '../plan/endpoint.ts';
import type { Filled } from './fill.ts';

/**
 * Classes of errors with which a type's input function refuses a text: most use 22, domains 23; those that look names up
 * (regclass) or parse a language of their own (jsonpath, tsquery) use 42, which is elsewhere no fault of the client.
 */
const refusalClasses: ReadonlySet<string> = new Set(['22', '23', '42']);

/**
 * The parameter whose text PostgreSQL could not read; null when the error was about something else. PostgreSQL tells its
 * number in a context line from 14 on, in words of its own language; where it does not, each value is tried alone.
 */
export async function refusedParameter(
  error: unknown,
  call: Filled | null,
  database: Database,
): Promise<EndpointParameter | null> {
  if (call === null || !(error instanceof DatabaseError) || error.phase !== 'bind') return null;
  const routineStep = call.settings.length > 0 ? 1 : 0;
  if (error.step !== routineStep || !refusalClasses.has(error.diagnostics.code.slice(0, 2))) return null;
  const number = /\bparameter \$(\d+)/.exec(error.diagnostics.where ?? '')?.[1];
  return number === undefined ? tryEach(call, database) : (call.parameters[Number(number) - 1] ?? null);
}

async function tryEach({ parameters, values }: Filled, database: Database): Promise<EndpointParameter | null> {
  for (const [index, parameter] of parameters.entries()) {
    // One after the other: the first is the one that PostgreSQL stopped at.
    // oxlint-disable-next-line no-await-in-loop
    if (!(await isTaken(values[index]!, parameter, database))) return parameter;
  }
  return null;
}

async function isTaken(value: Value, { type }: EndpointParameter, database: Database): Promise<boolean> {
  if (value === null) return true;
  try {
    await database.query(`select $1::${type.sql}`, [value]);
    return true;
  } catch (error) {
    // The connection may have gone meanwhile: that says nothing of the value.
    return !(error instanceof DatabaseError);
  }
}
