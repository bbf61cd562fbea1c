import { type Database, DatabaseError, type Value } from '../postgres/port.ts';
import type { Formula, ExecutableCall } from './build-query.ts';
import type { ValueSource } from '../ports/ports.ts';

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
  call: ExecutableCall | null,
  database: Database,
): Promise<ValueSource | null> {
  if (call === null || !(error instanceof DatabaseError) || error.phase !== 'bind') return null;
  const formula = formulaAt(call, error.step);
  if (formula === null || !refusalClasses.has(error.diagnostics.code.slice(0, 2))) return null;
  const number = /\bparameter \$(\d+)/.exec(error.diagnostics.where ?? '')?.[1];
  return number === undefined ? tryEach(formula, database) : (formula.owners[Number(number) - 1] ?? null);
}

/** The steps of a call stand in the order settings, head, statement; null for settings. */
function formulaAt(call: ExecutableCall, step: number | undefined): Formula | null {
  const formulas = [...(call.settings.length > 0 ? [null] : []), ...(call.head === null ? [] : [call.head]), call];
  return formulas[step ?? -1] ?? null;
}

async function tryEach({ owners, arguments: values }: Formula, database: Database): Promise<ValueSource | null> {
  for (const [index, owner] of owners.entries()) {
    // One after the other: the first is the one that PostgreSQL stopped at.
    // oxlint-disable-next-line no-await-in-loop
    if (owner !== null && !(await isTaken(values[index]!, owner, database))) return owner;
  }
  return null;
}

async function isTaken(value: Value, { type }: ValueSource, database: Database): Promise<boolean> {
  if (value === null) return true;
  try {
    await database.query(`select $1::${type.sql}`, [value]);
    return true;
  } catch (error) {
    // The connection may have gone meanwhile: that says nothing of the value.
    return !(error instanceof DatabaseError);
  }
}
