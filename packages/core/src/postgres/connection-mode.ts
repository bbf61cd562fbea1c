import type { Call, Statement, Step } from './port.ts';
import { setConfigStatement, type Settings } from './settings.ts';

/** How a connection has to be spoken to. */
export interface ConnectionMode {
  /** Statements keep no name on the connection: behind a pooler that does not know them, or on one that is lent. */
  readonly unnamed: boolean;
  /** Transaction-local settings that every call brings along, because the connection cannot hold any. */
  readonly settingsPerCall: Settings | null;
  /** Every call gets the default `statement_timeout` where the server has none. */
  readonly setsDefaultTimeout?: boolean;
  /** The connection is lent: what it tells besides the answers to our calls is passed on, and a transaction may be open. */
  readonly isProvided: boolean;
  /** A transaction is open before the call: no other can be begun for it, and no procedure can end it. */
  readonly inTransaction?: boolean;
  /**
   * How a session is reset after a call that may have altered it: `discard` by `DISCARD ALL` and the settings that it began with;
   * `close` where its beginning is not known; `inTransaction` behind a pooler, which gives the session to others right after it; `none`
   * where the session is the host's.
   */
  readonly reset: 'discard' | 'close' | 'inTransaction' | 'none';
}

/** A connection that is ours alone. */
export const dedicatedConnection: ConnectionMode = {
  unnamed: false,
  settingsPerCall: null,
  isProvided: false,
  reset: 'discard',
};

/** The steps of a call as its connection wants them. */
export interface CallSteps {
  readonly steps: readonly Step[];
  /** How many of them stand before the call's own. */
  readonly leadingSteps: number;
  /** Whether a transaction was begun for the call. */
  readonly begun: boolean;
}

const begin: Step = { statement: { name: 'pgway_begin', sql: 'begin' }, values: [] };
const commit: Step = { statement: { name: 'pgway_commit', sql: 'commit' }, values: [] };
/** Ends the transaction that was begun for a call which has failed. */
export const rollback: Step = { statement: { name: '', sql: 'rollback' }, values: [] };
/** Whatever role a session was left in: this is the one that it began with. */
const resetRole: Step = { statement: { name: 'pgway_reset_role', sql: 'reset role' }, values: [] };
/**
 * PostgreSQL keeps plans for a session, not for a role: also those that routines have made of their own statements. In them the right
 * to use a schema was checked when they were parsed, and to call an inlined or constant function when they were planned.
 */
const discardPlans: Step = { statement: { name: 'pgway_discard_plans', sql: 'discard plans' }, values: [] };

/**
 * What `DISCARD ALL` does, as far as a transaction can do it. Prepared statements stay, as a pooler counts on its own; a routine
 * can make some only by dynamic SQL.
 */
const resetInTransaction: readonly Step[] = [
  'close all',
  'unlisten *',
  'select pg_catalog.pg_advisory_unlock_all()',
  'discard temp',
  'discard sequences',
  'reset session authorization',
  'reset role',
  'reset all',
].map((sql) => ({ statement: { name: '', sql }, values: [] }));

/**
 * The call's steps; null when they are as they should be, as most are.
 * @param switchesRole the plans of the session may have been made for another role
 */
export function adaptCall(call: Call, manner: ConnectionMode, switchesRole: boolean): CallSteps | null {
  if (isPlain(call, manner) && !switchesRole) return null;
  const before = stepsBefore(call, manner, switchesRole);
  const after = call.altersSession === true && manner.reset === 'inTransaction' ? resetInTransaction : [];
  const accompanied = before.length + call.steps.length + after.length > 1;
  const begun = call.atomic === true && accompanied && manner.inTransaction !== true;
  const steps = [...(begun ? [begin] : []), ...before, ...call.steps, ...after, ...(begun ? [commit] : [])];
  return {
    steps: keepsNames(call, manner) ? steps : unnamed(steps),
    leadingSteps: before.length + (begun ? 1 : 0),
    begun,
  };
}

/** A pooler may serve all callers with one statement of a text, parsed for another role. */
function keepsNames({ role }: Call, manner: ConnectionMode): boolean {
  return !manner.unnamed && (manner.settingsPerCall === null || role === undefined);
}

function unnamed(steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => ({ ...step, statement: withoutName(step.statement) }));
}

function isPlain({ role, atomic }: Call, manner: ConnectionMode): boolean {
  return role !== null && atomic !== true && !manner.unnamed && manner.settingsPerCall === null;
}

function stepsBefore(
  { role }: Call,
  { settingsPerCall: everyCall, setsDefaultTimeout: boundsTime, isProvided: lent }: ConnectionMode,
  switchesRole: boolean,
): readonly Step[] {
  const before = switchesRole ? [discardPlans] : [];
  if (role === null && !lent) before.push(resetRole);
  if (everyCall !== null) before.push(settingsStep(everyCall, boundsTime));
  return before;
}

/** The steps behind which the statements of a call are parsed, so that it is done for its role. */
export function setRoleSteps(role: string | null | undefined, switchesRole: boolean): readonly Step[] {
  const steps = switchesRole ? [discardPlans] : [];
  if (role === null) steps.push(resetRole);
  if (typeof role === 'string') steps.push({ statement: setConfigStatement(1), values: ['role', role] });
  return unnamed(steps);
}

function settingsStep(settings: Settings, boundsTime: boolean | undefined): Step {
  const statement = setConfigStatement(Object.keys(settings).length, boundsTime);
  return { statement, values: Object.entries(settings).flat() };
}

function withoutName(statement: Statement): Statement {
  return statement.name === '' ? statement : { ...statement, name: '' };
}
