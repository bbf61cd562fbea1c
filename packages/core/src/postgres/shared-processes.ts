import { ConnectionSetupError } from './errors.ts';
import type { Session } from './session.ts';
import type { OpenSession } from './session-opener.ts';

/**
 * Opens sessions, and reports once that two open ones have the same process of the server: a pooler in transaction mode gives a process to
 * another client after each transaction, so that the settings of a session do not last.
 */
export function reportSharedProcesses(open: OpenSession, report: (error: Error) => void): OpenSession {
  const sessions = new Set<Session>();
  let isReported = false;
  const check = (session: Session): void => {
    const { serverProcess } = session.state;
    const shares = [...sessions].filter(({ state }) => state.serverProcess === serverProcess).length > 1;
    if (isReported || !shares || !sessions.has(session)) return;
    isReported = true;
    report(new ConnectionSetupError(explanation));
  };
  return async (events) => {
    const closed = (session: Session): void => {
      sessions.delete(session);
      events.closed(session);
    };
    const session = await open({ ...events, closed });
    if (session.state.serverProcess === null) return session;
    sessions.add(session);
    // A pooler in session mode may have passed on the process of a session whose end is among the events that wait.
    setImmediate(() => setImmediate(() => check(session)));
    return session;
  };
}

const explanation =
  'two open connections have the same process of the server: a pooler in transaction mode, such as PgBouncer, shares it, and settings of one ' +
  'client reach others; set pooler to transaction, or the pooler to session mode';
