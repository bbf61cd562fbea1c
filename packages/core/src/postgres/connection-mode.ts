import type { KnownRoutines } from './known-routines.ts';
import type { Call, IsolationLevel, Statement, Step } from './port.ts';
import { setConfigStatement, setConfigSteps, type Settings } from './settings.ts';

/** The restrictions of a connection: dedicated, behind a pooler, or provided by the host. */
export interface ConnectionMode {
  /** Uses unnamed statements only: behind a pooler without support for named ones, or on a host-provided connection. */
  readonly unnamed: boolean;
  /** Transaction-local settings of every call, where a session does not last between calls. */
  readonly settingsPerCall: Settings | null;
  /** Every call sets the default `statement_timeout` where the server has none. */
  readonly setsDefaultTimeout?: boolean;
  /** The host provides the connection: other messages than responses are forwarded, and a transaction may be open. */
  readonly isProvided: boolean;
  /** A transaction is open before the call: the call cannot begin another one, and a procedure cannot commit. */
  readonly inTransaction?: boolean;
  /**
   * The reset after a call that may have altered its session:
   * - `discard`: `DISCARD ALL` and the initial settings
   * - `close`: closes the connection, because its initial state is unknown
   * - `perCall`: within the transaction of the call, because a pooler then assigns the session to another client
   * - `none`: the session belongs to the host
   */
  readonly reset: 'discard' | 'close' | 'perCall' | 'none';
  /** Those of the database. Absent: statements are not guarded, as the database of a connection of the host is unknown. */
  readonly routines?: KnownRoutines;
}

/** A connection that the gateway has opened for itself. */
export const dedicatedConnection: ConnectionMode = {
  unnamed: false,
  settingsPerCall: null,
  isProvided: false,
  reset: 'discard',
};

/** The steps of a call, adapted to the mode of its connection. */
export interface CallSteps {
  readonly steps: readonly Step[];
  /** The number of steps before those of the call. */
  readonly leadingSteps: number;
  /** Whether the steps begin and commit a transaction. */
  readonly opensTransaction: boolean;
}

const begin: Step = { statement: { name: 'pgway_begin', sql: 'begin' }, values: [] };

/** The level has to be set by the first statement: a query of the settings would take a snapshot. */
function beginStep(isolation: IsolationLevel | undefined): Step {
  if (isolation === undefined) return begin;
  const name = `pgway_begin_${isolation.replaceAll(' ', '_')}`;
  return { statement: { name, sql: `begin isolation level ${isolation}` }, values: [] };
}

/** No statement that takes a snapshot may precede it. */
function snapshotSteps(snapshot: string | undefined): readonly Step[] {
  if (snapshot === undefined) return [];
  const sql = `set transaction snapshot ${quoteSnapshot(snapshot)}`;
  // The snapshot may end as soon as it was read, also while a later step still runs.
  return [{ statement: { name: '', sql }, values: [], flushes: true }];
}

/** @throws RangeError for a text that is not the identifier of a snapshot */
function quoteSnapshot(snapshot: string): string {
  if (!/^[\w-]+$/.test(snapshot)) throw new RangeError(`${JSON.stringify(snapshot)} is not a snapshot of PostgreSQL`);
  return `'${snapshot}'`;
}

const commit: Step = { statement: { name: 'pgway_commit', sql: 'commit' }, values: [] };
/** Ends the transaction of a failed call. */
const rollback: Step = { statement: { name: '', sql: 'rollback' }, values: [] };
/** Restores the initial role of the session. */
const resetRole: Step = { statement: { name: 'pgway_reset_role', sql: 'reset role' }, values: [] };
/**
 * Drops the plans of another role, also those inside routines. PostgreSQL checks some privileges only at parse or plan time: USAGE of
 * schemas, and EXECUTE of inlined or constant-folded functions.
 */
const discardPlans: Step = { statement: { name: 'pgway_discard_plans', sql: 'discard plans' }, values: [] };

/** Behind a pooler, a step of the call. Elsewhere it runs in its own transaction, because a procedure may commit. */
export const discardSequences: Step = { statement: { name: '', sql: 'discard sequences' }, values: [] };

const unnamed = (sql: string): Step => ({ statement: { name: '', sql }, values: [] });

/**
 * The effects of `DISCARD ALL` that are possible inside a transaction, except `DEALLOCATE`. Deferred triggers run before them, as they may alter the
 * session, too.
 */
const resetPerCall: readonly Step[] = [
  'set constraints all immediate',
  'close all',
  'unlisten *',
  'select pg_catalog.pg_advisory_unlock_all()',
  'discard temp',
  'discard sequences',
  'reset session authorization',
  'reset role',
  'reset all',
].map(unnamed);

/**
 * Deallocates the statements of `PREPARE`, after the settings were reset. Those of the protocol remain, because a pooler tracks its own ones.
 * `DEALLOCATE p` would be a syntax error for a statement named "prepare".
 */
const deallocate: Step = unnamed(`do language plpgsql $$ declare prepared record; begin
  for prepared in select s.name from pg_catalog.pg_prepared_statement() s where s.from_sql loop
    execute pg_catalog.concat('deallocate prepare ', pg_catalog.quote_ident(prepared.name));
  end loop;
end $$`);

/** The state of a session that the steps of its calls depend on. */
export interface SessionFacts {
  /** The plans of the session may belong to another role. */
  readonly switchesRole: boolean;
  /** The name that a reset restores. */
  readonly applicationName: string;
}

