import { tokenizeSql } from '../catalog/tokenize-sql.ts';
import { DatabaseError, type Statement, type Value } from '../postgres/port.ts';
import { openSingleConnection, runTimeoutMs, type SingleConnectionOptions } from './single-connection.ts';
import { StartError } from './start-error.ts';

/** Runs a command for many rows of parameters, as for a log that a program writes into the database. */
export interface BatchCommand {
  /**
   * Runs the command for each row, all in one round trip and one transaction. When the database refuses some rows, the others are run one
   * by one.
   * @returns how many rows the database has refused
   * @throws Error when it has refused all rows, or cannot be reached
   */
  run(rows: readonly (readonly Value[])[]): Promise<number>;
  /** Waits some seconds for a running call, then closes the connection. */
  close(): Promise<void>;
}

export interface BatchCommandOptions extends SingleConnectionOptions {
  /** The command; it uses the first values of a row, or some of them. */
  readonly command: string;
  /** The number of values of each row: the command may use `$1` up to this number. */
  readonly parameters: number;
}

const oids = { inferred: 0, text: 25 } as const;

/** Statement names are unique in this process. */
let lastName = 0;

/**
 * Prepares a command that runs on a connection of its own. The connection is opened by the first call, and again after a loss.
 * @throws StartError for a command with other parameters, and for an invalid connection string
 */
export function openBatchCommand(options: BatchCommandOptions): BatchCommand {
  const statement = createStatement(options);
  const database = openSingleConnection(options);
  const count = statement.types!.length;
  const runAll = (rows: readonly (readonly Value[])[]): Promise<void> =>
    new Promise((resolve, reject) => {
      database.run({
        steps: rows.map((values) => ({ statement, values: values.slice(0, count) })),
        mayShare: false,
        atomic: true,
        timeout: runTimeoutMs,
        done: () => resolve(),
        failed: reject,
      });
    });
  return {
    run: async (rows) => {
      try {
        await runAll(rows);
        return 0;
      } catch (error) {
        if (!isRefusal(error) || rows.length === 1) throw error;
        return runOneByOne(rows, runAll);
      }
    },
    close: () => database.close(),
  };
}

/** @throws the last error when the database has refused all rows */
async function runOneByOne(
  rows: readonly (readonly Value[])[],
  run: (rows: readonly (readonly Value[])[]) => Promise<void>,
): Promise<number> {
  let refused = 0;
  for (const row of rows) {
    try {
      // In order: a log keeps the order of its lines.
      await run([row]);
    } catch (error) {
      refused += 1;
      if (!isRefusal(error) || refused === rows.length) throw error;
    }
  }
  return refused;
}

/** Classes of SQLSTATEs that tell about the state of the server, and not about a row: connections, resources, shutdown. */
const serverClasses: ReadonlySet<string> = new Set(['08', '53', '57', '58']);

function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && !serverClasses.has(error.diagnostics.code.slice(0, 2));
}

/** PostgreSQL infers the types of parameters, except of those that the command leaves out. */
function createStatement({ command, parameters }: BatchCommandOptions): Statement {
  const tokens = tokenizeSql(command);
  if (tokens.length === 0) throw new StartError('the command is empty; set one such as insert into log values ($1)');
  const used = tokens.flatMap(({ kind, text }) => (kind === 'parameter' ? [Number(text.slice(1))] : []));
  const unknown = used.find((number) => number < 1 || number > parameters);
  if (unknown !== undefined) {
    const known = parameters === 1 ? 'only $1' : `$1 to $${parameters}`;
    throw new StartError(`the command has the parameter $${unknown}; there is ${known}`);
  }
  const count = Math.max(0, ...used);
  const types = Array.from({ length: count }, (_, index) => (used.includes(index + 1) ? oids.inferred : oids.text));
  return { name: `pgway_batch_${++lastName}`, sql: command, types };
}
