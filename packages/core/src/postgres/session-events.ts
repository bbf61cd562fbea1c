import type { Run } from './run.ts';
import type { Notice } from './port.ts';
import type { Session } from './session.ts';

/** What a session tells its owner, and asks of it. */
export interface SessionEvents {
  /** The session can take another call, or changed so that it may. */
  released(session: Session): void;
  closed(session: Session): void;
  /** A notice outside of any call. */
  notice(notice: Notice): void;
  /** Runs a call elsewhere that was not executed, or may be executed twice. False: nothing else can run it. */
  again?(run: Run, begun?: boolean): boolean;
  /** On a connection that listens. */
  notification?(channel: string, payload: string): void;
  /** On a lent connection: every message but rows, whose bytes are gone afterwards. */
  passOn?(type: number, message: Buffer): void;
  /** Asks the server, on a connection of its own, to cancel what this session runs; resolves when it has been told. */
  cancel(): Promise<void>;
}
