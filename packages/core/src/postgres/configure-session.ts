import type { Target } from './connection-string.ts';
import { ConnectionLost, type Step } from './port.ts';
import { reportedNames, ReportedSettings } from './parameter-status.ts';
import { unfit } from './target-session-attributes.ts';
import type { Session } from './session.ts';
import {
  defaultStatementTimeoutMs,
  setConfigCalls,
  parseSettingMs,
  type Settings,
  defaultTimeoutCall,
} from './settings.ts';
import { runOnSession, createTextRowSink } from './query.ts';

export interface Beginning {
  /** What the session begins with. */
  readonly settings: Settings;
  /** The default `statement_timeout` where the server has none: set for the session, unless each call brings its settings along. */
  readonly boundsTime: boolean;
  readonly target: Target;
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
export async function configure(session: Session, beginning: Beginning): Promise<void> {
  const { settings, boundsTime, target, timeout, name } = beginning;
  const names = Object.keys(settings);
  // Without settings each call brings its own along, and there is nothing to watch.
  const holds = names.length > 0;
  const asks = target !== 'any';
  const columns = [
    ...setConfigCalls(names.length, false),
    boundsTime && holds ? defaultTimeoutCall(false) : `pg_catalog.current_setting('statement_timeout')`,
    ...reportedNames.map((reported) => `pg_catalog.current_setting('${reported}')`),
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
  const reported = new ReportedSettings(holds ? told.slice(0, reportedNames.length) : []);
  const bound = parseSettingMs(statementTimeout!);
  session.state.began(reported, {
    settings: holds ? { ...settings, statement_timeout: statementTimeout! } : settings,
    statementTimeout: boundsTime && bound === 0 ? defaultStatementTimeoutMs : bound,
  });
  const [isReadOnly, isStandby] = told.slice(reportedNames.length);
  const reason = unfit(target, isReadOnly === 'on', isStandby === 't');
  if (reason === null) return;
  session.end();
  throw new ConnectionLost(`no connection to ${name}: ${reason}`);
}
