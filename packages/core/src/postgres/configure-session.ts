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
  /** What the session begins with. */
  readonly settings: Settings;
  /** The default `statement_timeout` where the server has none: set for the session, unless each call brings its settings along. */
  readonly setsDefaultTimeout: boolean;
  readonly target: TargetSessionAttributes;
  /** Milliseconds; 0 means without end. */
  readonly timeout: number;
  /** The server's, for messages. */
  readonly name: string;
}

/**
 * One round trip: whatever the server's, the role's or the database's defaults are, answers look the same, and the server is one
 * that will do.
 * @throws ConnectionLost for a server that will not do
 */
export async function configureSession(session: Session, beginning: SessionSetup): Promise<void> {
  const { settings, setsDefaultTimeout: boundsTime, target, timeout, name } = beginning;
  const names = Object.keys(settings);
  // Without settings each call brings its own along, and there is nothing to watch.
  const holds = names.length > 0;
  const asks = target !== 'any';
  const columns = [
    ...setConfigCalls(names.length, false),
    boundsTime && holds ? defaultTimeoutCall(false) : `pg_catalog.current_setting('statement_timeout')`,
    ...trackedParameters.map((reported) => `pg_catalog.current_setting('${reported}')`),
    ...(asks ? [`pg_catalog.current_setting('transaction_read_only')`, 'pg_catalog.pg_is_in_recovery()'] : []),
  ];
  const rows = createTextRowSink();
  const step: Step = {
    statement: { name: '', sql: `select ${columns.join(', ')}` },
    values: Object.entries(settings).flat(),
    rows,
  };
  await runOnSession(session, step, timeout);
  const [statementTimeout, ...told] = rows.rows[0]!.slice(names.length);
  const reported = new ParameterStatusTracker(holds ? told.slice(0, trackedParameters.length) : []);
  const bound = parseSettingMs(statementTimeout!);
  session.state.initialize(reported, {
    settings: holds ? { ...settings, statement_timeout: statementTimeout! } : settings,
    statementTimeout: boundsTime && bound === 0 ? defaultStatementTimeoutMs : bound,
  });
  const [isReadOnly, isStandby] = told.slice(trackedParameters.length);
  const reason = unsuitableReason(target, isReadOnly === 'on', isStandby === 't');
  if (reason === null) return;
  session.end();
  throw new ConnectionLost(`no connection to ${name}: ${reason}`);
}
