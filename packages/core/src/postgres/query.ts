import { CallTimeout, type QueryOptions, type Runner, type TextTable, type Value } from './port.ts';
import { textRows } from './text-rows.ts';

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
    const rows = textRows();
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
