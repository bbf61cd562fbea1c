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

/** Milliseconds. */
const defaultTimeout = 30_000;

interface Query extends QueryOptions {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Runs one statement and gives its rows as text. It fails in time whatever the server does, even when it is gone without a word. */
export function query(runner: Runner, { sql, values, types, timeout, altersSession }: Query): Promise<TextTable> {
  const bound = timeout ?? defaultTimeout;
  return new Promise((resolve, reject) => {
    const rows = createTextRowSink();
    const settled = (settle: () => void): void => {
      clearTimeout(timer);
      settle();
    };
    const handle = runner.run({
      steps: [{ statement: { name: '', sql, types: types ?? [] }, values, rows }],
      mayShare: false,
      altersSession: altersSession ?? false,
      timeout: bound,
      done: () => settled(() => resolve(rows.rows)),
      failed: (error) => settled(() => reject(error)),
    });
    const timer = setTimeout(() => {
      reject(new CallTimeout(`no answer within ${bound} ms`));
      handle.cancel();
    }, bound);
  });
}

/** Collects rows as text, for the few statements whose result the gateway reads itself. */
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

/** Runs one statement on a session that no pool looks after. */
export function runOnSession(session: Session, step: Step, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const impatience =
      timeout === 0 ? undefined : setTimeout(() => session.destroy('the server did not answer'), timeout);
    session.run({
      steps: [step],
      mayShare: false,
      // Whatever it was, it was for this connection alone.
      idempotent: true,
      timeout: 0,
      done: () => {
        clearTimeout(impatience);
        resolve();
      },
      failed: (error) => {
        clearTimeout(impatience);
        session.end();
        reject(error);
      },
    });
  });
}
