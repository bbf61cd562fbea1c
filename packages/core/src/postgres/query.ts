import {
  CallTimeout,
  type QueryOptions,
  type RowSink,
  type Runner,
  type Step,
  type TextTable,
  type Value,
} from './port.ts';
import type { Session } from './session.ts';

const defaultTimeoutMs = 30_000;

interface Query extends QueryOptions {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Runs one statement and returns its rows as text. Rejects after the timeout even when the server does not respond at all. */
export function query(runner: Runner, { sql, values, types, timeout, altersSession }: Query): Promise<TextTable> {
  const timeoutMs = timeout ?? defaultTimeoutMs;
  return new Promise((resolve, reject) => {
    const rows = createTextRowSink();
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      settle();
    };
    const handle = runner.run({
      steps: [{ statement: { name: '', sql, types: types ?? [] }, values, rows }],
      mayShare: false,
      altersSession: altersSession ?? false,
      timeout: timeoutMs,
      done: () => finish(() => resolve(rows.rows)),
      failed: (error) => finish(() => reject(error)),
    });
    const timer = setTimeout(() => {
      reject(new CallTimeout(`no answer within ${timeoutMs} ms`));
      handle.cancel();
    }, timeoutMs);
  });
}

/** Creates a sink that collects rows as text, for the statements whose result the gateway itself reads. */
export function createTextRowSink(): RowSink & { readonly rows: (string | null)[][] } {
  const rows: (string | null)[][] = [];
  return {
    rows,
    row(chunk, offset, fields): boolean {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const row: (string | null)[] = [];
      let position = offset;
      for (let field = 0; field < fields; field++) {
        const length = bytes.readInt32BE(position);
        position += 4;
        row.push(length === -1 ? null : bytes.toString('utf8', position, position + length));
        if (length > 0) position += length;
      }
      rows.push(row);
      return true;
    },
  };
}

/** Runs one statement on a session that no pool manages, and closes the session when it fails. */
export function runOnSession(session: Session, step: Step, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = timeout === 0 ? undefined : setTimeout(() => session.destroy('the server did not answer'), timeout);
    session.run({
      steps: [step],
      mayShare: false,
      // The statement concerns this connection only.
      idempotent: true,
      timeout: 0,
      done: () => {
        clearTimeout(timer);
        resolve();
      },
      failed: (error) => {
        clearTimeout(timer);
        session.end();
        reject(error);
      },
    });
  });
}
