import { type Call, DatabaseError, type Statement, type Step } from './port.ts';
import { settingsStatement, type Settings } from './settings.ts';

/** How a connection has to be spoken to. */
export interface Manner {
  /** Statements keep no name on the connection: behind a pooler that does not know them, or on one that is lent. */
  readonly unnamed: boolean;
  /** Transaction-local settings that every call brings along, because the connection cannot hold any. */
  readonly everyCall: Settings | null;
  /** The connection is lent: what it tells besides the answers to our calls is passed on, and a transaction may be open. */
  readonly lent: boolean;
}

/** A connection that is ours alone. */
export const own: Manner = { unnamed: false, everyCall: null, lent: false };

/** The call as the connection wants it. */
export function inManner(call: Call, { unnamed, everyCall }: Manner): Call {
  if (!unnamed && everyCall === null) return call;
  const before: readonly Step[] = everyCall === null ? [] : [settingsStep(everyCall)];
  const steps = [...before, ...call.steps];
  return {
    ...call,
    steps: unnamed ? steps.map((step) => ({ ...step, statement: withoutName(step.statement) })) : steps,
    failed: (error) => call.failed(stepsBack(error, before.length)),
  };
}

function settingsStep(settings: Settings): Step {
  return { statement: settingsStatement(Object.keys(settings).length), values: Object.entries(settings).flat() };
}

function withoutName(statement: Statement): Statement {
  return statement.name === '' ? statement : { ...statement, name: '' };
}

/** Callers count their own steps. */
function stepsBack(error: Error, count: number): Error {
  if (count === 0 || !(error instanceof DatabaseError)) return error;
  return new DatabaseError(error.diagnostics, error.step - count, error.phase);
}
