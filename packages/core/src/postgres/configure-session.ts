import type { TargetSessionAttributes } from './connection-string.ts';
import { ConnectionLost, type Step } from './port.ts';
import { trackedParameters, ParameterStatusTracker } from './parameter-status.ts';
import { unsuitableReason } from './target-session-attributes.ts';
import type { Session } from './session.ts';
import {
  defaultStatementTimeoutMs,
  setConfigCalls,
  parseSettingMs,
  type Settings,
  defaultTimeoutCall,
} from './settings.ts';
import { runOnSession, createTextRowSink } from './query.ts';

export interface SessionSetup {
  readonly settings: Settings;
  /** Applies the default `statement_timeout` where the server has none. Without session settings, each call sets it. */
  readonly setsDefaultTimeout: boolean;
  readonly target: TargetSessionAttributes;
  /** Milliseconds; 0 means no timeout. */
  readonly timeout: number;
  /** The server's name in messages. */
  readonly name: string;
}

/** Servers behind one name may have processes of the same number. */
const serverProcess = `pg_catalog.concat(pg_catalog.pg_backend_pid(), ' ', pg_catalog.pg_postmaster_start_time())`;

/**
 * Applies the settings of a new session and checks its target session attributes, in one round trip.
 * @throws ConnectionLost for a server without the required attributes
 */
export async function configureSession(session: Session, setup: SessionSetup): Promise<void> {
  const { settings, setsDefaultTimeout, target, timeout, name } = setup;
  const names = Object.keys(settings);
  // Without session settings, every call sets its own, and no parameter is tracked.
  const hasSettings = names.length > 0;
  const checksTarget = target !== 'any';
  const columns = [
    ...setConfigCalls(names.length, false),
    setsDefaultTimeout && hasSettings ? defaultTimeoutCall(false) : `pg_catalog.current_setting('statement_timeout')`,
    ...trackedParameters.map((parameter) => `pg_catalog.current_setting('${parameter}')`),
    hasSettings ? serverProcess : 'null',
    ...(checksTarget ? [`pg_catalog.current_setting('transaction_read_only')`, 'pg_catalog.pg_is_in_recovery()'] : []),
  ];
  const rows = createTextRowSink();
  const step: Step = {
    statement: { name: '', sql: `select ${columns.join(', ')}` },
    values: Object.entries(settings).flat(),
    rows,
  };
  await runOnSession(session, step, timeout);
  const [statementTimeout, ...values] = rows.rows[0]!.slice(names.length);
  const parameters = new ParameterStatusTracker(hasSettings ? values.slice(0, trackedParameters.length) : []);
  const timeoutMs = parseSettingMs(statementTimeout!);
  // A pooler gives a connection the name of its client: for PostgreSQL, which resets it, the connection has another one.
  const applicationName = values[trackedParameters.indexOf('application_name')]!;
  const initial = { ...settings, statement_timeout: statementTimeout!, application_name: applicationName };
  session.state.initialize(parameters, {
    settings: hasSettings ? initial : settings,
    applicationName,
    serverProcess: values[trackedParameters.length]!,
    statementTimeout: setsDefaultTimeout && timeoutMs === 0 ? defaultStatementTimeoutMs : timeoutMs,
  });
  const [isReadOnly, isStandby] = values.slice(trackedParameters.length + 1);
  const reason = unsuitableReason(target, isReadOnly === 'on', isStandby === 't');
  session.state.mustAcceptWrites = target === 'read-write' || target === 'primary';
  if (reason === null) return;
  session.end();
  throw new ConnectionLost(`no connection to ${name}: ${reason}`);
}