/**
 * Returns the steps after a call in its transaction. The pooler keeps the `application_name` that PostgreSQL reports last for its client: after
 * `RESET ALL`, that of the connection of the pooler.
 */
function resetSteps(
  { altersSession, mayPrepare }: Pick<Call, 'altersSession' | 'mayPrepare'>,
  { reset }: ConnectionMode,
  { applicationName }: SessionFacts,
): readonly Step[] {
  if (altersSession !== true || reset !== 'perCall') return [];
  const after = mayPrepare === false ? resetPerCall : [...resetPerCall, deallocate];
  return [...after, ...setConfigSteps({ application_name: applicationName })];
}

/**
 * Returns the steps after a transaction that has failed: locks of the session and prepared statements outlive it. They run in a transaction of
 * their own: after an error, a pooler closes the connection of a client that leaves within one.
 */
export function rollbackSteps(
  call: Pick<Call, 'altersSession' | 'mayPrepare'>,
  mode: ConnectionMode,
  session: SessionFacts,
): readonly Step[] {
  const after = resetSteps(call, mode, session);
  return after.length === 0 ? [rollback] : removeNames([rollback, begin, ...after, commit]);
}

/** Adapts the steps of a call to its connection; returns null when no change is needed, which is the usual case. */
export function adaptCall(call: Call, mode: ConnectionMode, session: SessionFacts): CallSteps | null {
  const { switchesRole } = session;
  if (isPlain(call, mode) && !switchesRole) return null;
  const before = stepsBefore(call, mode, switchesRole);
  const after = resetSteps(call, mode, session);
  const hasOtherSteps = before.length + call.steps.length + after.length > 1 || call.isolation !== undefined;
  // After an error in the implicit transaction, a pooler would assign the session to another client before it is reset.
  const isAtomic = call.atomic === true || after.length > 0;
  const opensTransaction = isAtomic && hasOtherSteps && mode.inTransaction !== true;
  const opening = opensTransaction ? [beginStep(call.isolation), ...snapshotSteps(call.snapshot)] : [];
  const steps = [...opening, ...before, ...call.steps, ...after, ...(opensTransaction ? [commit] : [])];
  return {
    steps: canUseNames(call, mode) ? steps : removeNames(steps),
    leadingSteps: before.length + opening.length,
    opensTransaction,
  };
}

/** The steps that begin and end a transaction with several calls on a connection of the gateway. */
export interface TransactionSteps {
  readonly begin: readonly Step[];
  readonly commit: readonly Step[];
  readonly rollback: readonly Step[];
}

/** Returns the steps of a transaction. */
export function transactionSteps(
  options: Pick<Call, 'role' | 'altersSession' | 'isolation'>,
  mode: ConnectionMode,
  session: SessionFacts,
): TransactionSteps {
  const after = resetSteps(options, mode, session);
  return {
    begin: [beginStep(options.isolation), ...stepsBefore(options, mode, session.switchesRole)],
    commit: removeNames([...after, commit]),
    rollback: rollbackSteps(options, mode, session),
  };
}

/** Returns the steps of a call within a transaction: without names where the connection supports none. */
export function adaptTransactionCall(call: Call, mode: ConnectionMode): CallSteps {
  const steps = canUseNames(call, mode) ? call.steps : removeNames(call.steps);
  return { steps, leadingSteps: 0, opensTransaction: false };
}

/** Returns whether statements keep their names. A pooler may share one statement between roles, so that calls with a role cannot. */
function canUseNames({ role }: Pick<Call, 'role'>, mode: ConnectionMode): boolean {
  return !mode.unnamed && (mode.settingsPerCall === null || role === undefined);
}

export function removeNames(steps: readonly Step[]): readonly Step[] {
  return steps.map((step) => ({ ...step, statement: removeName(step.statement) }));
}

function isPlain({ role, atomic }: Call, mode: ConnectionMode): boolean {
  return role !== null && atomic !== true && !mode.unnamed && mode.settingsPerCall === null;
}

function stepsBefore(
  { role, discardsSequences }: Pick<Call, 'role' | 'discardsSequences'>,
  { settingsPerCall, setsDefaultTimeout, isProvided }: ConnectionMode,
  switchesRole: boolean,
): readonly Step[] {
  const before = switchesRole ? [discardPlans] : [];
  if (role === null && !isProvided) before.push(resetRole);
  if (settingsPerCall !== null) before.push(settingsStep(settingsPerCall, setsDefaultTimeout));
  if (settingsPerCall !== null && discardsSequences === true) before.push(discardSequences);
  return before;
}

/** Returns the steps that set the role before the statements of a call are parsed. */
export function setRoleSteps(role: string | null | undefined, switchesRole: boolean): readonly Step[] {
  const steps = switchesRole ? [discardPlans] : [];
  if (role === null) steps.push(resetRole);
  if (typeof role === 'string') steps.push({ statement: setConfigStatement(1), values: ['role', role] });
  return removeNames(steps);
}

function settingsStep(settings: Settings, setsDefaultTimeout: boolean | undefined): Step {
  const statement = setConfigStatement(Object.keys(settings).length, setsDefaultTimeout);
  return { statement, values: Object.entries(settings).flat() };
}

function removeName(statement: Statement): Statement {
  return statement.name === '' ? statement : { ...statement, name: '' };
}
