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
  /** A transaction is open before the call: no other can be begun for it, and no procedure can end it. */
  readonly open?: boolean;
}

/** A connection that is ours alone. */
export const own: Manner = { unnamed: false, everyCall: null, lent: false };

const begin: Step = { statement: { name: 'pgway_begin', sql: 'begin' }, values: [] };
const commit: Step = { statement: { name: 'pgway_commit', sql: 'commit' }, values: [] };

/** The call as the connection wants it; `atomic` no longer where the transaction is the host's. */
export function inManner(call: Call, { unnamed, everyCall, open = false }: Manner): Call {
  const settings = everyCall === null ? [] : [settingsStep(everyCall)];
  const accompanied = settings.length + call.steps.length > 1;
  const atomic = call.atomic === true && accompanied && !open;
  if (!unnamed && settings.length === 0 && !atomic) return call;
  const before = atomic ? [begin, ...settings] : settings;
  const steps = [...before, ...call.steps, ...(atomic ? [commit] : [])];
  return {
    ...call,
    atomic,
    mayShare: call.mayShare && !atomic,
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
